"""How far something is: by tqdm where that is installed, or by a function of one's own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

#: ``None`` shows progress where tqdm is installed, ``False`` shows none; a function is called with what
#: is under way and the share done of it, from 0 to 1, at most twenty times a second.
Progress = Callable[[str, float], object] | bool | None


@contextlib.contextmanager
def shown(progress: Progress) -> Iterator[Callable[[str, float], object] | None]:
    """The function that the library calls meanwhile."""
    if callable(progress):
        yield progress
        return
    bar = None if progress is False else _bar()
    if bar is None:
        yield None
        return

    def show(step: str, fraction: float) -> None:
        bar.set_description(step, refresh=False)
        bar.n = round(100 * fraction)
        bar.refresh()

    try:
        yield show
    finally:
        bar.close()


def _bar() -> Any:
    try:
        with warnings.catch_warnings():
            # In a notebook without widgets tqdm warns, and draws with text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    return tqdm(total=100, unit="%", leave=False, bar_format="{desc} {percentage:3.0f}% {bar} {elapsed}")
