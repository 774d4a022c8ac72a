"""A service over many simulated drives: here by threads, elsewhere by any executor."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from . import _native
from ._elsewhere import DaskClient, counted, executor_of, plan_text, rows_of
from ._progress import Progress, shown


class Fleet:
    """What came of a fleet.

    Attributes:
        path: Its directory.
        variants: A mapping for each variant, in the plan's order: ``name``, ``figures``, ``kinds`` of
            drives, ``slowest`` (the drives that late requests waited for), ``hedged`` (reads),
            ``stored`` (bytes).
        figures: By the variants' names their figures by name, in the units that ``variants`` has.
        minutes: Every minute of every variant, for anything that speaks Arrow.
        drives: Every drive of every variant, likewise.
        page: The report.
    """

    def __init__(self, path: Path, variants: list[dict[str, Any]], page: Path) -> None:
        self.path, self.variants, self.page = path, variants, page
        self.figures: dict[str, dict[str, float]] = {
            variant["name"]: {figure["name"]: figure["value"] for figure in variant["figures"]}
            for variant in variants
        }
        self.minutes = _native.Table.of_file(path / "minutes.parquet")
        self.drives = _native.Table.of_file(path / "drives.parquet")

    def __repr__(self) -> str:
        return f"<Fleet {self.path}: {len(self.drives)} drives, {len(self.variants)} variants>"


def fleet(
    plan: Mapping[str, Any] | str | os.PathLike[str] | None,
    out: str | os.PathLike[str],
    *,
    client: DaskClient | None = None,
    executor: Executor | None = None,
    memory: int | None = None,
    progress: Progress = None,
) -> Fleet:
    """Runs a service over many simulated drives; with ``plan=None`` goes on with the fleet in ``out``.

    The figures are the same wherever its groups ran.

    Args:
        plan: The fleet as docs/formats.md describes it, as a mapping or a file.
        out: Its directory: new, or with ``plan=None`` one that was begun.
        client: A Dask client, on whose workers the groups run; a group whose worker dies is tried again.
        executor: Any other executor of ``concurrent.futures``.
        memory: Bytes that the drives under way may take together; of this machine three quarters of what
            is free by default, of executors as much as they take.
        progress: See :data:`writecliff._progress.Progress`.

    Raises:
        UsageError: The plan makes no fleet, or ``out`` holds another one.
        FailedError: The disk or the machine gave up; what was finished is kept.
        KeyboardInterrupt: On Ctrl-C; what was finished is kept.
    """
    text, path, executor = plan_text(plan), Path(out), executor_of(client, executor)
    with shown(progress) as show:
        if executor is None:
            _native.fleet(text, path, memory, show)
        else:
            left, groups = _native.fleet_left(text, path)
            rows_of(
                left,
                _native.fleet_perform,
                lambda rows: _native.fleet_keep(path, rows),
                executor,
                memory,
                counted(show, "groups", groups - len(left), groups),
            )
    variants, page = _native.fleet_told(path)
    return Fleet(path, [json.loads(variant) for variant in variants], Path(page))
