"""Runs: the command line's bytes, tables for everybody, an end by Ctrl-C."""

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import writecliff as wc

#: The command line's program, for those who have it.
PROGRAM = os.environ.get("WRITECLIFF_PROGRAM")


def tiny(**more):
    return wc.Drive("tiny", gc={"quantum": 2}).run("consistency", duration="3s", progress=False, **more)


@pytest.mark.skipif(PROGRAM is None, reason="WRITECLIFF_PROGRAM does not name the command line's program")
def test_the_bytes_are_the_command_lines(tmp_path):
    run = wc.Drive("tiny").run(
        "consistency", duration="3s", seed=7, spare=25, every_io=True, out=tmp_path / "py", progress=False
    )
    arguments = ["run", "consistency", "sim:tiny", "--duration", "3s", "--seed", "7", "--spare", "25"]
    arguments += ["--every-io", "--out", str(tmp_path / "cli"), "--no-bench", "--quiet"]
    subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.DEVNULL)
    for file in ("series.parquet", "histograms.parquet", "ios.parquet"):
        assert (tmp_path / "py" / file).read_bytes() == (tmp_path / "cli" / file).read_bytes(), file
    other = wc.open(tmp_path / "cli")
    differs = {"started", "started_unix_ns"}
    assert {k: v for k, v in run.record.items() if k not in differs} == {
        k: v for k, v in other.record.items() if k not in differs
    }


def test_a_run_tells_all_of_itself(tmp_path):
    run = tiny(out=tmp_path / "run", label="mine")
    assert run.complete and run.test == "consistency" and run.record["options"]["label"] == "mine"
    assert run.figures["steady mean"] == pytest.approx(run.outcome["steady_iops"]["mean"])
    assert any("too few" in doubt for doubt in run.doubts), run.doubts
    assert run.ios is None and len(run.series) > 3
    page = run.report()
    assert page.is_file() and "Mean" in run.summary
    shown = run._repr_html_()
    assert "<svg" in shown and "<script" not in shown
    assert "Tiny" in repr(run) and "simulated" in repr(run)
    again = wc.open(tmp_path / "run")
    assert again.record == run.record


def test_a_cost_model_is_what_other_systems_read(tmp_path):
    run = wc.Drive("tiny").run("cost-model", quick=True, out=tmp_path / "run", progress=False)
    rates = json.loads(run.cost_model())["steady"]
    line = run.cost_model("iocost").split("wrandiops=")[1].split()[0]
    assert int(line) == int(rates["wrandiops"])
    with pytest.raises(wc.UsageError, match="there are iocost, hwdb, seastar, fio, json"):
        run.cost_model("yaml")
    with pytest.raises(wc.UsageError, match="a run of consistency"):
        tiny(out=tmp_path / "other").cost_model()


def test_columns_say_their_units():
    pa = pytest.importorskip("pyarrow")
    run = tiny()
    schema = pa.table(run.series).schema
    units = {name: (schema.field(name).metadata or {}).get(b"unit") for name in schema.names}
    assert units["latency_p99_ns"] == b"ns" and units["written_bytes"] == b"B"
    assert units["series"] is None and units["writes"] is None


def test_a_damaged_table_is_an_error_and_never_a_crash():
    run = tiny()
    file = run.path / "series.parquet"
    whole = file.read_bytes()
    rows = len(run.series)
    for place in range(0, len(whole), max(1, len(whole) // 200)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            assert len(run.series) == rows
        except wc.FailedError:
            pass
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(wc.FailedError, match=f"cannot read {re.escape(str(file))}: .+"):
        len(run.series)


def test_a_result_without_a_place_goes_with_its_object():
    run = tiny()
    path = run.path
    copy = pickle.loads(pickle.dumps(run))
    assert copy.record == run.record and copy.path != path
    shutil.rmtree(path)
    with pytest.raises(wc.UsageError, match="run.json is not there any more"):
        pickle.dumps(run)
    del run
    import gc

    gc.collect()
    assert not path.exists() and len(copy.series) > 3


def test_tables_go_to_everybody_and_back():
    run = tiny(every_io=True)
    pa = pytest.importorskip("pyarrow")
    table = pa.table(run.series)
    assert table.column_names == run.series.columns and table.num_rows == len(run.series)
    writes = sum(table["writes"].to_pylist())
    assert writes == pa.table(run.ios).num_rows > 1000
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(run.series)
    assert frame["writes"].sum() == writes and frame.to_arrow().num_rows == table.num_rows
    duckdb = pytest.importorskip("duckdb")
    seconds = run.series
    assert duckdb.sql("SELECT sum(writes)::BIGINT FROM seconds").fetchall() == [(writes,)]
    pandas = pytest.importorskip("pandas")
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(run.series)["writes"].sum() == writes
    assert pa.table(run.series).to_pandas()["writes"].sum() == writes


def test_progress_is_told_and_may_end_it(tmp_path):
    told = []
    wc.Drive("samsung-840-evo-250gb@1/16").run(
        "consistency", duration="60s", progress=lambda step, share: told.append((step, share))
    )
    assert told and all(0 <= share <= 1 for _, share in told)
    assert any(step.startswith("consistency: ") for step, _ in told)

    def enough(step, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        wc.Drive("samsung-840-evo-250gb").run("consistency", out=tmp_path / "run", progress=enough)
    assert not wc.open(tmp_path / "run").complete


def test_threads_run_side_by_side_and_alike():
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: tiny(), range(4)))
    first = (runs[0].path / "series.parquet").read_bytes()
    assert all((run.path / "series.parquet").read_bytes() == first for run in runs)


def test_ctrl_c_ends_a_run_and_keeps_what_there_is(tmp_path):
    script = textwrap.dedent(
        """
        import signal, sys, writecliff as wc
        # Whoever started the tests may have ignored it: a script's background job, nohup, a CI runner.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        tell = lambda step, share: print(step, flush=True)
        wc.Drive("samsung-840-evo-1tb").run("consistency", out=sys.argv[1], progress=tell)
        """
    )
    out = tmp_path / "run"
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, error = child.communicate(timeout=60)
    assert "KeyboardInterrupt" in error
    print(f"ended after {time.monotonic() - began:.2f} s")
    assert wc.open(out).record["status"]["state"] == "interrupted"


def test_a_review_has_its_runs_by_name_and_compares(tmp_path):
    review = wc.review("tiny", tests=["corners", "trim"], quick=True, out=tmp_path / "a", progress=False)
    assert list(review) == ["trim", "corners"] and review["trim"].complete
    other = wc.review(
        wc.Drive("tiny", gc={"quantum": 4}), tests=["corners", "trim"], quick=True, out=tmp_path / "b"
    )
    assert wc.report([review, other], tmp_path / "page").is_file()
    assert isinstance(wc.open(tmp_path / "b"), wc.Review)
    with pytest.raises(wc.UsageError, match="several runs"):
        wc.Run(tmp_path / "a")


def test_traces_are_described():
    info = wc.trace.info("light-2011")
    assert info["name"] == "light-2011"


def test_what_fio_printed_becomes_a_run(tmp_path):
    direction = '{"total_ios": 100, "io_bytes": 409600, "runtime": 1000, "lat_ns": {"N": 100, "mean": 5, "max": 9}}'
    job = '{"jobname": "a", "job options": {"rw": "read", "bs": "4k"}, "read": %s}' % direction
    (tmp_path / "old.json").write_text('{"fio version": "fio-3.36", "jobs": [%s]}' % job)
    run = wc.import_fio(tmp_path / "old.json", model="Old drive", capacity="1TB")
    assert run.drive == "Old drive" and run.figures["a reads, rate"] == 100
