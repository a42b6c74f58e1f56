"""HTTP without sockets: requests of real clients are answered by functions of this process."""

from lease_scheduler.rehearsal.cloud.http.adapter import CloudAdapter
from lease_scheduler.rehearsal.cloud.http.exchange import Answer, Refusal, Request
from lease_scheduler.rehearsal.cloud.http.faults import NetworkFaults
from lease_scheduler.rehearsal.cloud.http.installing import installed
from lease_scheduler.rehearsal.cloud.http.routes import Routes

__all__ = ["Answer", "CloudAdapter", "NetworkFaults", "Refusal", "Request", "Routes", "installed"]
