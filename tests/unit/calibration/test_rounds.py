"""The order in which servers are measured, and what is done when something fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from lease_scheduler.calibration.rounds import Round, is_hopeless, measure
from lease_scheduler.calibration.samples import Batch, MeasuredOperation, Sample
from lease_scheduler.calibration.servers import Kind, Servers

_KIND = Kind("image", "flavor")
_WAYS = (MeasuredOperation.SUSPEND, MeasuredOperation.STOP)


class _Servers:
    """Servers of which one fails in one operation.

    :ivar deleted: servers that were deleted
    """

    def __init__(self, fails: tuple[MeasuredOperation, str] | None = None) -> None:
        self._fails = fails
        self.deleted: list[str] = []

    def boot(self, kind: Kind, hosts: Sequence[str]) -> list[Sample]:
        ids = [f"s{number}" for number in range(len(hosts))]
        found = self._samples(MeasuredOperation.BOOT, list(zip(ids, hosts, strict=True)))
        # A refused server has no id.
        return [Sample(s.operation, "", s.host, 0.0, problem=s.problem) if s.problem else s for s in found]

    def operate(self, operation: MeasuredOperation, servers: Sequence[tuple[str, str]]) -> list[Sample]:
        if operation is MeasuredOperation.DELETE:
            self.deleted += [server for server, _ in servers]
        return self._samples(operation, servers)

    def _samples(self, operation: MeasuredOperation, servers: Sequence[tuple[str, str]]) -> list[Sample]:
        return [
            Sample(operation, server, host, 0.0, 1.0, 2.0, "fails" if (operation, server) == self._fails else "")
            for server, host in servers
        ]


def _measure(servers: _Servers) -> list[MeasuredOperation]:
    batches: list[Batch] = []
    measure(cast(Servers, servers), _KIND, Round(0, ["a", "b"]), _WAYS, batches.append)
    return [batch.operation for batch in batches]


def test_operations_are_measured_in_pairs_that_undo_each_other() -> None:
    servers = _Servers()
    assert [operation.value for operation in _measure(servers)] == [
        *("boot", "suspend", "resume", "stop", "start", "delete")
    ]
    assert servers.deleted == ["s0", "s1"]


@pytest.mark.parametrize(
    ("fails", "done", "deleted"),
    [
        ((MeasuredOperation.BOOT, "s0"), ["boot", "delete"], ["s1"]),
        ((MeasuredOperation.SUSPEND, "s1"), ["boot", "suspend", "delete"], ["s0", "s1"]),
        ((MeasuredOperation.START, "s0"), ["boot", "suspend", "resume", "stop", "start", "delete"], ["s0", "s1"]),
    ],
)
def test_a_failure_skips_the_rest_of_a_round(
    fails: tuple[MeasuredOperation, str], done: list[str], deleted: list[str]
) -> None:
    """The existing servers are deleted all the same."""
    servers = _Servers(fails)
    assert [operation.value for operation in _measure(servers)] == done
    assert servers.deleted == deleted


@pytest.mark.parametrize(
    ("hosts", "words"),
    [(["a"], "one server"), (["a", "a"], "2 servers on 1 host"), (["a", "b", "a"], "3 servers on 2 hosts")],
)
def test_a_round_is_described_by_servers_and_hosts(hosts: list[str], words: str) -> None:
    assert Round(0, hosts).in_words == words


def _boot(problem: str = "") -> Batch:
    return Batch(MeasuredOperation.BOOT, 0, [Sample(MeasuredOperation.BOOT, "s", "a", 0.0, 1.0, 2.0, problem)])


def test_three_failed_boots_in_a_row_end_the_calibration() -> None:
    """haizea F94"""
    good, bad = _boot(), _boot("fails")
    assert not is_hopeless([bad, bad])
    assert not is_hopeless([bad, bad, good, bad, bad])
    assert is_hopeless([good, bad, bad, bad])
    deleted = Batch(MeasuredOperation.DELETE, 0, bad.samples)
    assert not is_hopeless([bad, bad, deleted])
