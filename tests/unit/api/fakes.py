"""An engine and a reader that keep documents in memory and grant everything except what they are told to refuse."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from lease_scheduler.model.blazar import lease_status
from lease_scheduler.model.documents import Document
from lease_scheduler.model.lease import UNLIMITED
from lease_scheduler.model.peer_limits import peer_limits_of
from lease_scheduler.model.power import HostPower, PowerState
from lease_scheduler.records.attributes import ATTRIBUTES
from lease_scheduler.records.calendar import CalendarEntry, CalendarIndex, HeldHosts, SiteVersion
from lease_scheduler.records.history import Event, EventPage, Transition
from lease_scheduler.records.listing import LeaseEntry
from lease_scheduler.rpc.interface import EngineRequests

#: 2030-01-31 12:00:30 UTC: half a minute past a full minute.
NOW = 1_896_091_230
MINUTE = NOW - 30
HOUR = 3_600


class FixedClock:
    """A clock that stands still until it is set."""

    def __init__(self, now: int = NOW) -> None:
        self.instant = now

    def now(self) -> int:
        return self.instant


class Trusts:
    """An identity service that creates trusts.

    :ivar given: trusts that exist
    :ivar doubtful: those of them that are deleted later unless a lease has them
    """

    def __init__(self) -> None:
        self.given: list[str] = []
        self.doubtful: list[str] = []

    def decide_later(self, trusts: Iterable[str]) -> None:
        self.doubtful += trusts

    def give(self, token: Any) -> str:
        self.given.append(f"trust-{len(self.given)}-of-{token}")
        return self.given[-1]

    def take_back(self, token: Any, trust_id: str) -> None:
        assert trust_id.endswith(f"of-{token}")
        self.given.remove(trust_id)


class Names:
    """Knows the names of most projects, and of all users but "root"."""

    def projects(self) -> dict[str, str]:
        return {"red": "Red", "blue": "Blue"}

    def user(self, user_id: str) -> str | None:
        return None if user_id == "root" else user_id.title()

    def has_project(self, project_id: str) -> bool:
        return project_id in self.projects()


class Sites:
    """The sites of a gateway: north answers, and south does not.

    :ivar away: instants since which sites do not answer
    """

    names = ("north", "south")

    def __init__(self) -> None:
        self.away = {"south": NOW - 60}

    def unreachable(self) -> dict[str, int]:
        return self.away

    def shown(self) -> list[Document]:
        load = {"local": {"rate": 0.5, "work": {"VCPU": 60.0}, "squares": {"VCPU": 4000.0}}, "external": []}
        nothing = dict.fromkeys(("verbs", "speed", "capacity", "load", "last_answer", "unreachable_since"))
        told = {"verbs": ["quote", "submit"], "speed": 1.5, "capacity": {"VCPU": 16}, "load": load}
        return [
            {**nothing, "name": "north", "state": "answering", "last_answer": NOW, **told},
            {**nothing, "name": "south", "state": "paused", "unreachable_since": self.away.get("south")},
        ]


class Site(EngineRequests):
    """Engine and reader in one.

    :ivar calls: every requested change with its arguments
    :ivar refusal: raised by the next change
    """

    def __init__(self, clock: FixedClock) -> None:
        self.clock = clock
        self.views: dict[str, Document] = {}
        self.deleted: set[str] = set()
        self.host_rows: dict[str, Document] = {}
        self.private: set[str] = set()
        self.addresses: dict[str, Document] = {}
        self.series_rows: dict[str, Document] = {}
        self.subscription_rows: dict[str, Document] = {}
        self.feed_rows: dict[str, Document] = {}
        self.flows: dict[str, Document] = {}
        self.peers: dict[str, Document] = {}
        self.known_arrivals: dict[str, Document] = {}
        self.usage_rows: list[Document] = []
        self.revenue_rows: list[Document] = []
        self.delay_rows: list[Document] = []
        self.capacity_rows: list[Document] = []
        self.forecast_rows: list[Document] = []
        self.budget_lines: list[Document] | None = None
        self.yield_rows: list[Document] = []
        self.penalty_rows: list[Document] = []
        self.calendar_document: Document = {"revision": 7, "complete": True, "hosts": [], "leases": [], "removed": []}
        self.quote: Document = {"granted": True, "reason": "", "start": None, "end": None, "hosts": [], "preempts": []}
        self.calls: list[tuple[Any, ...]] = []
        self.refusal: Exception | None = None
        self._listed: dict[str, Document] = {}
        self._revision = 1_000

    # -- engine --

    def _called(self, *call: Any) -> None:
        self.calls.append(copy.deepcopy(call))
        if self.refusal is not None:
            refusal, self.refusal = self.refusal, None
            raise refusal

    def create_lease(self, context: Document, lease: Document) -> Document:
        self._called("create_lease", context, lease)
        self.views[lease["id"]] = self.view_of(lease)
        return {"lease_id": lease["id"]}

    def view_of(self, lease: Document) -> Document:
        now = self.clock.now()
        start = lease["start"] if lease["kind"] == "reservation" else None
        return {
            **{each.name: lease.get(each.name, each.plain(each.default)) for each in ATTRIBUTES},
            **{key: lease[key] for key in ("id", "kind", "deadline", "before_end", "servers")},
            "state": "scheduled" if start is not None else "queued",
            "reason": "",
            "start": start,
            "end": lease["end"],
            "requested_start": lease["start"],
            "duration": lease["duration"] or (lease["end"] - lease["start"] if lease["end"] else UNLIMITED),
            "offered_until": None,
            "approval": None,
            "negotiation_id": None,
            "idle_since": None,
            "preempted_at": None,
            "latest_end": None,
            "progress": None,
            "penalties": 0.0,
            "breaches": [],
            "submitted": now,
            "started": None,
            "ended": None,
            "accumulated": 0,
            "created_at": now,
            "updated_at": None,
            "version": 1,
            "number": len(self.views) + 1,
            "revision": len(self.views) + 1,
            "operation": None,
            "reservations": [self._reservation(each) for each in lease["reservations"]],
            "events": [
                {
                    "id": f"{lease['id']}-{event}",
                    "event_type": event,
                    "time": lease[key],
                    "status": "UNDONE",
                    "created_at": now,
                    "updated_at": None,
                }
                for event, key in (("start_lease", "start"), ("end_lease", "end"))
                if lease[key] is not None
            ],
            "holdings": [
                {
                    "start": start,
                    "run_start": start,
                    "run_end": lease["end"],
                    "end": lease["end"],
                    "closing": "stop",
                    "hosts": ["1"],
                }
            ]
            if start is not None
            else [],
        }

    def _reservation(self, asked: Document) -> Document:
        return {
            "id": asked["id"],
            "resource_type": asked["resource_type"],
            "resource_id": asked["id"],
            "status": "pending",
            "terms": {key: value for key, value in asked.items() if key not in ("id", "resource_type")},
            "missing_resources": False,
            "resources_changed": False,
            "created_at": self.clock.now(),
            "updated_at": None,
            "hosts": ["host-2", "host-1", "host-1"],
            "granted_resources": None,
            "granted_nodes": 1,
        }

    def quote_lease(self, context: Document, lease: Document) -> Document:
        self._called("quote_lease", context, lease)
        return self.quote

    def offer_lease(self, context: Document, lease: Document) -> Document:
        self._called("offer_lease", context, lease)
        self.views[lease["id"]] = {
            **self.view_of(lease),
            "state": "ready",
            "price": 2.5,
            "offered_until": self.clock.now() + 300,
        }
        offered = {"lease_id": lease["id"], "price": 2.5, "expires_at": self.clock.now() + 300}
        return {**self.quote, **offered}

    def counter_offer(self, context: Document, lease_id: str, changes: Document) -> Document:
        self._called("counter_offer", context, lease_id, changes)
        return {"lease_id": lease_id}

    def quote_change(self, context: Document, lease_id: str, changes: Document) -> Document:
        self._called("quote_change", context, lease_id, changes)
        return {**self.quote, "price": 3.5, "present_price": 2.5, "alternatives": []}

    def accept_lease(self, context: Document, lease_id: str, trust_id: str | None = None) -> Document:
        self._called("accept_lease", context, lease_id, trust_id)
        self.views[lease_id].update(offered_until=None, trust_id=trust_id or self.views[lease_id]["trust_id"])
        return {"lease_id": lease_id}

    def reject_lease(self, context: Document, lease_id: str) -> Document:
        self._called("reject_lease", context, lease_id)
        self.views[lease_id].update(state="rejected-by-user", offered_until=None, ended=self.clock.now())
        return {}

    def decide_lease(self, context: Document, lease_id: str, approved: bool, reason: str) -> Document:
        self._called("decide_lease", context, lease_id, approved, reason)
        decided = {"approval": "approved"} if approved else {"approval": "declined", "state": "cancelled"}
        self.views[lease_id].update(decided | {"offered_until": None, "reason": reason})
        return {"lease_id": lease_id}

    def update_lease(self, context: Document, lease_id: str, changes: Document) -> Document:
        self._called("update_lease", context, lease_id, changes)
        view = self.views[lease_id]
        view.update({key: value for key, value in changes.items() if key != "reservations"})
        view["requested_start"] = changes.get("start", view["requested_start"])
        for change in changes.get("reservations", []):
            for reservation in view["reservations"]:
                if reservation["id"] == change["id"]:
                    reservation["terms"].update({key: value for key, value in change.items() if key != "id"})
        view["updated_at"] = self.clock.now()
        return {"lease_id": lease_id}

    def delete_lease(self, context: Document, lease_id: str, reason: str) -> Document:
        self._called("delete_lease", context, lease_id, reason)
        self.views[lease_id].update(state="cancelled", reason=reason, ended=self.clock.now())
        self.deleted.add(lease_id)
        return {}

    def end_lease(self, context: Document, lease_id: str) -> Document:
        self._called("end_lease", context, lease_id)
        self.views[lease_id].update(state="done", ended=self.clock.now(), end=self.clock.now())
        return {}

    def ready_lease(self, context: Document, lease_id: str) -> Document:
        self._called("ready_lease", context, lease_id)
        return {}

    def move_lease(self, context: Document, lease_id: str, hosts_away: list[str]) -> Document:
        self._called("move_lease", context, lease_id, hosts_away)
        return {"lease_id": lease_id}

    def availability(self, context: Document, query: Document) -> Document:
        self._called("availability", context, query)
        window = {"start": query["start"], "end": query["end"], "count": query["count"]}
        preempting = {**window, "preempted": {"best-effort": 3}}
        free = {"windows": [{**window, "preempted": {}, "start": query["start"] + 60}], "earliest": query["start"] + 60}
        return {"windows": [preempting], "earliest": query["start"], "free": free}

    def create_host(self, context: Document, host: Document, *, pool: str | None = None) -> Document:
        self._called("create_host", context, host)
        return {"host_id": self.add_host(host.get("name", str(host.get("id"))), host, pool)}

    def add_host(self, name: str, values: Mapping[str, Any] | None = None, pool: str | None = None) -> str:
        host_id = str(len(self.host_rows) + 1)
        self.host_rows[host_id] = {
            "id": host_id,
            "name": name,
            "hypervisor_type": "QEMU",
            "hypervisor_version": 8_000_000,
            "vcpus": 16,
            "cpu_info": "{}",
            "memory_mb": 65_536,
            "local_gb": 500,
            "service_name": name,
            "availability_zone": None,
            "reservable": True,
            "trust_id": None,
            "created_at": self.clock.now(),
            "updated_at": None,
            "capacity": {},
            "traits": ["HW_CPU_X86_VMX"],
            "providers": [{"name": f"{name}_gpu", "capacity": {"VGPU": 4}, "max_unit": {}, "traits": ["CUSTOM_A100"]}],
            "properties": {key: str(value) for key, value in (values or {}).items() if key not in ("name", "id")},
            "out_until": None,
            "pool": pool,
            "power": None,
        }
        return host_id

    def update_host(self, context: Document, host_id: str, values: Document, *, pool: str | None = None) -> Document:
        self._called("update_host", context, host_id, values)
        self.host_rows[host_id]["pool"] = pool or self.host_rows[host_id]["pool"]
        properties = self.host_rows[host_id]["properties"]
        for key, value in values.items():
            if value is None:
                properties.pop(key, None)
            else:
                properties[key] = str(value)
        return {"host_id": host_id}

    def delete_host(self, context: Document, host_id: str) -> Document:
        self._called("delete_host", context, host_id)
        del self.host_rows[host_id]
        return {}

    def sleep_host(self, context: Document, host_id: str) -> Document:
        self._called("sleep_host", context, host_id)
        self.host_rows[host_id]["power"] = HostPower(PowerState.ASLEEP, self.clock.now())
        return {}

    def wake_host(self, context: Document, host_id: str) -> Document:
        self._called("wake_host", context, host_id)
        self.host_rows[host_id]["power"] = HostPower(PowerState.AWAKE, self.clock.now(), slept=7_200)
        return {}

    def create_floatingip(self, context: Document, values: Document) -> Document:
        self._called("create_floatingip", context, values)
        address_id = f"address-{len(self.addresses) + 1}"
        self.addresses[address_id] = {
            "id": address_id,
            "pool": None,
            "subnet_id": None,
            "reservable": True,
            "created_at": self.clock.now(),
            "updated_at": None,
            **values,
        }
        return {"floatingip_id": address_id}

    def delete_floatingip(self, context: Document, floatingip_id: str) -> Document:
        self._called("delete_floatingip", context, floatingip_id)
        del self.addresses[floatingip_id]
        return {}

    def update_property(self, context: Document, resource_type: str, name: str, private: bool) -> Document:
        self._called("update_property", context, resource_type, name, private)
        (self.private.add if private else self.private.discard)(name)
        return {}

    def create_series(self, context: Document, series: Document) -> Document:
        self._called("create_series", context, series)
        created_at = self.clock.now()
        self.series_rows[series["id"]] = {**series, "template": series["lease"], "created_at": created_at}
        made = []
        for number, start in enumerate(series["starts"]):
            lease = series["lease"]
            lease_id = lease["id"] if number == 0 else f"{lease['id'][:30]}-{number}"
            end = start + lease["end"] - lease["start"]
            self.views[lease_id] = self.view_of({**lease, "id": lease_id, "start": start, "end": end})
            made.append(lease_id)
        return {"series_id": series["id"], "leases": made, "refused": []}

    def delete_series(self, context: Document, series_id: str) -> Document:
        self._called("delete_series", context, series_id)
        del self.series_rows[series_id]
        return {}

    def create_subscription(self, context: Document, subscription: Document) -> Document:
        self._called("create_subscription", context, subscription)
        self.subscription_rows[subscription["id"]] = {
            **{key: value for key, value in subscription.items() if key != "secret"},
            **dict.fromkeys(("updated_at", "ended_at", "next_attempt_at", "delivered_at", "last_error")),
            "created_at": self.clock.now(),
            "waiting": 0,
            "failures": 0,
        }
        return {"subscription_id": subscription["id"]}

    def update_subscription(self, context: Document, subscription_id: str, changes: Document) -> Document:
        self._called("update_subscription", context, subscription_id, changes)
        self.subscription_rows[subscription_id].update(changes, updated_at=self.clock.now())
        return {"subscription_id": subscription_id}

    def delete_subscription(self, context: Document, subscription_id: str) -> Document:
        self._called("delete_subscription", context, subscription_id)
        del self.subscription_rows[subscription_id]
        return {}

    def create_feed(self, context: Document, feed: Document) -> Document:
        self._called("create_feed", context, feed)
        self.feed_rows[feed["id"]] = {**feed, "created_at": self.clock.now()}
        return {"feed_id": feed["id"]}

    def list_flows(self, context: Document) -> Document:
        self._called("list_flows", context)
        return {"policy": "winks", "flows": list(self.flows.values())}

    def show_budget(self, context: Document, project_id: str) -> Document:
        self._called("show_budget", context, project_id)
        return {"budget": copy.deepcopy(self.budget_lines)}

    def withdraw_request(self, context: Document, lease_id: str) -> Document:
        self._called("withdraw_request", context, lease_id)
        return {}

    def list_peers(self, context: Document) -> Document:
        self._called("list_peers", context)
        use = {"leases": 1, "nodes": 2, "share": 0.25, "node_hours": 4.0, "offers": 0, "cost": 1.5}
        return {"peers": [{"name": name, "limits": limits, **use} for name, limits in self.peers.items()]}

    def check_project(self, context: Document, peer: str, project_id: str) -> Document:
        self._called("check_project", context, peer, project_id)
        return {}

    def set_peer(self, context: Document, name: str, limits: Document | None) -> Document:
        self._called("set_peer", context, name, limits)
        if limits is None:
            del self.peers[name]
        else:
            self.peers[name] = peer_limits_of(limits).plain()
        return {}

    def list_forecasts(self, context: Document) -> Document:
        self._called("list_forecasts", context)
        return {"forecasts": list(self.forecast_rows)}

    def list_least_yields(self, context: Document, fewer: list[int]) -> Document:
        self._called("list_least_yields", context, fewer)
        return {"least_yields": [{**row, "fewer": count} for row in self.yield_rows for count in fewer]}

    def set_flow(self, context: Document, name: str, weight: float | None) -> Document:
        self._called("set_flow", context, name, weight)
        source = "default" if weight is None else "set"
        self.flows[name] = {
            "name": name,
            "weight": weight,
            "source": source,
            "share": 0.3,
            "behind": 7_200.0,
            "queued": 1,
            "leases": [{"lease_id": "1", "position": 1, "expected_start": self.clock.now() + 60, "blocked": None}],
        }
        return {}

    def delete_feed(self, context: Document, feed_id: str) -> Document:
        self._called("delete_feed", context, feed_id)
        del self.feed_rows[feed_id]
        return {}

    # -- reader --

    def lease(self, lease_id: str, deleted: bool = False) -> Document | None:
        return self.views.get(lease_id) if deleted or lease_id not in self.deleted else None

    def leases(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[Document]:
        equal = {key: value for key, value in filters.items() if key not in ("states", "statuses", "deleted", "after")}
        found = [
            view
            for view in self.views.values()
            if all(view[key] == value for key, value in equal.items())
            and view["state"] in filters.get("states", [view["state"]])
            and ("statuses" not in filters or lease_status(view["state"], view["operation"]) in filters["statuses"])
            and (filters.get("deleted") or view["id"] not in self.deleted)
        ]
        for key, direction in reversed(sort):
            found.sort(key=lambda view: str(view[key]), reverse=direction == "desc")
        if marker is not None:
            found = found[[view["id"] for view in found].index(marker) + 1 :]
        return found[:limit]

    def lease_entries(
        self,
        filters: Mapping[str, Any],
        sort: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
        marker: str | None = None,
    ) -> list[LeaseEntry]:
        return [self._entry(view) for view in self.leases(filters, sort, limit, marker)]

    def _entry(self, view: Document) -> LeaseEntry:
        """Return the entry of a lease, with a new revision if a test or a request has changed the lease."""
        content = copy.deepcopy({key: value for key, value in view.items() if key != "revision"})
        if self._listed.get(view["id"], content) != content:
            self._revision += 1
            view["revision"] = self._revision
        self._listed[view["id"]] = content
        return LeaseEntry(
            view["id"],
            view["project_id"],
            view["revision"],
            view["operation"],
            len(view["breaches"]),
            view["idle_since"],
        )

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        return frozenset(ids) & {str(view["trust_id"]) for view in self.views.values()}

    def leases_by_id(self, ids: Sequence[str]) -> list[Document]:
        return [self.views[each] for each in ids if each in self.views]

    def lease_projects(self) -> list[str]:
        return sorted({view["project_id"] for view in self.views.values()})

    def unit_names(self, units: Collection[str]) -> dict[str, str]:
        return {unit: self.host_rows[unit]["name"] for unit in units if unit in self.host_rows}

    def subscriptions(self, project_id: str | None = None) -> list[Document]:
        return [row for row in self.subscription_rows.values() if project_id in (None, row["project_id"])]

    def subscription(self, subscription_id: str) -> Document | None:
        return self.subscription_rows.get(subscription_id)

    def feeds(self, project_id: str | None = None) -> list[Document]:
        return [row for row in self.feed_rows.values() if project_id in (None, row["project_id"])]

    def feed(self, feed_id: str) -> Document | None:
        return self.feed_rows.get(feed_id)

    def feed_owner(self, digest: str) -> tuple[str, str] | None:
        found = [row for row in self.feed_rows.values() if row["digest"] == digest]
        return (found[0]["project_id"], digest) if found else None

    def history(self, lease_id: str) -> list[Document]:
        entry = {"instant": NOW, "from": "new", "to": self.views[lease_id]["state"], "reason": "because"}
        actors = [("ada", self.views[lease_id]["project_id"]), ("root", "operators"), (None, None)]
        return [
            {**entry, "sequence": number, "user_id": user, "project_id": project}
            for number, (user, project) in enumerate(actors, start=7)
        ]

    def events(self, since: int, limit: int, project_id: str | None = None, origin: str | None = None) -> EventPage:
        found = [
            Event(number, view["project_id"], Transition(lease_id, NOW, "new", view["state"], "because"))
            for number, (lease_id, view) in enumerate(self.views.items(), start=1)
            if number > since
            and (project_id in (None, view["project_id"]) or (origin is not None and origin == view["origin"]))
        ]
        return EventPage(tuple(found[:limit]), len(self.views), more=False)

    def hosts(self) -> list[Document]:
        return list(self.host_rows.values())

    def host(self, host_id: str) -> Document | None:
        return self.host_rows.get(host_id)

    def arrivals(self) -> dict[str, Document]:
        return self.known_arrivals

    def host_properties(self) -> list[Document]:
        names = sorted({name for host in self.host_rows.values() for name in host["properties"]})
        return [
            {
                "property": name,
                "private": name in self.private,
                "values": sorted({host["properties"].get(name, "") for host in self.host_rows.values()} - {""}),
            }
            for name in names
        ]

    def floatingips(self) -> list[Document]:
        return list(self.addresses.values())

    def floatingip(self, floatingip_id: str) -> Document | None:
        return self.addresses.get(floatingip_id)

    def allocations(
        self,
        lease_id: str | None = None,
        reservation_id: str | None = None,
        host_id: str | None = None,
        now: int = 0,
    ) -> list[Document]:
        held = [
            {"id": reservation["id"], "lease_id": view["id"], "start": view["start"], "end": view["end"]}
            for view in self.views.values()
            for reservation in view["reservations"]
            if lease_id in (None, view["id"]) and reservation_id in (None, reservation["id"])
        ]
        return [
            {"resource_id": each, "reservations": held if each == "1" else []}
            for each in self.host_rows
            if host_id in (None, each)
        ]

    def usage(self, project_id: str | None, start: int, end: int, now: int, step: int | None = None) -> list[Document]:
        self.calls.append(("usage", project_id, start, end, now, step))
        return [row for row in self.usage_rows if project_id in (None, row["project_id"])]

    def revenue(self, project_id: str | None, start: int, end: int, step: int | None = None) -> list[Document]:
        self.calls.append(("revenue", project_id, start, end))
        return [row for row in self.revenue_rows if project_id in (None, row["project_id"])]

    def delays(self, project_id: str | None, start: int, end: int) -> list[Document]:
        return [row for row in self.delay_rows if project_id in (None, row["project_id"])]

    def capacity(self, start: int, end: int, step: int | None = None) -> list[Document]:
        return self.capacity_rows

    def penalties(self, project_id: str | None, start: int, end: int) -> list[Document]:
        self.calls.append(("penalties", project_id, start, end))
        return [row for row in self.penalty_rows if project_id in (None, row["project_id"])]

    def site_version(self) -> SiteVersion:
        self.calls.append(("site_version",))
        return SiteVersion(1, self.calendar_document["revision"])

    def calendar_index(self, start: int, end: int) -> CalendarIndex:
        self.calls.append(("calendar_index", start, end))
        return CalendarIndex(SiteVersion(1, self.calendar_document["revision"]), self._entries(-1))

    def calendar_changes(self, since: int, start: int, end: int, most: int) -> CalendarIndex | None:
        self.calls.append(("calendar_changes", since, start, end))
        version = SiteVersion(1, self.calendar_document["revision"])
        return CalendarIndex(version, self._entries(since), self.calendar_document["removed"])

    def _entries(self, since: int) -> list[CalendarEntry]:
        leases = self.calendar_document["leases"]
        return [CalendarEntry(each["id"], each["revision"], None) for each in leases if each["revision"] > since]

    def calendar_leases(self, ids: Sequence[str]) -> list[Document]:
        self.calls.append(("calendar_leases", *ids))
        return [copy.deepcopy(each) for each in self.calendar_document["leases"] if each["id"] in ids]

    def calendar_hosts(self) -> list[Document]:
        self.calls.append(("calendar_hosts",))
        return [{"power": None, "watts": {}, **each} for each in copy.deepcopy(self.calendar_document["hosts"])]

    def held_hosts(self, now: int) -> HeldHosts:
        self.calls.append(("held_hosts", now))
        held = [each for lease in self.calendar_document["leases"] for each in lease["holdings"]]
        present = [each for each in held if each["start"] <= now < each["end"]]
        edges = [each[edge] for each in held for edge in ("start", "end") if each[edge] > now]
        return HeldHosts(frozenset(host for each in present for host in each["hosts"]), min(edges, default=None))

    def lease_states(self, project_id: str | None) -> dict[str, int]:
        self.calls.append(("lease_states", project_id))
        leases = self.calendar_document["leases"]
        return dict(Counter(each["state"] for each in leases if project_id in (None, each["project_id"])))

    def leases_at_sites(self, project_id: str | None) -> dict[str, int]:
        shown = [each for each in self.views.values() if project_id in (None, each["project_id"])]
        return dict(Counter(each["site"] for each in shown if each.get("site")))

    def series(self, project_id: str | None = None) -> list[Document]:
        return [row for row in self.series_rows.values() if project_id in (None, row["project_id"])]

    def serie(self, series_id: str) -> Document | None:
        return self.series_rows.get(series_id)
