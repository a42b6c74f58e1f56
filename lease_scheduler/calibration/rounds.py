"""The order in which servers are measured: each round boots some, puts them away and back in all ways, and deletes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lease_scheduler.calibration.samples import PAIRS, Batch, MeasuredOperation, Sample
from lease_scheduler.calibration.servers import Kind, Servers

#: Rounds in a row that fail at the boot, after which it makes no sense to go on.
_HOPELESS = 3


@dataclass(frozen=True)
class Round:
    """Servers that are measured together.

    :ivar repetition: which one it is of those with as many servers on as many hosts
    :ivar hosts: compute service of each server
    """

    repetition: int
    hosts: Sequence[str]

    @property
    def in_words(self) -> str:
        """How many servers on how many hosts, for people."""
        count, hosts = len(self.hosts), len(set(self.hosts))
        return "one server" if count == 1 else f"{count} servers on {hosts} host{'s' * (hosts > 1)}"


def rounds(hosts: Sequence[str], repetitions: int, at_once: Sequence[int], group_repetitions: int) -> list[Round]:
    """All rounds: single servers on one host after the other, then several on one host, and each on its own.

    :param hosts: compute services
    :param repetitions: how many single servers
    :param at_once: how many servers at a time, one number for each kind of group
    :param group_repetitions: how many groups of each kind
    """
    found = [Round(number, [hosts[number % len(hosts)]]) for number in range(repetitions)]
    for count in at_once:
        for number in range(group_repetitions):
            first = number % len(hosts)
            found.append(Round(number, [hosts[first]] * count))
            if count <= len(hosts):
                found.append(Round(number, [hosts[(first + place) % len(hosts)] for place in range(count)]))
    return found


def is_hopeless(batches: Sequence[Batch]) -> bool:
    """Return whether the boots of the last rounds have all failed."""
    boots = [batch.is_complete for batch in batches if batch.operation is MeasuredOperation.BOOT]
    return len(boots) >= _HOPELESS and not any(boots[-_HOPELESS:])


def measure(
    servers: Servers, kind: Kind, each: Round, ways: Sequence[MeasuredOperation], on_batch: Callable[[Batch], None]
) -> None:
    """Carry out a round. If an operation fails, the rest of the round is left out.

    :param ways: how servers are put away, of ``PAIRS``
    :param on_batch: is told each operation when it is over
    """
    booted: list[Sample] = []
    for batch in _batches(servers, kind, each, ways):
        on_batch(batch)
        if batch.operation is MeasuredOperation.BOOT:
            booted = [sample for sample in batch.samples if sample.server_id]
        if not batch.is_complete:
            break
    if booted:
        deleted = servers.operate(MeasuredOperation.DELETE, [(sample.server_id, sample.host) for sample in booted])
        on_batch(Batch(MeasuredOperation.DELETE, each.repetition, deleted))


def _batches(servers: Servers, kind: Kind, each: Round, ways: Sequence[MeasuredOperation]) -> Iterator[Batch]:
    booted = servers.boot(kind, each.hosts)
    yield Batch(MeasuredOperation.BOOT, each.repetition, booted)
    of_round = [(sample.server_id, sample.host) for sample in booted]
    for way in ways:
        for operation in (way, PAIRS[way]):
            yield Batch(operation, each.repetition, servers.operate(operation, of_round))
