"""Traces of applications."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native


def info(name: str | os.PathLike[str]) -> dict[str, Any]:
    """What a trace is like: a file of any format, or one that ships, like ``"light-2011"``.

    docs/formats.md describes the figures.

    Raises:
        UsageError: It cannot be read; the text says why.
    """
    told: dict[str, Any] = json.loads(_native.trace_info(name))
    return told
