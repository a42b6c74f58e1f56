"""Capacity: how many hosts can go, or are missing, by what was used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lease_scheduler.api import dates
from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.request import Answer, ApiRequest
from lease_scheduler.model.documents import Document
from lease_scheduler.model.providers import together
from lease_scheduler.prediction.capacity import HIGHEST, PROMISES, Use, capacity_report

_HOUR, _DAY = 3_600, 86_400
_PERIOD = 90 * _DAY
#: Longest period of one report. Every hour of it is a step.
_LONGEST = 2 * 366 * _DAY
_MOST_PROMISES = 16


def show(request: ApiRequest) -> Answer:
    """Show how many hosts the use of all projects takes, for each promise."""
    query, now = request.query, request.now
    end = dates.parse_date(query["end"], "end", now, request.version) if "end" in query else now
    start = dates.parse_date(query["start"], "start", now, request.version) if "start" in query else end - _PERIOD
    if end <= max(0, start):
        raise ApiError(400, "end: must be later than start", "end")
    start = max(0, start)
    if end - start > _LONGEST:
        raise ApiError(400, "start: must be at most two years before end", "start")
    promises = _promises(query["promises"]) if "promises" in query else PROMISES
    hosts = [host for host in request.reader.hosts() if host["reservable"]]
    # Use of the future is not known, whatever end was asked for.
    until = min(end, now)
    uses = _uses(request.reader.usage(None, start, until, now, _HOUR) if until > start else (), hosts, until)
    report = capacity_report(uses, len(hosts), promises)
    return Answer({"capacity": {"start": dates.iso_date(start), "end": dates.iso_date(end), **report.document()}})


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


def _uses(rows: Iterable[Document], hosts: Sequence[Document], until: int) -> list[Use]:
    """Return the mean use of each hour in hosts of the present mean size, by the class of which that is the most."""
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
