"""Finds a drive's write cliff before its users do.

A :class:`Drive` is simulated, or real and guarded; :meth:`Drive.run` runs one of the tests on it and gives
a :class:`Run`, :func:`review` runs many. Same seed, same bytes as the command line.

    >>> import writecliff as wc
    >>> run = wc.Drive("tiny").run("consistency", duration="3s")
    >>> run.complete, run.drive
    (True, 'Writecliff tiny')
"""

from . import bench, trace
from ._drive import Device, Drive, catalogue, tests
from ._fleet import Fleet, fleet
from ._native import VERSION as __version__
from ._native import Error, FailedError, RefusedError, Table, UsageError
from ._results import Review, Run, import_fio, open, report
from ._review import review
from ._sweep import Sweep, sweep

__all__ = [
    "Device",
    "Drive",
    "Error",
    "FailedError",
    "Fleet",
    "RefusedError",
    "Review",
    "Run",
    "Sweep",
    "Table",
    "UsageError",
    "__version__",
    "bench",
    "catalogue",
    "fleet",
    "import_fio",
    "open",
    "report",
    "review",
    "sweep",
    "tests",
    "trace",
]
