"""The results library."""

from __future__ import annotations

import html
import json
from typing import Any

from . import _native


class Comparison:
    """Two drives or runs, figure by figure.

    Attributes:
        data: All of it, as ``writecliff bench compare --json`` prints it.
        markdown: A table for an issue or a post.
    """

    def __init__(self, text: str, markdown: str, data: dict[str, Any]) -> None:
        self._text, self.markdown, self.data = text, markdown, data

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre style='font-family: monospace'>{html.escape(self._text)}</pre>"


def compare(one: object, other: object) -> Comparison:
    """Compares two drives or runs: by a part of their names in the library, as directories, or as
    :class:`~writecliff.Run` and :class:`~writecliff.Review`.

    Raises:
        UsageError: A name that means nothing there, or several.
    """
    names = [str(getattr(result, "path", result)) for result in (one, other)]
    text, markdown, data = _native.bench_compare(*names)
    return Comparison(text, markdown, json.loads(data))
