"""What runs and reviews take alike: a place for the result, options, changes to the plan."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import _native


class Place:
    """A directory for a result: the one named, or a temporary one that goes when nobody keeps it."""

    def __init__(self, out: str | os.PathLike[str] | None) -> None:
        self._temporary = None
        if out is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="writecliff-")
            out = Path(self._temporary.name, "run")
        self.path = Path(out)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *error: object) -> None:
        if self._temporary is not None and error[0] is not None:
            self._temporary.cleanup()

    def kept(self) -> object:
        """What has to live as long as the result."""
        return self._temporary


def consent_of(destroy_data_on: str | None, others_not_visible: bool) -> tuple[str, bool] | None:
    return None if destroy_data_on is None else (destroy_data_on, others_not_visible)


def overrides_of(
    seed: int | None,
    duration: str | None,
    until_steady: bool,
    spare: float | Sequence[float] | None,
    traces: Sequence[str],
) -> str:
    if duration is not None and not isinstance(duration, str):
        text = 'a duration is a text with its unit (ns, us, ms, s, min, h), such as "30min"'
        raise _native.UsageError(f"{text}, and not {duration!r}")
    shares = [] if spare is None else [spare] if isinstance(spare, (int, float)) else list(spare)
    if isinstance(spare, str) or not all(isinstance(share, (int, float)) for share in shares):
        text = "spare is a number of percent, such as 25, or several, such as [0, 25]"
        raise _native.UsageError(f"{text}, and not {spare!r}")
    return json.dumps(
        {
            "seed": seed,
            "duration": duration,
            "until_steady": until_steady,
            "spare": shares,
            "traces": list(traces),
        }
    )


def options_of(
    label: str | None,
    every_io: bool,
    quick: bool,
    io_timeout: str | None,
    purge: str | None,
    threads: int | None,
) -> str:
    options = {"every_io": every_io, "quick": quick, "io_timeout": io_timeout or "60s"}
    optional = {"label": label, "purge": purge, "threads": None if threads is None else str(threads)}
    return json.dumps(options | {key: value for key, value in optional.items() if value is not None})
