"""A review of a drive: many tests, one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import _native
from ._drive import Drive
from ._options import Place, consent_of, options_of, overrides_of
from ._progress import Progress, shown
from ._results import Review


def review(
    drive: Drive | str,
    *,
    tests: Sequence[str] = (),
    also: Sequence[str] = (),
    out: str | os.PathLike[str] | None = None,
    quick: bool = False,
    seed: int | None = None,
    label: str | None = None,
    io_timeout: str | None = None,
    threads: int | None = None,
    purge: str | None = None,
    destroy_data_on: str | None = None,
    others_not_visible: bool = False,
    progress: Progress = None,
) -> Review:
    """Runs a review: the tests that it has by default, or ``tests``; with ``also`` some more, or ``"all"``.

    The rest is as in :meth:`Drive.run`.
    """
    one = drive if isinstance(drive, Drive) else Drive(drive)
    overrides, options = overrides_of(seed, None, False, None, ()), options_of(
        label, False, quick, io_timeout, purge, threads
    )
    consent = consent_of(destroy_data_on, others_not_visible)
    with Place(out) as place, shown(progress) as show:
        chosen, more = list(tests), list(also)
        _native.review(one._native, chosen, more, overrides, place.path, options, consent, show)
        return Review(place.path, _keep=place.kept())
