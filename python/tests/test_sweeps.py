"""Sweeps: the same rows wherever their points ran."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import writecliff as wc

PLAN = {
    "drive": "sim:tiny@1/4",
    "test": "consistency",
    "figures": ["steady mean"],
    "seeds": 8,
    "plan": {"duration": "1s"},
    "grid": {"drive.gc.quantum": [1, 2, 3, 4], "plan.spare_percent": [0, 25]},
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return wc.sweep(PLAN, tmp_path_factory.mktemp("sweeps") / "here", progress=False)


def test_a_sweep_has_a_row_for_every_point(here):
    assert len(here.rows) == len(here.table) == 64
    assert all(row["error"] is None for row in here.rows) and here.page.is_file()
    again = wc.sweep(None, here.path, progress=False)
    assert again.rows == here.rows
    with pytest.raises(wc.UsageError, match="holds a sweep already.*plan=None"):
        wc.sweep(PLAN, here.path)


def test_any_executor_gives_the_same_rows(here, tmp_path):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        there = wc.sweep(PLAN, tmp_path / "there", executor=executor, memory=1, progress=False)
    assert there.rows == here.rows
    table = "figures.parquet"
    assert (there.path / table).read_bytes() == (here.path / table).read_bytes()


def test_what_was_broken_off_goes_on_elsewhere(here, tmp_path):
    half = tmp_path / "half"
    half.mkdir()
    (half / "sweep.json").write_bytes((here.path / "sweep.json").read_bytes())
    lines = (here.path / "rows.jsonl").read_text().splitlines(keepends=True)
    (half / "rows.jsonl").write_text("".join(lines[:40]))
    with ThreadPoolExecutor(2) as executor:
        whole = wc.sweep(None, half, executor=executor, progress=False)
    assert whole.rows == here.rows


def test_dask_gives_the_same_rows_though_a_worker_dies(here, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed = threading.Event()

        def progress(step, share):
            if share > 0.2 and not killed.is_set():
                killed.set()
                os.kill(victim, 9)

        there = wc.sweep(PLAN, tmp_path / "there", client=client, progress=progress)
    assert killed.is_set()
    assert there.rows == here.rows


def test_a_plan_that_makes_no_sweep_says_why(tmp_path):
    for wrong, word in [
        (PLAN | {"grid": {"drive.gc.quantumm": [1, 2]}}, "quantum"),
        (PLAN | {"sees": 2}, "sees"),
        (PLAN | {"figures": ["p99"]}, "steady latency p99"),
        (PLAN | {"seeds": 4_000_000_000}, "32,000,000,000 points"),
        (PLAN | {"drive": "/dev/sda"}, "sim:NAME"),
    ]:
        with pytest.raises(wc.UsageError, match=word):
            wc.sweep(wrong, tmp_path / "none", progress=False)
    assert not (tmp_path / "none").exists()


def test_a_sweep_of_nothing_but_failures_is_one(tmp_path):
    wrong = PLAN | {"figures": ["write cliff"], "seeds": 1, "grid": {}}
    with pytest.raises(wc.FailedError, match="all 1 points failed.*write cliff"):
        wc.sweep(wrong, tmp_path / "none", progress=False)


def test_rows_carry_what_makes_them_again(here):
    row = here.rows[7]
    changes = {}
    for key, value in row["profile"].items():
        section, name = key.split(".")
        changes.setdefault(section, {})[name] = value
    drive = wc.Drive(row["drive"], **changes)
    run = drive.run(row["test"], plan=row["plan"], seed=row["seed"], progress=False)
    assert run.figures["steady mean"] == row["figures"][0]["value"]
