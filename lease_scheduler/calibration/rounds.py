"""The rounds of a calibration. Each boots servers, suspends and resumes them in all ways, and deletes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lease_scheduler.calibration.samples import PAIRS, Batch, MeasuredOperation, Sample
from lease_scheduler.calibration.servers import Kind, Servers

#: Number of consecutive rounds whose boot fails, after which the calibration is given up.
_HOPELESS = 3


@dataclass(frozen=True)
class Round:
    """Servers that are measured together.

    :ivar repetition: its number among the rounds with equally many servers and hosts
    :ivar hosts: name of the compute service of each server
    """

    repetition: int
    hosts: Sequence[str]

    @property
    def in_words(self) -> str:
        """The number of servers and of hosts, as text for people."""
        count, hosts = len(self.hosts), len(set(self.hosts))
        return "one server" if count == 1 else f"{count} servers on {hosts} host{'s' * (hosts > 1)}"


def rounds(hosts: Sequence[str], repetitions: int, at_once: Sequence[int], group_repetitions: int) -> list[Round]:
    """Return all rounds: single servers on the hosts in turn, then groups on one host and on a host for each server.

    :param hosts: names of compute services
    :param repetitions: number of rounds with a single server
    :param at_once: sizes of the groups
    :param group_repetitions: number of groups of each size
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
    """Carry out a round. If an operation fails, skip the rest of the round and delete the servers.

    :param ways: the operations to measure, from the keys of ``PAIRS``; each is then undone
    :param on_batch: called with each batch when it is over
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
