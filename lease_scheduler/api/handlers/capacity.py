"""Capacity: how many hosts the site can spare or lacks, judged by past use, and yields with fewer hosts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.microversions import V1_35
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document
from lease_scheduler.model.progress import FULL
from lease_scheduler.model.providers import together
from lease_scheduler.prediction.capacity import HIGHEST, PROMISES, Use, capacity_report

_HOUR, _DAY = 3_600, 86_400
_PERIOD = 90 * _DAY
#: Longest period of one report. Every hour of it is a step.
_LONGEST = 2 * 366 * _DAY
_MOST_PROMISES = 16
_MOST_COUNTS, _MOST_HOSTS = 16, 100_000


def show(request: ApiRequest) -> Answer:
    """Show how many hosts the use of all projects needs, for each promise; if asked, also yields with fewer hosts."""
    query, now = request.query, request.now
    end = dates.parse_date(query["end"], "end", now, request.version) if "end" in query else now
    start = dates.parse_date(query["start"], "start", now, request.version) if "start" in query else end - _PERIOD
    if end <= max(0, start):
        raise ApiError(400, "end: must be later than start", "end")
    start = max(0, start)
    if end - start > _LONGEST:
        raise ApiError(400, "start: must be at most two years before end", "start")
    promises = _promises(query["promises"]) if "promises" in query else PROMISES
    fewer = _parse_counts(query["fewer_hosts"]) if "fewer_hosts" in query else ()
    hosts = [host for host in request.reader.hosts() if host["reservable"]]
    # Use of the future is not known, whatever end was asked for.
    until = min(end, now)
    uses = _hourly_use(request.reader.usage(None, start, until, now, _HOUR) if until > start else (), hosts, until)
    report = capacity_report(uses, len(hosts), promises)
    shown = {"start": dates.iso_date(start), "end": dates.iso_date(end), **report.document()}
    if request.version >= V1_35:
        # Only this needs the engine; the rest comes from the database.
        found = request.engine.list_least_yields(request.context(), [*fewer])["least_yields"] if fewer else ()
        shown["least_yields"] = [{**each, "least_yield": _shown(each["least_yield"])} for each in found]
    return Answer({"capacity": shown})


def _promises(text: str) -> Sequence[float]:
    found = []
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value <= HIGHEST:
            problem = f"promises: must be numbers of more than 0 and at most {HIGHEST}, not {part[:40]!r}"
            raise ApiError(400, problem, "promises")
        found.append(value)
    if len(found) > _MOST_PROMISES:
        raise ApiError(400, f"promises: must be at most {_MOST_PROMISES}, not {len(found)}", "promises")
    return found


def _parse_counts(text: str) -> list[int]:
    parts = text.split(",")
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= 6 and int(part) <= _MOST_HOSTS):
            problem = f"fewer_hosts: must be whole numbers of at most {_MOST_HOSTS}, not {part[:40]!r}"
            raise ApiError(400, problem, "fewer_hosts")
    if len(parts) > _MOST_COUNTS:
        raise ApiError(400, f"fewer_hosts: must be at most {_MOST_COUNTS}, not {len(parts)}", "fewer_hosts")
    return sorted({int(part) for part in parts})


def _shown(least_yield: float | None) -> float | None:
    """Return a yield in thousandths, rounded down like the yields of leases."""
    return None if least_yield is None else math.floor(least_yield * FULL + 1e-6) / FULL


def _hourly_use(rows: Iterable[Document], hosts: Sequence[Document], until: int) -> list[Use]:
    """Return the mean use of each hour, in hosts of the present mean size, by the most contended resource class."""
    sizes: defaultdict[str, int] = defaultdict(int)
    for host in hosts:
        whole = together(host["capacity"], (each["capacity"] for each in host["providers"] or ()))
        for name, amount in whole.items():
            sizes[name] += amount
    used: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        of_hour = used[row["start"]]
        for name, seconds in row["resource_seconds"].items():
            of_hour[name] += seconds
    found = []
    for start, amounts in used.items():
        finish = min(until, start - start % _HOUR + _HOUR)
        shares = (seconds / sizes[name] for name, seconds in amounts.items() if sizes.get(name))
        found.append(Use(start, finish, max(shares, default=0.0) / (finish - start) * len(hosts)))
    return found
