"""Fleets: the same figures wherever their groups ran."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor

import pytest

import writecliff as wc

PLAN = {
    "groups": 6,
    "parity": 2,
    "duration": "30s",
    "limit": "1ms",
    "drives": [{"drive": "sim:tiny", "overwrites": [0.0, 2.0]}],
    "load": {"iops": 3000, "read_percent": 50},
    "variants": [{"name": "as it is"}, {"name": "hedged", "hedge": "300us"}],
}
TABLES = ["minutes.parquet", "drives.parquet"]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return wc.fleet(PLAN, tmp_path_factory.mktemp("fleets") / "here", progress=False)


def same(one, other):
    assert one.variants == other.variants
    for table in TABLES:
        assert (one.path / table).read_bytes() == (other.path / table).read_bytes()


def test_a_fleet_has_its_variants_and_its_drives(here):
    assert list(here.figures) == ["as it is", "hedged"]
    assert len(here.drives) == 36 and here.page.is_file()
    assert here.figures["hedged"]["read p99.9"] < here.figures["as it is"]["read p99.9"]
    late = sum(kind["late"] for kind in here.variants[0]["kinds"])
    assert late == sum(drive["late"] for drive in here.variants[0]["slowest"])
    same(wc.fleet(None, here.path, progress=False), here)
    with pytest.raises(wc.UsageError, match="holds a fleet already.*plan=None"):
        wc.fleet(PLAN, here.path)


def test_processes_give_the_same_figures(here, tmp_path):
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        there = wc.fleet(PLAN, tmp_path / "there", executor=executor, memory=1, progress=False)
    same(there, here)


def test_dask_gives_the_same_figures_though_a_worker_dies(here, tmp_path):
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

        there = wc.fleet(PLAN, tmp_path / "there", client=client, progress=progress)
    assert killed.is_set()
    same(there, here)


def test_a_plan_that_makes_no_fleet_says_why(tmp_path):
    for wrong, word in [
        (PLAN | {"groups": 0}, "groups"),
        (PLAN | {"hege": "1ms"}, "hege"),
        (PLAN | {"drives": [{"drive": "/dev/sda"}]}, "sim:NAME"),
        (PLAN | {"load": {}}, "iops or a trace"),
    ]:
        with pytest.raises(wc.UsageError, match=word):
            wc.fleet(wrong, tmp_path / "none", progress=False)
    assert not (tmp_path / "none").exists()
