"""Drives, simulated and real."""

from __future__ import annotations

import json
import operator
import os
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _native
from ._options import Place, consent_of, options_of, overrides_of
from ._progress import Progress, shown
from ._results import Run

#: The four things a host asks of a drive.
OPERATIONS = ("read", "write", "trim", "flush")


def catalogue() -> list[str]:
    """The names of the simulated drives that ship."""
    return _native.catalogue()


def tests() -> dict[str, str]:
    """Every test with its question."""
    return {name: question for name, question, _ in _native.tests()}


class Drive:
    """A drive.

    ``drive`` is the name of a simulated drive (``"samsung-840-evo-250gb"``, with ``@1/16`` behind it a scale
    model), the path of a profile (``"mine.toml"``, also as a ``pathlib.Path``), a profile's text or its values as a mapping, or the path
    of a block device or file, which is guarded as on the command line. Keys of a simulated drive's profile
    are changed by section: ``Drive("tiny", gc={"quantum": 4})``.

    Raises:
        UsageError: There is no such drive, or no such key; the text says what there is.
    """

    def __init__(
        self, drive: str | os.PathLike[str] | Mapping[str, Any], **changes: Mapping[str, Any]
    ) -> None:
        keys = {f"{part}.{key}": value for part, of in changes.items() for key, value in of.items()}
        text = json.dumps(keys)
        if isinstance(drive, Mapping):
            self._native = _native.Drive.of_profile(_toml(drive), text)
            return
        if not isinstance(drive, (str, os.PathLike)):
            kinds = "a drive is a name, a path, a profile's text or its values as a mapping"
            raise _native.UsageError(f"{kinds}, and not {drive!r}")
        name = os.fspath(drive)
        is_text = isinstance(drive, str) and "\n" in name
        self._native = _native.Drive.of_profile(name, text) if is_text else _native.Drive(name, text)

    @classmethod
    def in_directory(cls, directory: str | os.PathLike[str]) -> Drive:
        """A directory of a mounted file system in a drive's place, for ``run("commit")``: what commits cost there.

        Nothing that is there is touched, and no consent is asked: one file of 64 MiB is made for the run, and removed
        at its end.

        Raises:
            UsageError: As it is used: there is no such directory, or the test is another one.
        """
        drive = cls.__new__(cls)
        drive._native = _native.Drive.of_directory(directory)
        return drive

    @classmethod
    def _of_state(cls, address: str, profile: str | None, is_directory: bool) -> Drive:
        drive = cls.__new__(cls)
        drive._native = _native.Drive.of_state(address, profile, is_directory)
        return drive

    def __reduce__(self) -> tuple[Any, ...]:
        return (Drive._of_state, self._native.state())

    @property
    def address(self) -> str:
        """As reports call its place: ``sim:NAME``, or a path."""
        return self._native.state()[0]

    @property
    def info(self) -> dict[str, Any]:
        """Identity, capacity (as text, exactly) and abilities, as in ``run.json``."""
        told: dict[str, Any] = json.loads(self._native.info())
        return told

    @property
    def simulated(self) -> bool:
        """Whether it is a model."""
        return self._native.state()[1] is not None

    @property
    def profile(self) -> dict[str, Any]:
        """Every key that a simulated drive is built of, by section; empty for a real one."""
        profile = self._native.state()[1]
        values: dict[str, Any] = json.loads(profile)["values"] if profile else {}
        return values

    def describe(self) -> str:
        """What it is, and what a simulated one is built of, in lines of text."""
        info, profile = self.info, self.profile
        kind = "simulated" if self.simulated else "real"
        lines = [f"{info['model']} ({kind}), {info['capacity']}, {self.address}"]
        for section, values in profile.items():
            lines.append(f"\n[{section}]")
            lines.extend(f"{key} = {json.dumps(value)}" for key, value in values.items())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Drive {self.address}: {self.info['model']}>"

    def run(
        self,
        test: str,
        *,
        out: str | os.PathLike[str] | None = None,
        quick: bool = False,
        seed: int | None = None,
        duration: str | None = None,
        until_steady: bool = False,
        spare: float | Sequence[float] | None = None,
        traces: Sequence[str] = (),
        plan: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        label: str | None = None,
        every_io: bool = False,
        io_timeout: str | None = None,
        threads: int | None = None,
        purge: str | None = None,
        destroy_data_on: str | None = None,
        others_not_visible: bool = False,
        progress: Progress = None,
    ) -> Run:
        """Runs a test and gives its result.

        Args:
            test: One of :func:`tests`.
            out: A new directory for the run; without it the result lies in a temporary one, which goes
                with the :class:`Run`.
            quick: Minutes instead of hours; the report says so.
            seed: Decides everything that is random.
            duration: Length of the part that the test is about, like ``"30min"``.
            until_steady: Of ``consistency`` and ``spare-area`` on a real SSD, to go on until it is steady: one to five drive
                writes after the fill. A simulated one does so without ``duration``.
            spare: Percent of the LBAs to leave untouched; several for ``spare-area``.
            traces: The traces of a storage bench.
            plan: Keys of the test's plan, or the path of a plan or of a fio job file.
            label: A name of your own for the result.
            every_io: Keep every single I/O in :attr:`Run.ios`.
            io_timeout: How long a real drive may take for one I/O, like ``"60s"``.
            threads: How many keep a real drive busy together; ``None`` for as many as it needs.
            purge: How a real drive is purged.
            destroy_data_on: Consent to lose all data on a real drive: the name that the refusal tells.
            others_not_visible: In a container: that no process which cannot be seen from there uses it.
            progress: See :data:`writecliff._progress.Progress`.

        Raises:
            UsageError: The drive cannot do this test, or the test has no such option.
            RefusedError: A real drive, and any doubt.
            FailedError: The drive or the disk gave up; what was recorded is in ``out``.
            KeyboardInterrupt: On Ctrl-C, within a second; what was recorded is in ``out``.
        """
        overrides = overrides_of(seed, duration, until_steady, spare, traces)
        keys, file = ({}, plan) if isinstance(plan, (str, os.PathLike)) else (dict(plan or {}), None)
        method = _native.plan(test, quick, overrides, json.dumps(keys), file)
        options = options_of(label, every_io, quick, io_timeout, purge, threads)
        consent = consent_of(destroy_data_on, others_not_visible)
        with Place(out) as place, shown(progress) as show:
            _native.run(self._native, method, place.path, options, consent, show)
            return Run(place.path, _keep=place.kept())

    def device(self) -> Device:
        """The seam to a simulated drive, newly made: for experiments of your own."""
        return Device(self._native.device())


