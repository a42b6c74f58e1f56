"""Shares of the price, the larger the longer."""

from __future__ import annotations

from math import isfinite

from lease_scheduler.model.breach import Breach
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import PolicyOptions
from lease_scheduler.policy.penalty.base import PenaltyPolicy

_OPTION = "penalty_tiers"
_DEFAULT = "60:0.1,600:0.3,3600:1"


class Tiered(PenaltyPolicy):
    """A share of the price that grows in steps with the seconds that a breach lasted.

    The form of the service credits in the agreements of public clouds: a tenth of what was paid, then a third, then all
    of it.

    Option: ``penalty_tiers`` (``60:0.1,600:0.3,3600:1``), steps as seconds:share. A breach costs the share of the last
    step that it lasted for; one that is shorter than the first costs nothing. Fewer nodes than promised count as the
    time in which all nodes together would have lost as much.
    """

    def __init__(self, options: PolicyOptions) -> None:
        super().__init__(options)
        self._tiers = _parsed(options.get(_OPTION, _DEFAULT))

    def penalty(self, breach: Breach, request: LeaseRequest) -> float:
        """See ``PenaltyPolicy.penalty``."""
        nodes = request.charged_nodes
        lasted = breach.node_seconds / nodes if breach.node_seconds and nodes else breach.seconds
        share = max((share for seconds, share in self._tiers if seconds <= lasted), default=0.0)
        return share * (request.price or 0.0)


def _parsed(text: str) -> tuple[tuple[int, float], ...]:
    """Steps from text: (seconds, share of the price).

    :raises InvalidValueError: it is something else
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
                f"policy option {_OPTION}", f"must be steps like 60:0.1 parted by commas, shares up to 1; not {part!r}"
            )
        tiers.append((int(seconds), value))
    return tuple(tiers)
