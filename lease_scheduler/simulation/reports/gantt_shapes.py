"""The geometry of a Gantt chart: bars for a few leases, an image for many. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lease_scheduler.model.lease import Lease
from lease_scheduler.model.resources import VCPU
from lease_scheduler.simulation.result import Occupation, RunResult

Span = tuple[int, int]


@dataclass(frozen=True)
class Holds:
    """The VCPUs that occupations hold on hosts, with one row for every pair of occupation and host.

    :ivar occupations: occupations that overlap the window; the rows refer to their indices
    :ivar starts: start of each occupation, clipped to the window, in s from the run's zero
    :ivar ends: end of each occupation, likewise
    :ivar occupation: index of the occupation, for each row
    :ivar host: index of the host, for each row
    :ivar vcpus: VCPUs held, for each row; at least 1 for each node, so that every node is visible
    """

    occupations: tuple[Occupation, ...]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    occupation: NDArray[np.int64]
    host: NDArray[np.int64]
    vcpus: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.host)


@dataclass(frozen=True)
class Bar:
    """A rectangle of one occupation.

    :ivar occupation: index of the occupation
    :ivar bottom: lower edge; the host with index n extends from n to n + 1
    :ivar top: upper edge
    :ivar start: left edge in s from the run's zero
    :ivar end: right edge, likewise
    """

    occupation: int
    bottom: float
    top: float
    start: int
    end: int


def holds_between(result: RunResult, begin: int, end: int) -> Holds:
    """Return what is held in ``[begin, end)``, in s from the run's zero."""
    begin, end = begin + result.start, end + result.start
    held = tuple(
        occupation
        for occupation in result.occupations
        if max(occupation.start, begin) < min(occupation.end, end) and occupation.assignment
    )
    demands = {lease.lease_id: _demands(lease) for lease in result.leases}
    hosts = _joined([occupation.assignment for occupation in held])
    vcpus = _joined([demands[occupation.lease_id] for occupation in held])
    owners = np.repeat(np.arange(len(held)), [len(occupation.assignment) for occupation in held])
    # Several nodes of a lease on the same host become one row.
    pairs, row = np.unique(owners * len(result.site) + hosts, return_inverse=True)
    return Holds(
        occupations=held,
        starts=np.array([max(occupation.start, begin) for occupation in held], dtype=np.int64) - result.start,
        ends=np.array([min(occupation.end, end) for occupation in held], dtype=np.int64) - result.start,
        occupation=pairs // len(result.site),
        host=pairs % len(result.site),
        vcpus=np.bincount(row, weights=vcpus, minlength=len(pairs)).astype(np.int64),
    )


def bars(holds: Holds, capacities: Sequence[int]) -> list[Bar]:
    """Return rectangles that do not overlap. Whole neighbouring hosts of an occupation become one rectangle.

    The height of a rectangle is the share of the host's VCPUs. If no gap is high enough, several are used.

    :param capacities: VCPUs of each host, at least 1
    """
    shapes: list[Bar] = []
    whole: list[list[int]] = [[] for _ in holds.occupations]
    for host, capacity in enumerate(capacities):
        rows = np.flatnonzero(holds.host == host)
        order = rows[np.argsort(holds.starts[holds.occupation[rows]], kind="stable")]
        for number, pieces in _stack(holds, order, capacity):
            if pieces == [(0, capacity)]:
                whole[number].append(host)
            else:
                heights = [(host + low / capacity, host + high / capacity) for low, high in pieces]
                shapes += [_bar(holds, number, bottom, top) for bottom, top in heights]
    for number, hosts in enumerate(whole):
        shapes += [_bar(holds, number, first, last + 1) for first, last in _runs(hosts)]
    return shapes