class Device:
    """A simulated drive and its clock, as :meth:`Drive.device` makes it."""

    def __init__(self, native: _native.Device) -> None:
        self._native = native

    @property
    def now(self) -> int:
        """Its time, in nanoseconds."""
        return self._native.now

    @property
    def in_flight(self) -> int:
        """I/Os submitted and not reaped."""
        return self._native.in_flight

    @property
    def info(self) -> dict[str, Any]:
        """Identity, capacity and abilities."""
        told: dict[str, Any] = json.loads(self._native.info())
        return told

    @property
    def telemetry(self) -> dict[str, Any]:
        """What it says of itself now: bytes written by the host and into NAND, free blocks, and so on."""
        told: dict[str, Any] = json.loads(self._native.telemetry())
        return told

    def submit(
        self,
        offsets: Iterable[int],
        lengths: int | Iterable[int] = 4096,
        operations: str | Sequence[str] = "write",
    ) -> None:
        """Hands it a batch of I/Os, in order.

        Args:
            offsets: In bytes, multiples of the LBA size; arrays of 64-bit whole numbers are taken as they
                are.
            lengths: In bytes, one for all or one for each.
            operations: ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``, for all or for each.

        Raises:
            UsageError: A range that is not the drive's, or more I/Os than it takes at once.
        """
        starts = _numbers(offsets)
        count = len(starts) // 8
        sizes = _numbers([lengths]) * count if isinstance(lengths, int) else _numbers(lengths)
        names = [operations] * count if isinstance(operations, str) else operations
        if strange := [name for name in names if name not in OPERATIONS]:
            known = ", ".join(OPERATIONS)
            raise _native.UsageError(f"{strange[0]!r} is no operation of a drive; there are {known}")
        self._native.submit(bytes(map(OPERATIONS.index, names)), starts, sizes)

    def reap(self, count: int = 1, until: int | None = None) -> _native.Table:
        """Lets its time pass until ``count`` more I/Os have completed, or until the clock shows ``until``.

        With nothing in flight it idles. Gives a table with ``operation``, ``offset``, ``length``,
        ``submitted_ns``, ``latency_ns`` and ``failed`` of each, in order of completion.

        Raises:
            UsageError: A count or a time that is no whole number, or below 0.
        """
        count, until = _whole("count", count), None if until is None else _whole("until", until)
        return self._native.reap(count, until)

    def purge(self) -> None:
        """Brings it to its fresh state; nothing may be in flight."""
        self._native.purge()


def _whole(name: str, value: int) -> int:
    """A whole number that the drive's clock and queue can have."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << 63:
        raise _native.UsageError(f"{name} is a whole number from 0 on, and not {value!r}")
    return number


def _numbers(values: Iterable[int]) -> bytes:
    """Unsigned 64-bit numbers as bytes, without a copy of what is that already."""
    try:
        view = memoryview(values)  # type: ignore[arg-type]
    except TypeError:
        view = None
    if view is not None and view.itemsize == 8 and view.format in {"Q", "q", "L", "l"}:
        return view.tobytes()
    try:
        return array("Q", values).tobytes()
    except (TypeError, OverflowError) as error:
        raise _native.UsageError(f"offsets and lengths are whole numbers of bytes: {error}") from None


def _toml(profile: Mapping[str, Any]) -> str:
    """A profile's values as its text: what they have in common with JSON is written as JSON."""
    plain = [f"{key} = {_value(value)}" for key, value in profile.items() if not isinstance(value, Mapping)]
    parts = [(key, value) for key, value in profile.items() if isinstance(value, Mapping)]
    for section, values in parts:
        plain.append(f"[{section}]")
        plain.extend(f"{key} = {_value(value)}" for key, value in values.items() if value is not None)
    return "\n".join(plain) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{ {inner} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)
