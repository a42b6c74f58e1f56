"""Workloads: requests, the site that they were made for, and the time that their work really takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lease_scheduler.model.grant import UNANSWERED, Grant
from lease_scheduler.model.host import Site
from lease_scheduler.model.lease import LeaseRequest


@dataclass(frozen=True)
class WorkloadLease:
    """One request of a workload.

    :ivar request: the terms; ``submitted`` counts from the workload's zero
    :ivar real_duration: seconds after which the work is really done; None if it takes the whole requested duration.
        Only the simulated cloud uses it; planning knows only the requested duration.
    :ivar grant: what was answered to the request before, such as a price that the workload states
    """

    request: LeaseRequest
    real_duration: int | None = None
    grant: Grant = UNANSWERED


@dataclass(frozen=True)
class Workload:
    """Requests in order of submission, then in the order of the file.

    Amounts are in the units of the file: ``VCPU`` in per cent of a core, ``MEMORY_MB`` in MB.

    :ivar name: name for reports
    :ivar leases: the requests
    :ivar site: the hosts that the file names; None if it names none
    :ivar attributes: free attributes of the file, e.g. from the generator that made it
    """

    name: str
    leases: tuple[WorkloadLease, ...]
    site: Site | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def last_submission(self) -> int:
        """The instant of the last request; 0 for an empty workload."""
        return max((lease.request.submitted for lease in self.leases), default=0)
