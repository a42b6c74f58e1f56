"""Why a request is refused: a closed list, for programs that decide by it."""

from __future__ import annotations

from enum import StrEnum


class RefusalReason(StrEnum):
    """The reason of a refusal. The value is the word that other programs see."""

    #: The start has passed.
    PAST = "past"
    #: No host is large enough, or not even the empty site could hold the lease.
    SIZE = "size"
    #: No host that is large enough has the traits.
    TRAITS = "traits"
    #: Others have what the lease needs, at that time.
    CAPACITY = "capacity"
    #: There is no place before the deadline.
    DEADLINE = "deadline"
    #: There would be a place if all hosts were awake.
    ASLEEP = "asleep"
    #: Its disk image would come too late.
    IMAGE = "image"
    #: Leases on its hosts cannot be moved.
    IN_THE_WAY = "in-the-way"
    #: An operation of the lease is going on.
    BUSY = "busy"
    #: A policy of the site does not allow it.
    POLICY = "policy"
    #: It costs more than its project would pay.
    PRICE = "price"
    #: The lifetime cannot be promised.
    ASSURANCE = "assurance"
    #: The site does not share CPU as the lease asks.
    FRACTIONAL = "fractional"
    #: It awaits the approval of an administrator.
    APPROVAL = "approval"
