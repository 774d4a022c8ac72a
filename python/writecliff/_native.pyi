from collections.abc import Callable
from os import PathLike
from typing import Final, final

__all__ = [
    "Device",
    "Drive",
    "catalogue",
    "plan",
    "run",
    "tests",
    "Error",
    "FailedError",
    "RefusedError",
    "UsageError",
    "bench_compare",
    "import_fio",
    "open",
    "report",
    "review",
    "trace_info",
    "perform",
    "point_memory",
    "points",
    "store",
    "sweep",
    "Table",
    "VERSION",
]

_Path = str | PathLike[str]
_Progress = Callable[[str, float], object]

VERSION: Final[str]

class Error(Exception): ...
class UsageError(Error): ...
class RefusedError(Error): ...
class FailedError(Error): ...

@final
class Table:
    """Columns that anything takes which speaks Arrow's C stream interface.

    Nothing is copied to Python: ``polars.DataFrame(table)``, ``pyarrow.table(table)``,
    ``pandas.DataFrame.from_arrow(table)`` and DuckDB read them.
    """
    @staticmethod
    def of_file(path: _Path) -> Table: ...
    @property
    def columns(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Drive:
    def __new__(cls, name: str, changes: str) -> Drive: ...
    @staticmethod
    def of_profile(text: str, changes: str) -> Drive: ...
    @staticmethod
    def of_state(address: str, profile: str | None) -> Drive: ...
    def state(self) -> tuple[str, str | None]: ...
    def info(self) -> str: ...
    def slug(self) -> str: ...
    def device(self) -> Device: ...

@final
class Device:
    def info(self) -> str: ...
    def telemetry(self) -> str: ...
    @property
    def now(self) -> int: ...
    @property
    def in_flight(self) -> int: ...
    def submit(self, operations: bytes, offsets: bytes, lengths: bytes) -> None: ...
    def reap(self, count: int, until: int | None) -> Table: ...
    def purge(self) -> None: ...

def catalogue() -> list[str]: ...
def tests() -> list[tuple[str, str, bool]]: ...
def plan(
    test: str, quick: bool, overrides: str, keys: str, file: _Path | None = None
) -> str: ...
def run(
    drive: Drive,
    plan: str,
    out: _Path,
    options: str,
    consent: str | None = None,
    progress: _Progress | None = None,
) -> None: ...
def review(
    drive: Drive,
    tests: list[str],
    with_: list[str],
    overrides: str,
    out: _Path,
    options: str,
    consent: str | None = None,
    progress: _Progress | None = None,
) -> None: ...
def open(
    path: _Path,
) -> tuple[
    tuple[str, list[str]] | None, tuple[Table, Table, Table | None] | None, list[PathLike[str]]
]: ...
def report(
    runs: list[_Path], out: _Path, different_plans: bool
) -> tuple[PathLike[str], str]: ...
def import_fio(file: _Path, known: str, out: _Path) -> None: ...
def trace_info(name: _Path) -> str: ...
def bench_compare(one: str, other: str) -> tuple[str, str, str]: ...
def points(sweep: str) -> list[str]: ...
def point_memory(point: str) -> int: ...
def perform(point: str, figures: list[str], place: _Path) -> str: ...
def sweep(
    sweep: str | None,
    path: _Path,
    memory: int | None = None,
    progress: _Progress | None = None,
) -> None: ...
def store(
    sweep: str | None, path: _Path, rows: list[str]
) -> tuple[list[str], PathLike[str]]: ...
