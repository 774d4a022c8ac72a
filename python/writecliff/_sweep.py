"""One test on many simulated drives: here by threads, elsewhere by any executor."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import Any, Protocol

from . import _native
from ._progress import Progress, shown

try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None  # type: ignore[assignment]

#: Rows that executors gave are put on disk no sooner than so many seconds after the last ones.
_REST = 10.0


class DaskClient(Protocol):
    """What is asked of Dask's ``distributed.Client``."""

    def get_executor(self, **arguments: Any) -> Executor: ...


class Sweep:
    """A sweep's rows.

    Attributes:
        path: Its directory.
        rows: A mapping for each point, in their order: what makes it again, its figures, or its error.
        table: The same as columns, for anything that speaks Arrow.
        page: The report.
    """

    def __init__(self, path: Path, rows: list[dict[str, Any]], page: Path) -> None:
        self.path, self.rows, self.page = path, rows, page
        self.table = _native_table(path)

    def __repr__(self) -> str:
        failed = sum(row["error"] is not None for row in self.rows)
        return f"<Sweep {self.path}: {len(self.rows)} points, {failed} failed>"


def sweep(
    plan: Mapping[str, Any] | str | os.PathLike[str] | None,
    out: str | os.PathLike[str],
    *,
    client: DaskClient | None = None,
    executor: Executor | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> Sweep:
    """Runs one test on many simulated drives; with ``plan=None`` goes on with the sweep in ``out``.

    The rows are the same wherever they were made: each holds all that makes it again.

    Args:
        plan: The sweep as docs/formats.md describes it, as a mapping or a file.
        out: Its directory: new, or with ``plan=None`` one that was begun.
        client: A Dask client, on whose workers the points run; a point whose worker dies is tried again.
        executor: Any other executor of ``concurrent.futures``.
        memory: Bytes that the drives under way may take together; of this machine three quarters of what
            is free by default, of executors as much as they take.
        progress: See :data:`writecliff._progress.Progress`.

    Raises:
        UsageError: The plan makes no sweep, or ``out`` holds another one.
        FailedError: The disk or the machine gave up; what was finished is kept.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    text, path = _plan(plan), Path(out)
    if client is not None:
        executor = client.get_executor(pure=False, retries=3)
    with shown(progress) as show:
        if executor is None:
            _native.sweep(text, path, memory, show)
        else:
            _elsewhere(text, path, executor, memory, show)
    rows, page = _native.store(None, path, [])
    return Sweep(path, [json.loads(row) for row in rows], Path(page))


def _plan(plan: Mapping[str, Any] | str | os.PathLike[str] | None) -> str | None:
    if plan is None:
        return None
    if isinstance(plan, Mapping):
        return json.dumps(plan)
    if tomllib is None:
        raise _native.UsageError("a plan's file is read by Python 3.11 and newer; pass a mapping")
    try:
        return json.dumps(tomllib.loads(Path(plan).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise _native.UsageError(f"{plan}: {error}") from None


def _elsewhere(
    plan: str | None, path: Path, executor: Executor, memory: int | None, show: Any
) -> None:
    """Hands points to an executor, no more at once than fit into ``memory``, and keeps their rows."""
    kept, _ = _native.store(plan, path, [])
    done = {json.loads(row)["point"] for row in kept}
    sweep = json.loads((path / "sweep.json").read_text(encoding="utf-8"))["sweep"]
    points = _native.points(json.dumps(sweep))
    left = ((point, _native.point_memory(point)) for n, point in enumerate(points) if n not in done)
    figures: list[str] = sweep.get("figures", [])
    running: dict[Future[str], int] = {}
    rows: list[str] = []
    stored, ahead = time.monotonic(), next(left, None)
    try:
        while running or ahead:
            while ahead and (not running or memory is None or sum(running.values()) + ahead[1] <= memory):
                running[executor.submit(_perform, ahead[0], figures)] = ahead[1]
                ahead = next(left, None)
            ended, _ = wait(running, timeout=_REST, return_when=FIRST_COMPLETED)
            for future in ended:
                running.pop(future)
                rows.append(future.result())
            if show and ended:
                count = len(done) + len(rows)
                show(f"{count} of {len(points)} points", count / max(len(points), 1))
            if time.monotonic() - stored > _REST:
                _native.store(None, path, rows)
                stored = time.monotonic()
    finally:
        for future in running:
            future.cancel()
        _native.store(None, path, rows)


def _perform(point: str, figures: list[str]) -> str:
    """A point's row, on whatever machine this is."""
    with tempfile.TemporaryDirectory(prefix="writecliff-") as place:
        return _native.perform(point, figures, Path(place, "run"))


def _native_table(path: Path) -> _native.Table:
    return _native.Table.of_file(path / "figures.parquet")
