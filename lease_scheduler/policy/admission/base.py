"""The interface of admission policies (haizea F35; Sotomayor 2010, section 4.3.1)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.policy.base import PolicyOptions


class AdmissionPolicy(ABC):
    """Accepts or refuses requests before any planning.

    :param options: what the operator set for policies
    """

    def __init__(self, options: PolicyOptions) -> None:
        self.options = options

    @abstractmethod
    def refusal(self, request: LeaseRequest, now: int) -> str | None:
        """Why a request is refused, naming the field and what would do; none if it is accepted."""
