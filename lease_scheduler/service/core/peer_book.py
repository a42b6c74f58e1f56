"""The limits of peers, as administrators have set them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lease_scheduler.model.peer_limits import PeerLimits, peer_limits_of
from lease_scheduler.records.site_state import LIMITS
from lease_scheduler.records.writes import StoreChanges

_NO_LIMITS = PeerLimits()


class PeerBook:
    """Limits by name of the peer.

    :param policy_state: the stored state of policies, which has the limits
    """

    def __init__(self, policy_state: Mapping[tuple[str, str, str], Mapping[str, Any]]) -> None:
        stored = policy_state.get(("", *LIMITS), {})
        self._limits = {name: peer_limits_of(values) for name, values in stored.items()}

    @property
    def names(self) -> list[str]:
        """Names of the peers with limits, sorted."""
        return sorted(self._limits)

    def of(self, peer: str) -> PeerLimits:
        """Return the limits of a peer; one for which nothing was set has none."""
        return self._limits.get(peer, _NO_LIMITS)

    def set(self, peer: str, limits: PeerLimits | None, changes: StoreChanges) -> None:
        """Set the limits of a peer, or remove them if they are None.

        :param changes: what the transaction writes
        """
        if limits is None:
            self._limits.pop(peer, None)
        else:
            self._limits[peer] = limits
        changes.policy_state["", *LIMITS, peer] = None if limits is None else limits.plain()
