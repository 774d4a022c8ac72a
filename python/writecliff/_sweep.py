"""One test on many simulated drives: here by threads, elsewhere by any executor."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from . import _native
from ._elsewhere import DaskClient, counted, executor_of, plan_text, rows_of
from ._progress import Progress, shown


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
        FailedError: The disk or the machine gave up, or all points failed; what was finished is kept.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    text, path, executor = plan_text(plan), Path(out), executor_of(client, executor)
    with shown(progress) as show:
        if executor is None:
            _native.sweep(text, path, memory, show)
        else:
            _elsewhere(text, path, executor, memory, show)
    rows, page = _native.store(None, path, [])
    swept = Sweep(path, [json.loads(row) for row in rows], Path(page))
    if swept.rows and all(row["error"] is not None for row in swept.rows):
        first = swept.rows[0]["error"]
        raise _native.FailedError(f"all {len(rows)} points failed, the first because: {first}; rows in {path}")
    return swept


def _elsewhere(
    plan: str | None, path: Path, executor: Executor, memory: int | None, show: Any
) -> None:
    """Hands points to an executor and keeps their rows."""
    kept, _ = _native.store(plan, path, [])
    done = {json.loads(row)["point"] for row in kept}
    sweep = json.loads((path / "sweep.json").read_text(encoding="utf-8"))["sweep"]
    points = _native.points(json.dumps(sweep))

    rows_of(
        ((point, _native.point_memory(point)) for n, point in enumerate(points) if n not in done),
        partial(_perform, figures=sweep.get("figures", [])),
        lambda rows: _native.store(None, path, rows),
        executor,
        memory,
        counted(show, "points", len(done), len(points)),
    )


def _perform(point: str, figures: list[str]) -> str:
    """A point's row, on whatever machine this is."""
    with tempfile.TemporaryDirectory(prefix="writecliff-") as place:
        return _native.perform(point, figures, Path(place, "run"))


def _native_table(path: Path) -> _native.Table:
    return _native.Table.of_file(path / "figures.parquet")
