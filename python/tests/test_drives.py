"""Drives: what they are called, what they are built of, and what cannot be."""

import pickle

import pytest

import writecliff as wc


def test_a_drive_is_built_of_what_was_asked_for():
    whole = wc.Drive("samsung-840-evo-250gb")
    assert whole.simulated and whole.info["model"] == "Samsung SSD 840 EVO 250GB"
    assert wc.Drive("sim:samsung-840-evo-250gb").profile == whole.profile
    changed = wc.Drive("samsung-840-evo-250gb", gc={"quantum": 4}, firmware={"copy_time": "20us"})
    assert changed.profile["gc"]["quantum"] == 4
    assert "firmware.copy_time = 20us" in changed.info["model"]
    assert "scale model" in wc.Drive("samsung-840-evo-250gb@1/16").info["model"]
    assert "quantum = 4" in changed.describe()


def test_a_profile_comes_as_text_as_values_or_as_a_file(tmp_path):
    text = 'inherits = "tiny"\n[gc]\nquantum = 3\n'
    (tmp_path / "mine.toml").write_text(text)
    of_text, of_file = wc.Drive(text), wc.Drive(str(tmp_path / "mine.toml"))
    of_values = wc.Drive({"inherits": "tiny", "gc": {"quantum": 3}})
    assert of_text.profile == of_file.profile == of_values.profile
    assert wc.Drive(of_text.profile).profile == of_text.profile
    assert wc.Drive(tmp_path / "mine.toml").profile == of_file.profile


def test_a_drive_goes_to_other_processes_whole(tmp_path):
    drive = wc.Drive('inherits = "tiny"\n[gc]\nquantum = 3\n')
    again = pickle.loads(pickle.dumps(drive))
    assert (again.profile, again.address) == (drive.profile, drive.address)
    real = pickle.loads(pickle.dumps(wc.Drive(str(tmp_path / "file"))))
    assert real.address == str(tmp_path / "file") and not real.simulated


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: wc.Drive("sim:samsung-840-evo-256gb"), "did you mean samsung-840-evo-250gb"),
        (lambda: wc.Drive("tiny", gc={"quantumm": 4}), "quantum"),
        (lambda: wc.Drive("tiny", gc={"quantum": "many"}), "quantum"),
        (lambda: wc.Drive("/dev/null", gc={"quantum": 4}), "no simulated drive"),
        (lambda: wc.Drive({"inherits": "tinny"}), "tiny"),
        (lambda: wc.Drive("tiny").run("consistancy"), "consistency"),
        (lambda: wc.Drive("tiny").run("trim", spare=25), "spare"),
        (lambda: wc.Drive("tiny").run("trim", plan={"tortur": "1s"}), "torture"),
        (lambda: wc.Drive("tiny").run("trim", duration="soon"), "'soon' is not a time"),
        (lambda: wc.Drive("tiny").run("trim", duration=60), 'with its unit .*"30min", and not 60'),
        (lambda: wc.Drive("tiny").run("consistency", spare="25"), "a number of percent, .* not '25'"),
        (lambda: wc.Drive("tiny").run("spare-area", spare=[0, "25"]), "a number of percent"),
        (lambda: wc.Drive(42), "a name, a path"),
        (lambda: wc.open("/no/such/run"), "no run in /no/such/run"),
        (lambda: wc.Drive("/no/such/drive").info, "/no/such/drive"),
        (lambda: wc.trace.info("light-2012"), "light-2011"),
    ],
)
def test_what_cannot_be_says_what_can(make, word):
    with pytest.raises(wc.UsageError, match=word):
        make()


def test_a_file_with_contents_is_refused_without_consent(tmp_path):
    file = tmp_path / "precious"
    file.write_bytes(b"data" * (16 << 20))
    with pytest.raises(wc.RefusedError):
        wc.Drive(str(file)).run("trim", quick=True, progress=False)
    assert file.read_bytes() == b"data" * (16 << 20)


def test_commits_are_measured_in_a_directory_and_nothing_else_is(tmp_path):
    (tmp_path / "mine").write_text("mine")
    place = pickle.loads(pickle.dumps(wc.Drive.in_directory(tmp_path)))
    assert place.address == str(tmp_path) and not place.simulated
    plan = {"measurement": "1s", "sizes": ["4KiB"], "committers": []}
    run = place.run("commit", plan=plan, progress=False)
    assert run.outcome and [file.name for file in tmp_path.iterdir()] == ["mine"]
    with pytest.raises(wc.UsageError, match="commit --in"):
        place.run("consistency", progress=False)
    with pytest.raises(wc.UsageError, match="is no directory"):
        wc.Drive.in_directory(tmp_path / "mine").run("commit", progress=False)


def test_the_lists_are_those_of_the_product():
    assert "samsung-840-evo-250gb" in wc.catalogue()
    assert wc.tests()["trim"].startswith("does performance come back")
    assert issubclass(wc.RefusedError, wc.Error)


def test_the_device_is_the_seam_itself():
    device = wc.Drive("tiny").device()
    pa = pytest.importorskip("pyarrow")
    device.submit([0, 8192], 4096)
    device.submit([4096], 4096, "read")
    assert device.in_flight == 3
    done = pa.table(device.reap(3)).to_pydict()
    assert sorted(done["offset"]) == [0, 4096, 8192] and done["failed"] == [0, 0, 0]
    ended = [begun + took for begun, took in zip(done["submitted_ns"], done["latency_ns"])]
    assert ended == sorted(ended) and device.now == ended[-1] and device.in_flight == 0
    device.reap(until=device.now + 5_000)
    assert device.now == ended[-1] + 5_000
    for wrong, word in (
        (lambda: device.submit([1], 4096), "multiples of"),
        (lambda: device.submit([0], 4096, "wipe"), "'wipe' is no operation .* read, write"),
        (lambda: device.submit([0], 4096, ["trim", "x"]), "'x' is no operation"),
        (lambda: device.submit([0, 1.5]), "whole numbers of bytes"),
        (lambda: device.submit([0], -4096), "whole numbers of bytes"),
        (lambda: device.submit([-4096]), "whole numbers of bytes"),
        (lambda: device.submit([0, 4096], [4096]), "as many"),
        (lambda: device.submit([1 << 50]), "past the device's end"),
        (lambda: device.submit(range(0, 4096 << 12, 4096)), "reap first"),
        (lambda: device.reap(-1), "count is a whole number from 0 on, and not -1"),
        (lambda: device.reap(1.5), "count"),
        (lambda: device.reap(1, until=-5), "until"),
    ):
        with pytest.raises(wc.UsageError, match=word):
            wrong()
    assert device.in_flight == 0
    device.purge()
