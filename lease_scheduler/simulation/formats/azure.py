"""Traces of virtual machines in Azure, as Bergsma et al. processed them: batches of VMs, and their lifetimes.

The data are the public Azure dataset V1 (Cortez et al., "Resource Central", SOSP 2017), processed for Bergsma et al.,
"Generating complex, realistic cloud workloads using recurrent neural networks", SOSP 2021. A trace is four files in one
folder, each plain or gzip:

``NAME.txt``
   A line for each 300 seconds: the instant, and a list of tokens with commas between them. A token is the letter of a
   flavor, for one VM, or ``|``, which ends a batch: the VMs that one tenant requested together.
``NAME.c<cut>.txt``
   The same lines. In place of each VM, they have ``U<bin>`` if it ended before the cut, an instant, or ``C<bin>`` if it
   was running then. The bin is that of its lifetime until the cut.
``flav_map.txt``
   A line for each flavor: ``<VCPU>,<GiB of memory> <letter>``.
``<any>.interval_map.txt``
   A line for each duration that was observed: ``<seconds> <bin>``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, zip_longest
from pathlib import Path, PurePath

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources
from lease_scheduler.random_streams import random_stream
from lease_scheduler.simulation.formats.files import Watch, read_lines
from lease_scheduler.simulation.workload import Workload, WorkloadLease

#: Token that ends a batch.
_END = "|"

#: Seconds from one line to the next: the resolution of the dataset.
STEP = 300

_PER_CPU = 100
_MB_PER_GIB = 1024
_DIGITS = 12


@dataclass(frozen=True)
class AzureOptions:
    """The choice of the VMs of a trace that become leases.

    :ivar begin: seconds from the first line to the workload's zero; earlier arrivals are left out
    :ivar length: batches that arrive this many seconds after ``begin``, or later, are left out; None keeps all
    :ivar sample: share of the batches that are kept, above 0 and at most 1. Whole batches are kept or left out, so that
        the load stays as bursty as it is
    :ivar seed: seed of the choice of batches, and of the durations within their bins
    :raises InvalidValueError: a value is invalid
    """

    begin: int = 0
    length: int | None = None
    sample: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        for name, value in (("begin", self.begin), ("length", self.length), ("seed", self.seed)):
            if value is not None and value < 0:
                raise InvalidValueError(name, f"must be at least 0, not {value}")
        if not 0 < self.sample <= 1:
            raise InvalidValueError("sample", f"must be above 0 and at most 1, not {self.sample}")


@dataclass(frozen=True, slots=True)
class VmGroup:
    """VMs of a batch with the same flavor, and with lifetimes in the same bin.

    :ivar arrival: instant in seconds
    :ivar batch: number of the batch in the trace, from 1 on
    :ivar vcpus: VCPUs of each VM
    :ivar memory_mb: MB of memory of each VM
    :ivar count: number of VMs
    :ivar shortest: shortest possible lifetime in seconds, until the cut at most
    :ivar longest: longest possible lifetime in seconds, until the cut at most
    :ivar has_ended: whether they ended before the cut
    """

    arrival: int
    batch: int
    vcpus: int
    memory_mb: int
    count: int
    shortest: int
    longest: int
    has_ended: bool


@dataclass(frozen=True)
class _Lifetime:
    """What a token in the file of durations means: bounds of the lifetime until the cut, and whether the VMs ended."""

    shortest: int
    longest: int
    has_ended: bool

    @classmethod
    def of(cls, token: str, until_cut: int, bins: Mapping[int, tuple[int, int]]) -> _Lifetime:
        """Parse a token for VMs that arrived ``until_cut`` seconds before the cut.

        :raises InvalidValueError: it is not such a token, or does not fit the cut
        """
        number = token[1:]
        if token[:1] not in ("U", "C") or not _is_count(number) or int(number) not in bins:
            raise InvalidValueError(f"token {token[:20]!r}", "must be U or C and a bin of the interval map, as in U13")
        shortest, longest = bins[int(number)]
        has_ended = token[0] == "U"
        if shortest > until_cut or (not has_ended and longest < until_cut):
            problem = f"means {shortest} to {longest} s, but only {until_cut} s are left until the cut"
            raise InvalidValueError(f"token {token!r}", problem)
        if not has_ended:
            return cls(until_cut, until_cut, False)
        return cls(max(1, shortest), max(1, min(longest, until_cut)), True)


def is_trace(line: str) -> bool:
    """Return whether a line that is not blank looks like one of a trace."""
    instant, _, tokens = line.partition(" ")
    return _is_count(instant) and _END in tokens.split(",")


def read_azure(
    path: str | os.PathLike[str], options: AzureOptions | None = None, watch: Watch | None = None
) -> Workload:
    """Read a trace of Azure as immediate leases, ordered by arrival, then as in the file; ids are numbers from 1 on.

    A lease consists of the VMs of a batch that have the same flavor, and lifetimes in the same bin. It requests their
    lifetime, which is drawn from the bin, because the dataset has no requested durations. VMs that were running at the
    cut end there. The drawn durations do not depend on what is left out.

    The attributes of the workload count what is in it: ``azure_vms``, ``azure_batches`` and ``azure_running_at_cut``.
    The trace names no hosts.

    :param path: the file of flavors, ``NAME.txt`` or ``NAME.txt.gz``; the others are found in its folder
    :param watch: is told how far the file has been read
    :raises InputFileError: a file is missing, cannot be read or is wrong; the error names the line
    """
    options = options or AzureOptions()
    lives = random_stream(options.seed, "durations within bins")
    choice = random_stream(options.seed, "batches that are kept")
    counts = Counter(azure_vms=0, azure_batches=0, azure_running_at_cut=0)
    leases: list[WorkloadLease] = []
    zero: int | None = None
    for _, batch in groupby(read_vms(path, watch), key=lambda vms: vms.batch):
        is_kept = options.sample == 1 or float(choice.random()) < options.sample
        begun = len(leases)
        for vms in batch:
            duration = int(lives.integers(vms.shortest, vms.longest, endpoint=True))
            zero = vms.arrival if zero is None else zero
            submitted = vms.arrival - zero - options.begin
            if not is_kept or submitted < 0 or (options.length is not None and submitted >= options.length):
                continue
            leases.append(_lease(str(len(leases) + 1), vms, submitted, duration))
            counts["azure_vms"] += vms.count
            counts["azure_running_at_cut"] += 0 if vms.has_ended else vms.count
        counts["azure_batches"] += len(leases) > begun
    name = PurePath(path).name.removesuffix(".gz").removesuffix(".txt")
    return Workload(name, tuple(leases), None, {key: str(count) for key, count in counts.items()})


def read_vms(path: str | os.PathLike[str], watch: Watch | None = None) -> Iterator[VmGroup]:
    """Yield the VMs of a trace, batch after batch. No more than a line is kept in memory.

    :param path: the file of flavors; the others are found in its folder
    :param watch: is told how far it has been read
    :raises InputFileError: a file is missing, cannot be read or is wrong; the error names the line
    """
    name = os.fspath(path)
    durations, cut = _durations_file(Path(path))
    flavors, bins = _flavors(Path(path)), _bins(Path(path))
    batch, last = 0, -1
    for line, its_lives in zip_longest(read_lines(path, watch), read_lines(durations)):
        if line is None or its_lives is None:
            longer, shorter = (durations, name) if line is None else (name, durations)
            number, _ = line or its_lives
            raise InputFileError(longer, number, f"{shorter} has no such line; the two belong together")
        number, text = line
        if not text.strip() and not its_lives[1].strip():
            continue
        arrival, kinds = _tokens(name, number, text)
        if arrival <= last:
            raise InputFileError(name, number, f"must be later than the line before ({last}), not {arrival}")
        if arrival >= cut:
            raise InputFileError(name, number, f"must be before the cut that {durations} has in its name ({cut})")
        last = arrival
        other, ends = _tokens(durations, number, its_lives[1])
        if (other, len(ends)) != (arrival, len(kinds)):
            problem = f"must have the instant {arrival} and {len(kinds)} tokens as in {name}, not {other}, {len(ends)}"
            raise InputFileError(durations, number, problem)
        alike: Counter[tuple[str, str]] = Counter()
        for kind, end in zip(kinds, ends, strict=True):
            if (kind == _END) != (end == _END):
                raise InputFileError(durations, number, f"has {end[:20]!r} where {name} has {kind[:20]!r}")
            if kind != _END:
                alike[kind, end] += 1
                continue
            batch += 1
            for (flavor, token), count in alike.items():
                if flavor not in flavors:
                    raise InputFileError(name, number, f"{flavor[:20]!r} is no flavor of flav_map.txt")
                try:
                    life = _Lifetime.of(token, cut - arrival, bins)
                except InvalidValueError as error:
                    raise InputFileError(durations, number, str(error)) from error
                vcpus, memory = flavors[flavor]
                yield VmGroup(arrival, batch, vcpus, memory, count, life.shortest, life.longest, life.has_ended)
            alike.clear()
        if alike:
            raise InputFileError(name, number, f"must end with {_END!r}, which ends the last batch")


def _tokens(path: str, number: int, line: str) -> tuple[int, list[str]]:
    instant, _, rest = line.strip().partition(" ")
    if not _is_count(instant):
        raise InputFileError(path, number, f"must begin with an instant in whole seconds, not {instant[:20]!r}")
    tokens = [token for token in rest.split(",") if token]
    return int(instant), tokens


def _durations_file(path: Path) -> tuple[str, int]:
    """Return the file of durations that belongs to a file of flavors, and the cut in its name."""
    start = path.name.removesuffix(".gz").removesuffix(".txt") + ".c"
    found: list[tuple[str, int]] = []
    for other in _files_beside(path):
        cut = other.removesuffix(".gz").removesuffix(".txt").removeprefix(start)
        if other.startswith(start) and _is_count(cut):
            found.append((str(path.parent / other), int(cut)))
    if len(found) != 1:
        listed = ", ".join(PurePath(name).name for name, _ in found) or "none"
        raise InputFileError(str(path), None, f"needs one file of durations beside it, {start}<cut>.txt; has {listed}")
    return found[0]


def _flavors(path: Path) -> dict[str, tuple[int, int]]:
    name = _map_file(path, "flav_map.txt")
    flavors: dict[str, tuple[int, int]] = {}
    for number, (size, letter) in _pairs(name, "<VCPU>,<GiB> <letter>"):
        vcpus, _, memory = size.partition(",")
        gib = _gib(memory)
        if not _is_count(vcpus) or int(vcpus) < 1 or not gib:
            raise InputFileError(name, number, f"must be <VCPU>,<GiB> <letter>, as in '2,3.5 g', not {size[:20]!r}")
        if letter in flavors or letter == _END:
            raise InputFileError(name, number, f"names {letter!r}, which has another meaning")
        flavors[letter] = (int(vcpus), gib)
    return flavors


def _bins(path: Path) -> dict[int, tuple[int, int]]:
    """Return the shortest and the longest duration of each bin. A bin lasts until the next one begins."""
    name = _map_file(path, ".interval_map.txt")
    bins: dict[int, tuple[int, int]] = {}
    for number, (seconds, text) in _pairs(name, "<seconds> <bin>"):
        if not _is_count(seconds) or not _is_count(text):
            raise InputFileError(name, number, f"must be <seconds> <bin>, not {seconds[:20]!r} {text[:20]!r}")
        low, high = bins.get(int(text), (int(seconds), int(seconds) + STEP - 1))
        bins[int(text)] = (min(low, int(seconds)), max(high, int(seconds) + STEP - 1))
    return bins


def _pairs(name: str, form: str) -> Iterator[tuple[int, tuple[str, str]]]:
    for number, line in read_lines(name):
        words = line.split()
        if len(words) not in (0, 2):
            raise InputFileError(name, number, f"must be {form}, not {line[:40]!r}")
        if words:
            yield number, (words[0], words[1])


def _map_file(path: Path, ending: str) -> str:
    found = [name for name in _files_beside(path) if name.removesuffix(".gz").endswith(ending)]
    if len(found) != 1:
        raise InputFileError(str(path), None, f"needs one file *{ending} beside it; has {', '.join(found) or 'none'}")
    return str(path.parent / found[0])


def _files_beside(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path.parent))
    except OSError as error:
        raise InputFileError(str(path.parent), None, f"cannot be read: {error.strerror or error}") from error


def _lease(lease_id: str, vms: VmGroup, submitted: int, duration: int) -> WorkloadLease:
    return WorkloadLease(
        LeaseRequest(
            lease_id=lease_id,
            kind=LeaseKind.IMMEDIATE,
            nodes=_node_sets(vms.count, vms.vcpus, vms.memory_mb),
            submitted=submitted,
            duration=duration,
            extras={"Azure_batch": str(vms.batch)},
        )
    )


@lru_cache(maxsize=10_000)
def _node_sets(count: int, vcpus: int, memory_mb: int) -> tuple[NodeSet, ...]:
    """Return the node sets of a lease; leases of equal shape share one value, since a trace has many of few shapes."""
    return (NodeSet(count, Resources({VCPU: vcpus * _PER_CPU, MEMORY_MB: memory_mb})),)


def _gib(text: str) -> int:
    """Parse a number of GiB, which may have decimals. Return it in MB, or 0 if it is not a number above 0."""
    whole, _, part = text.partition(".")
    if not _is_count(whole) or (part and not _is_count(part)):
        return 0
    return -int(-float(text) * _MB_PER_GIB // 1)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _DIGITS