def image(
    holds: Holds, capacities: Sequence[int], colours: NDArray[np.float64], begin: int, end: int, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return an image of hosts over time on white; a pixel that occupations share has a mixture of their colours.

    :param capacities: VCPUs of each host, at least 1
    :param colours: colour of each occupation: red, green and blue from 0 to 1
    :param begin: left edge in s from the run's zero
    :param end: right edge, likewise
    :param shape: numbers of rows and columns; at most one row per host. With fewer rows, neighbouring hosts share one
    :return: rows x columns x 3, from 0 to 1; host 0 is in row 0
    """
    rows, columns = shape
    row_of_host = np.arange(len(capacities)) * rows // len(capacities)
    row_capacity = np.bincount(row_of_host, weights=capacities, minlength=rows)
    row = row_of_host[holds.host]
    weights = holds.vcpus / row_capacity[row]
    scale = columns / (end - begin)
    starts = scale * (holds.starts[holds.occupation] - begin).astype(np.float64)
    ends = scale * (holds.ends[holds.occupation] - begin).astype(np.float64)
    paint = colours[holds.occupation]
    covered = _coverage(row, starts, ends, weights, shape)
    mixed = np.stack([_coverage(row, starts, ends, weights * paint[:, part], shape) for part in range(3)], axis=-1)
    beyond = np.maximum(covered, 1.0)[..., None]
    return np.clip(mixed / beyond + np.maximum(1.0 - covered, 0.0)[..., None], 0.0, 1.0)


def _coverage(
    row: NDArray[np.int64],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
) -> NDArray[np.float64]:
    """Return the share of each pixel that is covered: the cumulative sum of starts and ends along each row."""
    rows, columns = shape
    width = columns + 2
    changes = np.zeros(rows * width)
    for edges, sign in ((starts, 1.0), (ends, -1.0)):
        pixel = np.floor(edges).astype(np.int64)
        inside = edges - pixel
        at = row * width + pixel
        # An edge inside a pixel changes the coverage of the rest of that pixel, and of all later pixels in full.
        changes += np.bincount(at, weights=sign * weights * (1 - inside), minlength=len(changes))
        changes += np.bincount(at + 1, weights=sign * weights * inside, minlength=len(changes))
    return np.cumsum(changes.reshape(rows, width), axis=1)[:, :columns]


def _demands(lease: Lease) -> tuple[int, ...]:
    """Return the VCPUs of each node, at least 1, in the order of the assignment."""
    return tuple(
        max(node_set.resources.get(VCPU, 0), 1) for node_set in lease.request.nodes for _ in range(node_set.count)
    )


def _joined(parts: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
    return np.array([number for part in parts for number in part], dtype=np.int64)


def _stack(holds: Holds, order: NDArray[np.int64], capacity: int) -> list[tuple[int, list[Span]]]:
    """Return each occupation of a host with the spans of VCPUs in which it is drawn.

    :param order: rows of the host, ordered by start
    """
    stacked: list[tuple[int, list[Span]]] = []
    present: list[tuple[int, list[Span]]] = []
    latest: dict[str, list[Span]] = {}
    for number, vcpus in zip(holds.occupation[order].tolist(), holds.vcpus[order].tolist(), strict=True):
        start = int(holds.starts[number])
        present = [(end, pieces) for end, pieces in present if end > start]
        gaps = _gaps([piece for _, pieces in present for piece in pieces], capacity)
        lease_id = holds.occupations[number].lease_id
        pieces = _take(gaps, min(vcpus, capacity), latest.get(lease_id))
        latest[lease_id] = pieces
        present.append((int(holds.ends[number]), pieces))
        stacked.append((number, pieces))
    return stacked


def _gaps(taken: list[Span], capacity: int) -> list[Span]:
    gaps, reached = [], 0
    for low, high in [*sorted(taken), (capacity, capacity)]:
        if low > reached:
            gaps.append((reached, low))
        reached = max(reached, high)
    return gaps


def _take(gaps: list[Span], vcpus: int, before: list[Span] | None) -> list[Span]:
    """Return spans for a lease: the same as before if they are free, else the lowest gap that is high enough.

    If no gap is high enough, return the lowest gaps that together are.
    """
    if before and sum(high - low for low, high in before) == vcpus and all(_inside(span, gaps) for span in before):
        return before
    for low, high in gaps:
        if high - low >= vcpus:
            return [(low, low + vcpus)]
    pieces = []
    for low, high in gaps:
        height = min(high - low, vcpus)
        if height:
            pieces.append((low, low + height))
        vcpus -= height
    return pieces


def _inside(span: Span, gaps: list[Span]) -> bool:
    return any(low <= span[0] and span[1] <= high for low, high in gaps)


def _runs(hosts: list[int]) -> list[Span]:
    """Return the first and the last host of each sequence of neighbouring hosts."""
    runs: list[Span] = []
    for host in hosts:
        if runs and runs[-1][1] == host - 1:
            runs[-1] = (runs[-1][0], host)
        else:
            runs.append((host, host))
    return runs


def _bar(holds: Holds, number: int, bottom: float, top: float) -> Bar:
    return Bar(number, bottom, top, int(holds.starts[number]), int(holds.ends[number]))
