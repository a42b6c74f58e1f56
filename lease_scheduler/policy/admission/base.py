"""The interface of admission policies (haizea F35; Sotomayor 2010, section 4.3.1)."""

from __future__ import annotations

from abc import abstractmethod

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import Policy


class AdmissionPolicy(Policy):
    """Accepts or refuses requests before any planning.

    :param options: what the operator set for policies
    """

    @abstractmethod
    def refusal(self, request: LeaseRequest, now: int) -> str | None:
        """Return why a request is refused, naming the field and what would be accepted; None accepts it."""
