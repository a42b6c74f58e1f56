"""``BudgetFilter``: limits how much resource-time a project uses and reserves within a calendar period."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.refusals import RefusalReason
from lease_scheduler.model.resources import MEMORY_MB, VCPU
from lease_scheduler.service.core.changed_terms import in_utc
from lease_scheduler.service.requests.enforcement.base import (
    Account,
    ChangeProposal,
    Extension,
    FilterOptions,
    Proposal,
    ShorterExtensionError,
)
from lease_scheduler.service.requests.enforcement.consumption import NODES, Claim, by_period, claims, shortened
from lease_scheduler.service.requests.enforcement.counting import HOUR
from lease_scheduler.service.requests.enforcement.limits import PREFIX, parse_lines
from lease_scheduler.service.requests.enforcement.periods import Period, period_at

#: Maximum number of periods in a statement.
_MOST_PERIODS = 12

_MINUTE = 60

#: Amount-seconds by the start of the period and the resource class.
_Sums = Counter[tuple[int, str]]


@dataclass(frozen=True)
class Measure:
    """A measure of resource-time that a budget limits.

    :ivar name: such as ``node_hours``
    :ivar key: resource class, or ``NODES``
    :ivar unit: amount-seconds in one unit
    """

    name: str
    key: str
    unit: int


_MEASURES = (
    Measure("node_hours", NODES, HOUR),
    Measure("vcpu_hours", VCPU, HOUR),
    Measure("memory_gb_hours", MEMORY_MB, 1_024 * HOUR),
)


@dataclass(frozen=True)
class Line:
    """The budget of a project for one measure in the period ``[start, end)``, in amount-seconds.

    :ivar limit: what the project may use in the period
    :ivar used: what it has used of that so far
    :ivar reserved: what its other live leases will still use by their plan
    :ivar requested: what the proposed lease will still use by its plan
    """

    measure: Measure
    start: int
    end: int
    limit: int
    used: int
    reserved: int
    requested: int

    @property
    def left(self) -> int:
        """What is left; negative if the project has, or would have, more than its budget."""
        return self.limit - self.used - self.reserved - self.requested

    @property
    def key(self) -> tuple[int, str]:
        """Key of the amounts of the line in ``_Sums``."""
        return self.start, self.measure.key

    def shown(self) -> Document:
        """Return the line in units of its measure."""
        amounts = {name: getattr(self, name) for name in ("limit", "used", "reserved", "requested", "left")}
        return {
            "measure": self.measure.name,
            "start": self.start,
            "end": self.end,
            **{name: amount / self.measure.unit for name, amount in amounts.items()},
        }


class BudgetFilter:
    """Filter with the options ``budget_...`` and ``project_budgets``, or limits from Keystone; -1 means no limit.

    :raises InvalidValueError: ``project_budgets`` is malformed, or ``budget_resource_hours`` names a class that has an
        option of its own
    """

    follows = False
    weighs_plan = True

    def __init__(self, options: FilterOptions) -> None:
        values = options.values
        self._period = Period(values["budget_period"])
        self._measures = {each.name: each for each in (*_MEASURES, *_others(values["budget_resource_hours"]))}
        defaults = {each.name: values[f"budget_{each.name}"] for each in _MEASURES}
        defaults |= {f"{name}_hours": hours for name, hours in values["budget_resource_hours"].items()}
        self._defaults: Mapping[str, int] = defaults
        # Parsed even if Keystone's limits apply, so that a mistake is found at once.
        self._projects = parse_lines("project_budgets", values["project_budgets"], list(self._measures))
        self._exempt = frozenset(values["budget_exempt_project_ids"])
        self._ask = options.unified_limits

    def check_create(self, context: Document, proposal: Proposal) -> None:
        """Refuse a lease for which the budget of a period does not suffice."""
        assert proposal.account is not None and proposal.planned is not None
        self._check(proposal.account, proposal.planned, None)

    def check_update(self, context: Document, change: ChangeProposal) -> None:
        """Refuse a change that uses more of a period than before, if the budget of the period does not suffice.

        :raises ShorterExtensionError: the budget does not suffice for an extension. It has the extension for which the
            budget suffices, in whole minutes
        """
        current = change.current
        if change.planned is not None:
            assert current.account is not None
            self._check(current.account, change.planned, current.planned, change.extension)

    def on_end(self, lease: Document) -> None:
        """Do nothing, as usage and plans are added up at each check."""

    def statement(self, account: Account, lease: Lease | None) -> list[Document]:
        """Return what is left, by period and measure; nothing if the project has no budget.

        :param lease: a proposed lease, for what it would leave in the periods in which it uses something; None for what
            is left now, in the present period and in those in which live leases will use something
        :return: lines of the earliest periods, at most 12. Each has ``measure``, ``start`` and ``end`` (instants), and
            in units of the measure ``limit``, ``used``, ``reserved``, ``requested`` and ``left``
        :raises EngineUnavailableError: the limits cannot be read at present
        """
        limits = self._limits(account.project_id)
        if not limits:
            return []
        if lease is not None:
            own = by_period(self._period, claims(lease, account.hosts, account.now))
            starts = {start for start, _ in own}
        else:
            own = Counter()
            starts = {period_at(self._period, account.now)[0], *(start for start, _ in self._reserved(account))}
        return [line.shown() for line in self._lines(account, limits, own, sorted(starts)[:_MOST_PERIODS])]

    def _check(self, account: Account, after: Lease, before: Lease | None, extension: Extension | None = None) -> None:
        limits = self._limits(account.project_id)
        if not limits:
            return
        hosts, now = account.hosts, account.now
        had = _Sums() if before is None else by_period(self._period, claims(before, hosts, now))
        asked = claims(after, hosts, now)
        own = by_period(self._period, asked)
        more = {start for (start, name), amount in own.items() if amount > had[start, name]}
        lines = self._lines(account, limits, own, more)
        exceeded = _exceeded(lines, own, had)
        if exceeded is None:
            return
        refusal = _refusal(exceeded, after, now, is_change=before is not None)
        if extension is None:
            raise refusal
        added = self._longest(extension.added, asked, lines, had)
        raise ShorterExtensionError(refusal.message, refusal.field, added)

    def _longest(self, added: int, asked: Sequence[Claim], lines: Sequence[Line], had: _Sums) -> int:
        """Return the seconds of the longest extension for which the budgets suffice, in whole minutes.

        :param added: seconds of the extension for which they do not suffice
        """

        def is_too_long(fewer: int) -> bool:
            own = by_period(self._period, shortened(asked, added - fewer))
            return _exceeded(lines, own, had) is not None

        longest = bisect_left(range(1, added + 1), True, key=is_too_long)
        return longest - longest % _MINUTE

    def _limits(self, project_id: str) -> dict[str, int]:
        """Return the limits of a project in units of their measures, without those that are -1."""
        if project_id in self._exempt:
            return {}
        if self._ask is None:
            found = {**self._defaults, **self._projects.get(project_id, {})}
        else:
            asked = self._ask(project_id, [f"{PREFIX}budget_{name}" for name in self._measures])
            found = {name: asked[f"{PREFIX}budget_{name}"] for name in self._measures}
        return {name: limit for name, limit in found.items() if limit >= 0}

    def _reserved(self, account: Account) -> _Sums:
        found = (claim for lease in account.live for claim in claims(lease, account.hosts, account.now))
        return by_period(self._period, found)

    def _lines(self, account: Account, limits: Mapping[str, int], own: _Sums, starts: Iterable[int]) -> list[Line]:
        """Return the lines of some periods, in order.

        :param own: amount-seconds of the proposed lease by period
        """
        present = period_at(self._period, account.now)[0]
        wanted = sorted(starts)
        used: Mapping[str, int] = account.used(present) if present in wanted else {}
        held = self._reserved(account) if wanted else _Sums()
        lines = []
        for start in wanted:
            end = period_at(self._period, start)[1]
            for name, limit in limits.items():
                measure = self._measures[name]
                key = measure.key
                so_far = used.get(key, 0) if start == present else 0
                amounts = limit * measure.unit, so_far, held[start, key], own[start, key]
                lines.append(Line(measure, start, end, *amounts))
        return lines


def _others(classes: Mapping[str, Any]) -> Sequence[Measure]:
    """Return measures of further resource classes.

    :raises InvalidValueError: a class has an option of its own
    """
    for name, option in ((VCPU, "budget_vcpu_hours"), (MEMORY_MB, "budget_memory_gb_hours")):
        if name in classes:
            raise InvalidValueError("enforcement.budget_resource_hours", f"{name}: set {option} instead")
    return [Measure(f"{name}_hours", name, HOUR) for name in classes]


def _exceeded(lines: Sequence[Line], own: _Sums, had: _Sums) -> Line | None:
    """Return the first line that the proposal exceeds and of which it uses more than before, or None.

    :param own: sums of the proposal, which may be a shorter one than the lines have
    :param had: sums of the lease before the change
    """
    for line in lines:
        wanted = own[line.key]
        if line.left + line.requested < wanted and wanted > had[line.key]:
            return line
    return None


def _refusal(line: Line, lease: Lease, now: int, *, is_change: bool) -> RefusedError:
    """Return the refusal of a lease that exceeds a budget."""
    field = "end_date" if lease.kind is LeaseKind.RESERVATION else "duration"
    unit, name = line.measure.unit, line.measure.name
    left = _number(max(0, floor(100 * (line.left + line.requested) / unit)))
    needed = _number(ceil(100 * line.requested / unit))
    when = f"until {in_utc(line.end)}" if line.start <= now else f"from {in_utc(line.start)} to {in_utc(line.end)}"
    what = "the changed lease would still use" if is_change else "the lease would use"
    return RefusedError(
        403,
        f"{field}: the project has {left} of {line.limit // unit} {name} left {when} (budget_{name}), and {what} "
        f"{needed} in this time; make it shorter or smaller, move it to another time, or end other leases of the "
        "project",
        field,
        reason=RefusalReason.BUDGET,
    )


def _number(hundredths: int) -> str:
    """Return a number with as many digits after the point as it needs."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
