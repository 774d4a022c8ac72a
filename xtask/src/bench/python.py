"""The Python package beside the command line, and a sweep on one process, here, and on Dask.

Prints medians of turns and their ratios, which hold where absolute times do not.
"""

import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import distributed

import writecliff as wc

TURNS = 5
DRIVE = "samsung-840-evo-250gb"
DURATION = "1000s"
SWEEP = {
    "drive": "sim:tiny",
    "test": "consistency",
    "figures": ["steady mean"],
    "seeds": 50,
    "plan": {"duration": "30s"},
    "grid": {"plan.spare_percent": [0, 25], "drive.gc.quantum": [1, 4]},
}


def main() -> None:
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as place:
        places = (Path(place, str(number)) for number in range(1000))

        def by_program():
            arguments = ["run", "consistency", f"sim:{DRIVE}", "--duration", DURATION, "--no-bench", "--quiet"]
            run = subprocess.run([program, *arguments, "--out", next(places)], capture_output=True, text=True)
            assert run.returncode == 0, run.stderr

        def by_python():
            run = wc.Drive(DRIVE).run("consistency", duration=DURATION, out=next(places), progress=False)
            assert run.complete and run.report().is_file()

        ways = {"command line": by_program, "Python": by_python}
        told(in_turn(ways, processor_time), "a run of consistency and its report, processor time")

        context = multiprocessing.get_context("spawn")
        with (
            ProcessPoolExecutor(1, mp_context=context) as one,
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            ways = {
                "one process": lambda: wc.sweep(SWEEP, next(places), executor=one, progress=False),
                "Dask, two workers": lambda: wc.sweep(SWEEP, next(places), client=client, progress=False),
                "threads of this process": lambda: wc.sweep(SWEEP, next(places), progress=False),
            }
            told(in_turn(ways, time.perf_counter), "a sweep of 200 points")


def processor_time():
    """Of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def in_turn(ways, clock):
    """The median time of each way by this clock."""
    taken = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, way in ways.items():
            begun = clock()
            way()
            taken[name].append(clock() - begun)
    return {name: statistics.median(times) for name, times in taken.items()}


def told(medians, what):
    first = next(iter(medians.values()))
    print(f"\n{what}, medians of {TURNS} in turn")
    for name, seconds in medians.items():
        print(f"{name:>26} {seconds:8.2f} s {first / seconds:8.2f} times as fast")


if __name__ == "__main__":
    main()
