"""The microversions."""

from __future__ import annotations

from functools import cache

import microversion_parse
from microversion_parse import Version

from lease_scheduler.model.attributes import Keyed

__all__ = ["HEADER", "HISTORY", "MAXIMUM", "MINIMUM", "V1_0", "VERSIONS", "Version", "header", "known_keys", "reaches"]

SERVICE_TYPE = "reservation"
HEADER = "OpenStack-API-Version"

#: What each microversion added. doc/source/api/microversions.rst has the details.
HISTORY: dict[str, str] = {
    "1.0": "The interface of Blazar 18.",
    "1.1": "Lists of leases page, sort and filter; GET /calendar for the calendar page.",
    "1.2": "Lease kinds, duration, deadline, preemption, nodes; ISO 8601 dates; or, not, in; state and reason.",
    "1.3": "Server templates of managed leases, and what happens to the servers at the end (on_end).",
    "1.4": "GET /leases/{id}/history; deleted leases can be read.",
    "1.5": "GET /availability.",
    "1.6": "POST /quotes: what a lease would come to.",
    "1.7": "POST /leases/{id}/action: extend, shrink, move, end, cancel; GET /leases/{id}/hosts.",
    "1.8": "Maintenances: administrators keep hosts free of leases.",
    "1.9": "Series: leases that repeat by an iCalendar rule.",
    "1.10": "GET /usage: node-hours and resource-hours of a project.",
    "1.11": "GET /leases.ics: the leases of a project as an iCalendar feed.",
    "1.12": "Prices: max_price, price and revenue; quotes that are held until they are accepted or rejected.",
    "1.13": "Servers of managed leases that boot from volumes.",
    "1.14": "GET /usage by steps of time, with how many leases were done and how long they waited.",
    "1.15": "Counter-offers; prices of changes before they are made; breaches of terms and penalties.",
    "1.16": "Leases show their number and extras; lists by number, and of leases that are not over (live).",
    "1.17": "Availability, quotes and alternatives with and without preemption: free, preempted_kinds.",
    "1.18": "Leases have a description; a client may choose the id of a new lease (id), so that a retry is safe.",
    "1.19": "Leases have an origin: the peer site or gateway on whose behalf they were requested.",
    "1.20": "Subscriptions: projects are told about their leases by signed webhooks or mails.",
    "1.21": "Leases show since when their servers use nothing (idle_since).",
    "1.22": "Feeds: secret addresses at which calendar programs read the leases of a project.",
    "1.23": "Elastic nodes: least_resources in requests, what was granted in leases and quotes.",
    "1.24": "Nested resource providers: groups of nodes, such as GPUs with a trait; resources and providers of hosts.",
    "1.25": "Flows: shares of projects, their weights, and when queued leases are expected to start.",
    "1.26": "Pools: leases, quotes, availability and hosts name theirs; GET /pools.",
    "1.27": "Hosts that sleep: POST /os-hosts/{id}/action; hosts show power_state, power_since and energy_saved_wh.",
    "1.28": "Flows show their shares of each hour of the last day (hours); GET /flows?visible=true.",
    "1.29": "POST /leases/{id}/action: ready, the answer of a lease to the warning that it will be preempted.",
    "1.30": "Assured lifetimes of preemptible leases: min_lifetime, assurance, await_assurance, and what is promised.",
    "1.31": "Flows show why a queued lease cannot start at present (blocked).",
    "1.32": "GET /capacity: how many hosts can go, or are missing, at which promise.",
    "1.33": "Leases that wait show by when they are expected to start (expectation); GET /forecasts.",
    "1.34": "Fluid leases, which share CPU: min_yield; their yield, virtual_time and stretch.",
    "1.35": "GET /capacity?fewer_hosts: what fluid leases would get with fewer hosts (least_yields).",
    "1.36": "Series follow the clocks of a time zone (time_zone).",
    "1.37": "The history shows who asked for what (user_id, project_id, by_operator).",
    "1.38": "Reservations show how many nodes they have (granted_nodes).",
    "1.39": "Leases and quotes show when they are preempted and by when they end (preempted_at, latest_end).",
    "1.40": "GET /v1/leases/{lease_id}/names and GET /v1/projects: names of projects and users.",
    "1.41": "GET /v1/budget: what a project may still use in a period; quotes show what would be left (budget).",
    "1.42": "POST /leases/{id}/action: approve, decline; the state awaiting-approval; leases and quotes show approval.",
    "1.43": "Refusals of leases, changes and quotes have a reason for programs (reason_code).",
    "1.44": "GET /events: what happened to leases, in one sequence, for programs that follow a site.",
    "1.45": "Leases of all kinds, and leases that could start at once, can be held (hold).",
    "1.46": "Peers: the limits of other sites and gateways, and what they have (GET, PUT, DELETE /peers).",
    "1.47": "Held quotes take an id and an expires_at, so that a retry is safe; entries of a history have a sequence.",
    "1.48": "Peers say for whom they ask (on_behalf_of, path), see what the site is (GET /member), and can withdraw "
    "requests (PUT /withdrawals).",
    "1.49": "Behind a gateway, leases and quotes name their site; leases have site_lease_id and unreachable.",
    "1.50": "Peers request leases for projects (on_behalf_of.project_id) that their limits name (projects), and are "
    "told the events of these leases; behind a gateway, leases have site_project_id.",
    "1.51": "Gateways show their sites (GET /sites), list leases by site, and ask only the site that a request names.",
}

VERSIONS: tuple[Version, ...] = tuple(microversion_parse.parse_version_string(text) for text in HISTORY)
MINIMUM, MAXIMUM = VERSIONS[0], VERSIONS[-1]
V1_0, V1_1, V1_2, V1_3, V1_4, V1_5, V1_6, V1_7, V1_8, V1_9 = VERSIONS[:10]
V1_10, V1_11, V1_12, V1_13, V1_14, V1_15, V1_16, V1_17, V1_18, V1_19 = VERSIONS[10:20]
V1_20, V1_21, V1_22, V1_23, V1_24, V1_25, V1_26, V1_27, V1_28, V1_29 = VERSIONS[20:30]
V1_30, V1_31, V1_32, V1_33, V1_34, V1_35, V1_36, V1_37, V1_38, V1_39 = VERSIONS[30:40]
V1_40, V1_41, V1_42, V1_43, V1_44, V1_45, V1_46, V1_47, V1_48, V1_49 = VERSIONS[40:50]
V1_50, V1_51 = VERSIONS[50:52]


def reaches(version: Version, since: str | None) -> bool:
    """Return whether a microversion has what ``since`` added; False if ``since`` is None."""
    return since is not None and version >= _parsed(since)


def known_keys(kind: Keyed, version: Version) -> list[str]:
    """Return the keys that an attribute has at a microversion."""
    return [key for key in (*kind.required, *kind.optional) if version >= _parsed(kind.added.get(key, "1.0"))]


@cache
def _parsed(text: str) -> Version:
    return microversion_parse.parse_version_string(text)


def header(version: Version) -> str:
    """Return the header with which a request asks for a microversion."""
    return f"{HEADER}: {SERVICE_TYPE} {version}"
