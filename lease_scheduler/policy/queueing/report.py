"""What a flow has, as a queueing policy that shares a site reports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FlowReport:
    """The state of a flow.

    :ivar name: its name
    :ivar weight: its weight
    :ivar share: its share of the site among the flows that have leases
    :ivar behind: host-seconds that it is owed: how far it is behind the flow that is ahead of all others, for its
        weight
    :ivar queued: number of its queued leases
    :ivar positions: position of each queued lease in its flow, from 1
    :ivar expected: expected start of each queued lease that is not blocked
    :ivar blocked: why a queued lease cannot start as long as the flow has this share, by lease id
    """

    name: str
    weight: float
    share: float
    behind: float
    queued: int
    positions: Mapping[str, int]
    expected: Mapping[str, int]
    blocked: Mapping[str, str]
