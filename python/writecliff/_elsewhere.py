"""Pieces of work on any executor, no more at once than fit into the memory that they may take."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import Any, Protocol

from . import _native

try:
    import tomllib
except ImportError:  # Python 3.10
    tomllib = None  # type: ignore[assignment]

#: Rows that executors gave are put on disk no sooner than so many seconds after the last ones.
_REST = 10.0


class DaskClient(Protocol):
    """What is asked of Dask's ``distributed.Client``."""

    def get_executor(self, **arguments: Any) -> Executor: ...


def executor_of(client: DaskClient | None, executor: Executor | None) -> Executor | None:
    """A Dask client's workers, which try again what a dead one had; or the executor that was given."""
    return executor if client is None else client.get_executor(pure=False, retries=3)


def plan_text(plan: Mapping[str, Any] | str | os.PathLike[str] | None) -> str | None:
    """A plan as JSON, from a mapping or a file."""
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


def rows_of(
    pieces: Iterable[tuple[str, int]],
    perform: Callable[[str], str],
    keep: Callable[[list[str]], object],
    executor: Executor,
    memory: int | None,
    show: Callable[[int], object],
) -> None:
    """Hands ``pieces``, each with the bytes that it takes, to an executor; keeps the rows that come back.

    ``show`` is told how many rows there are; what was finished is kept whatever happens.
    """
    left = iter(pieces)
    running: dict[Future[str], int] = {}
    rows: list[str] = []
    stored, ahead = time.monotonic(), next(left, None)
    try:
        while running or ahead:
            while ahead and (not running or memory is None or sum(running.values()) + ahead[1] <= memory):
                running[executor.submit(perform, ahead[0])] = ahead[1]
                ahead = next(left, None)
            ended, _ = wait(running, timeout=_REST, return_when=FIRST_COMPLETED)
            for future in ended:
                running.pop(future)
                rows.append(future.result())
            if ended:
                show(len(rows))
            if time.monotonic() - stored > _REST:
                keep(rows)
                stored = time.monotonic()
    finally:
        for future in running:
            future.cancel()
        keep(rows)


def counted(
    show: Callable[[str, float], object] | None, pieces: str, before: int, of: int
) -> Callable[[int], None]:
    """Tells ``show`` how far all ``pieces`` are when so many more are done than were ``before``."""

    def told(rows: int) -> None:
        if show:
            done = before + rows
            show(f"{done} of {of} {pieces}", done / max(of, 1))

    return told
