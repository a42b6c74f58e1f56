"""Penalties that are shares of the price and grow with the length of the breach."""

from __future__ import annotations

from math import isfinite

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import Lease
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.base import PenaltyPolicy

_OPTION = "penalty_tiers"
_DEFAULT = "60:0.1,600:0.3,3600:1"


class Tiered(PenaltyPolicy):
    """Charges a share of the price that grows in steps with the seconds that a breach lasted.

    Service credits of public clouds have this form: a tenth of the price, then a third, then all of it.

    Option: ``penalty_tiers`` (``60:0.1,600:0.3,3600:1``), steps as seconds:share. A breach costs the share of the last
    step that it reached; a breach shorter than the first step costs nothing. If only some nodes are missing, the time
    counts for which all nodes together would have lost as many node-seconds.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._tiers = _parsed(options.get(_OPTION, _DEFAULT))

    def penalty(self, breach: Breach, lease: Lease) -> float:
        """See ``PenaltyPolicy.penalty``."""
        nodes = lease.request.charged_nodes
        lasted = breach.node_seconds / nodes if breach.node_seconds and nodes else breach.seconds
        share = max((share for seconds, share in self._tiers if seconds <= lasted), default=0.0)
        return share * (lease.grant.price or 0.0)


def _parsed(text: str) -> tuple[tuple[int, float], ...]:
    """Parse steps as (seconds, share of the price).

    :raises InvalidValueError: the text is not a list of steps
    """
    tiers = []
    for part in text.split(","):
        seconds, _, share = part.strip().partition(":")
        try:
            value = float(share)
        except ValueError:
            value = -1.0
        if not seconds.isdecimal() or not isfinite(value) or not 0 <= value <= 1:
            raise InvalidValueError(
                f"policy option {_OPTION}",
                f"must be steps such as 60:0.1,600:0.3 with shares from 0 to 1, not {part!r}",
            )
        tiers.append((int(seconds), value))
    return tuple(tiers)
