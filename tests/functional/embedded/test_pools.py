"""Pools as users of the service see them: over REST, through the engine, in metrics and after a restart."""

from __future__ import annotations

import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.functional.embedded.conftest import Make
from tests.functional.embedded.rest import Rest, date

_SETTINGS = """
[simulated_cloud]
hosts = 4
[scheduling]
policy_preemption = by-kind
[pools]
names = general, gpu
[pool:gpu]
hosts = compute-[34]
projects = physics
roles = gpu-user
policy_preemption = no-preemption
policy_pricing = constant
pricing_rate = 3
"""
_HOUR = 3_600


def test_two_pools(make: Make) -> None:
    """Each has its hosts, projects and policies; leases keep their pool when they change and when the service does."""
    service = make(configuration=_SETTINGS)
    service.start()
    admin = Rest(service)
    admin.register(4)
    hosts = {host["hypervisor_hostname"]: host["pool"] for host in admin.get("os-hosts")["hosts"]}
    assert hosts == {"compute-1": "general", "compute-2": "general", "compute-3": "gpu", "compute-4": "gpu"}
    member = Rest(service, X_Project_Id="physics", X_User_Id="ada", X_Roles="member")
    other = Rest(service, X_Project_Id="biology", X_User_Id="bob", X_Roles="member")
    assert member.get("pools") == {"pools": [{"name": "general"}, {"name": "gpu"}]}
    assert other.get("pools") == {"pools": [{"name": "general"}]}
    assert Rest(service, X_Project_Id="biology", X_Roles="member,gpu-user").get("pools") == member.get("pools")

    # Best-effort leases make room in the pool whose policy says so.
    calm = member.lease("calm", "best-effort", count=2, duration="8h", pool="gpu")
    busy = member.lease("busy", "best-effort", count=2, duration="8h", pool="general")
    start = admin.now() + 2 * _HOUR
    times = {"start_date": date(start), "end_date": date(start + _HOUR)}
    terms = {"name": "urgent", "nodes": [{"count": 2, "resources": {"VCPU": 8}}], **times}
    refused = member.ask("POST", "leases", {**terms, "pool": "gpu"})
    assert refused.status_code == 409
    assert "pool gpu: nodes: no place" in refused.json()["error_message"]
    quote = member.post("quotes", terms)["quote"]
    assert (quote["granted"], quote["pool"], quote["price"], quote["preempted"]) == (True, "general", None, 1)
    urgent = member.post("leases", terms)["lease"]
    assert (urgent["pool"], calm["pool"], busy["pool"]) == ("general", "gpu", "general")
    assert (calm["price"], busy["price"]) == (48.0, None)
    whole = other.ask("POST", "leases", terms)
    assert "pool general: " in whole.json()["error_message"]
    assert "gpu" not in whole.json()["error_message"]

    # What others see of it.
    found = {lease["name"]: lease["pool"] for lease in member.get("leases?pool=general")["leases"]}
    assert found == {"busy": "general", "urgent": "general"}
    calendar = admin.calendar()
    assert {host["name"]: host["pool"] for host in calendar["hosts"]} == hosts
    assert {lease["name"]: lease["pool"] for lease in calendar["leases"]} == {**found, "calm": "gpu"}
    (first, *_) = member.get(f"leases/{calm['id']}/history")["history"]
    assert first["reason"].startswith("in pool gpu: ")
    text = requests.get(f"{service.url}/metrics", timeout=10).text
    assert _samples(text, "leases", "kind") == {
        ("general", "best-effort"): 1,
        ("general", "reservation"): 1,
        ("gpu", "best-effort"): 1,
    }
    assert _samples(text, "preempted_leases_total") == {("general",): 1, ("gpu",): 0}
    refusals = _samples(text, "lease_refusals_total", "kind")
    assert {pool: refusals[pool, "reservation"] for pool in ("general", "gpu")} == {"general": 1, "gpu": 1}
    transitions = _samples(text, "lease_transitions_total", "kind", "state")
    assert transitions["gpu", "best-effort", "queued"] == 1
    assert transitions["general", "reservation", "ready"] == 1

    # A held host stays; a free one may be moved.
    held = admin.ask("PUT", "os-hosts/3", {"pool": "general"})
    assert (held.status_code, held.json()["error_message"]) == (
        409,
        f"host compute-3 is held by lease {calm['id']}; move or delete it first",
    )
    assert service.interrupt() == 0
    service.start()
    assert member.post(f"leases/{calm['id']}/action", {"shrink": {"reservations": [_fewer(member, calm["id"])]}})
    held_by_calm = {host["hypervisor_hostname"] for host in member.get(f"leases/{calm['id']}/hosts")["hosts"]}
    (free,) = {"compute-3", "compute-4"} - held_by_calm
    moved = admin.ask("PUT", f"os-hosts/{free[-1]}", {"pool": "general"})
    assert (moved.status_code, moved.json()["host"]["pool"]) == (200, "general")
    assert member.lease("one more", "best-effort", duration="1h", pool="general")["pool"] == "general"


def _samples(text: str, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """Return the samples of a metric by pool and further labels."""
    return {
        tuple(sample.labels[label] for label in ("pool", *labels)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == f"lease_scheduler_{name}"
    }


def _fewer(member: Rest, lease_id: str) -> dict[str, object]:
    (reservation,) = member.get(f"leases/{lease_id}")["lease"]["reservations"]
    return {"id": reservation["id"], "amount": 1}
