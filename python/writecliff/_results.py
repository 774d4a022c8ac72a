"""What has been measured: runs, reviews, and their reports."""

from __future__ import annotations

import html
import json
import os
import re
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._options import Place


class _Results:
    """A directory that reports are made of."""

    path: Path
    _page: Path | None = None
    _text: str = ""

    def report(self, out: str | os.PathLike[str] | None = None) -> Path:
        """Makes the report and gives its page: in ``out``, or in the result's own directory."""
        page, self._text = _native.report([self.path], out or self.path / "report", False)
        self._page = Path(page)
        return self._page

    @property
    def summary(self) -> str:
        """What it comes to, in lines of text."""
        if self._page is None:
            self.report()
        return self._text

    def show(self) -> None:
        """Opens the report in a browser."""
        webbrowser.open(self.report().resolve().as_uri())

    def _repr_html_(self) -> str:
        """For notebooks: the summary, and the report's first picture."""
        text = f"<pre style='font-family: monospace'>{html.escape(self.summary)}</pre>"
        assert self._page is not None
        first = re.search(r'"(pictures/[\w.-]+\.svg)"', self._page.read_text(encoding="utf-8"))
        picture = (self._page.parent / first[1]).read_text(encoding="utf-8") if first else ""
        return f"<div>{picture[picture.find('<svg') :]}{text}</div>"


class Run(_Results):
    """A run of one test.

    Attributes:
        path: Its directory.
        record: All of ``run.json``, with the figures; docs/formats.md describes it.
        doubts: What is to be doubted of it, in words.
        series: A row for every second, as a table that anything takes which speaks Arrow.
        histograms: The latencies of every second, counted.
        ios: Every single I/O, if they were kept.
    """

    def __init__(self, path: str | os.PathLike[str], *, _keep: object = None) -> None:
        opened, tables, _ = _native.open(path)
        if opened is None or tables is None:
            raise _native.UsageError(f"{path} holds several runs; writecliff.open gives them all")
        self.path = Path(path)
        self._keep = _keep
        self.record: dict[str, Any] = json.loads(opened[0])
        self.doubts = opened[1]
        self.series, self.histograms, self.ios = tables

    @property
    def test(self) -> str:
        """The test's name."""
        return str(self.record["plan"]["test"])

    @property
    def drive(self) -> str:
        """The drive's model."""
        return str(self.record["drive"]["model"])

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return bool(self.record["status"]["state"] == "complete")

    @property
    def outcome(self) -> dict[str, Any]:
        """The test's own figures, as in ``run.json``; empty if too little was recorded."""
        return self.record["outcome"] or {}

    @property
    def figures(self) -> dict[str, float]:
        """The figures that tables and gates read, by name; units are in ``record["figures"]``."""
        return {figure["name"]: figure["value"] for figure in self.record["figures"]}

    def cost_model(
        self, format: str = "json", *, mixed: bool = False, mount_point: str | None = None
    ) -> str:
        """What other systems want to know of the drive, in their forms; of a run of ``cost-model``.

        Args:
            format: ``iocost``, ``hwdb``, ``seastar``, ``fio`` or ``json``.
            mixed: The rates that the drive keeps where reads and writes come together.
            mount_point: Where the drive is mounted, for ``seastar``.

        Raises:
            UsageError: If the run is of another test.
            FailedError: If it did not measure all that is to be written.
        """
        return _native.cost_model(self.path, format, mixed, mount_point)

    def __repr__(self) -> str:
        simulated = " (simulated)" if self.record["drive"]["kind"] == "simulated" else ""
        told = [f"{one['name']} {one['value']:,.6g} {one['unit']}".rstrip() for one in self.record["figures"]]
        state = self.record["status"]["state"]
        return f"<Run {self.test} of {self.drive}{simulated}, {state}: {'; '.join(told[:3])}>"

    def __reduce__(self) -> tuple[Any, ...]:
        names = ("run.json", "series.parquet", "histograms.parquet", "ios.parquet")
        files = [self.path / name for name in names]
        contents = {file.name: file.read_bytes() for file in files if file.is_file()}
        if missing := [file for file in files[:3] if file.name not in contents]:
            text = f"{missing[0]} is not there any more, and a run goes elsewhere by its files"
            raise _native.UsageError(f"{text}: keep its directory (out=) as long as the run")
        return (_unpacked, (contents,))


def _unpacked(files: Mapping[str, bytes]) -> Run:
    """A run that came from another process, perhaps on another machine."""
    place = Place(None)
    place.path.mkdir()
    for name, data in files.items():
        (place.path / name).write_bytes(data)
    return Run(place.path, _keep=place.kept())


class Review(_Results, Mapping[str, Run]):
    """Several runs: of a review by the names of their directories, which are the tests', or the repeats
    of one test."""

    def __init__(self, path: str | os.PathLike[str], *, _keep: object = None) -> None:
        self.path = Path(path)
        self._keep = _keep
        _, _, directories = _native.open(path)
        self._runs = {Path(directory).name: Run(directory) for directory in directories}

    def __getitem__(self, name: str) -> Run:
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return f"<Review {self.path}: {', '.join(self)}>"


def open(path: str | os.PathLike[str]) -> Run | Review:
    """Reads a run, a review or repeats from their directory.

    Raises:
        UsageError: There are no results in it; the text says where there are some.
    """
    opened, _, _ = _native.open(path)
    return Review(path) if opened is None else Run(path)


def report(
    results: Sequence[Run | Review | str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    different_plans: bool = False,
) -> Path:
    """Makes one page of several results side by side and gives its path.

    Args:
        results: Runs and reviews, or their directories.
        out: The page's directory.
        different_plans: Allow runs of different plans, which are then not ranked.
    """
    paths = [one.path if isinstance(one, (Run, Review)) else one for one in results]
    page, _ = _native.report(list(paths), out, different_plans)
    return Path(page)


def import_fio(
    file: str | os.PathLike[str],
    *,
    model: str | None = None,
    serial: str | None = None,
    firmware: str | None = None,
    capacity: str | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Run:
    """Makes a run of what fio printed as JSON, with the seconds of its logs; docs/formats.md says how."""
    known = {"model": model, "serial": serial, "firmware": firmware, "capacity": capacity}
    with Place(out) as place:
        _native.import_fio(file, json.dumps(known), place.path)
        return Run(place.path, _keep=place.kept())
