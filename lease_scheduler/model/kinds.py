"""Kinds of lease, and how a lease leaves its hosts when others need them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Self


@dataclass(frozen=True)
class _KindTraits:
    """See ``LeaseKind``."""

    word: str
    precedence: int
    promises_interval: bool = False
    has_start: bool = False
    is_prepared: bool = False
    is_preemptor: bool = False
    is_preemptible_by_default: bool = False


class LeaseKind(Enum):
    """The four kinds of lease; the value is the word that users see.

    :ivar precedence: rank among leases that lose their hosts and need new ones; the lowest gets new hosts first
    :ivar promises_interval: whether the lease is promised hosts for one interval, which is never moved in time
    :ivar has_start: whether the terms name a start
    :ivar is_prepared: whether servers may be booted and images brought ahead of the start
    :ivar is_preemptor: whether others may be preempted for the lease by default
    :ivar is_preemptible_by_default: whether the lease may be preempted unless the request says otherwise
    """

    RESERVATION = _KindTraits(
        "reservation",
        precedence=0,
        promises_interval=True,
        has_start=True,
        is_prepared=True,
        is_preemptor=True,
    )
    IMMEDIATE = _KindTraits("immediate", precedence=1, promises_interval=True)
    DEADLINE = _KindTraits(
        "deadline",
        precedence=2,
        has_start=True,
        is_prepared=True,
        is_preemptor=True,
        is_preemptible_by_default=True,
    )
    BEST_EFFORT = _KindTraits("best-effort", precedence=3, is_preemptible_by_default=True)

    _value_: str
    precedence: int
    promises_interval: bool
    has_start: bool
    is_prepared: bool
    is_preemptor: bool
    is_preemptible_by_default: bool

    def __new__(cls, traits: _KindTraits) -> Self:
        """Make the member whose value is the word."""
        member = object.__new__(cls)
        member._value_ = traits.word
        member.precedence = traits.precedence
        member.promises_interval = traits.promises_interval
        member.has_start = traits.has_start
        member.is_prepared = traits.is_prepared
        member.is_preemptor = traits.is_preemptor
        member.is_preemptible_by_default = traits.is_preemptible_by_default
        return member

    __hash__ = object.__hash__


class PreemptionMode(Enum):
    """What happens to a lease when it is preempted.

    * ``SHELVE`` copies disks to the image store; the servers can start again on any host.
    * ``SUSPEND`` saves the memory, as in Haizea.
    * ``STOP`` switches the servers off and leaves them on their hosts.
    * ``DELETE`` discards the work, which starts over.
    * ``MIGRATE`` moves running servers to free hosts, and shelves them if there are none.
    * ``NONE`` means that the lease is never preempted.
    """

    SHELVE = "shelve"
    SUSPEND = "suspend"
    STOP = "stop"
    DELETE = "delete"
    MIGRATE = "migrate"
    NONE = "none"

    __hash__ = object.__hash__

    @property
    def saves_state(self) -> bool:
        """Whether the lease resumes later with its memory, or at least with its disks."""
        return self not in (PreemptionMode.DELETE, PreemptionMode.NONE)

    @property
    def leaves_host(self) -> bool:
        """Whether the saved state is kept outside of the hosts, so that it survives them and can resume on any host."""
        return self in (PreemptionMode.SHELVE, PreemptionMode.MIGRATE)


class Assured(Enum):
    """Basis of the assured lifetime of a preemptible lease, or its breach.

    * ``PLANNED``: no other lease may preempt the lease in this time.
    * ``STATISTICAL``: the lifetime is estimated from how the demand of others grew in the past.
    * ``BROKEN``: the lease was preempted, or failed, before its lifetime was over.
    """

    PLANNED = "planned"
    STATISTICAL = "statistical"
    BROKEN = "broken"

    __hash__ = object.__hash__
