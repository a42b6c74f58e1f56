"""Reasons of refusals: a closed list, so that programs can act on them."""

from __future__ import annotations

from enum import StrEnum


class RefusalReason(StrEnum):
    """The reason of a refusal. The value is the word that other programs see."""

    #: The start has passed.
    PAST = "past"
    #: No host is large enough for a node, or the whole site is too small for the lease.
    SIZE = "size"
    #: No host that is large enough has the required traits.
    TRAITS = "traits"
    #: Other leases hold the capacity at that time.
    CAPACITY = "capacity"
    #: There is no place before the deadline.
    DEADLINE = "deadline"
    #: There would be a place if all hosts were awake.
    ASLEEP = "asleep"
    #: Its disk image would reach the hosts too late.
    IMAGE = "image"
    #: Leases on its hosts cannot be moved.
    IN_THE_WAY = "in-the-way"
    #: An operation of the lease is in progress.
    BUSY = "busy"
    #: A policy of the site does not allow it.
    POLICY = "policy"
    #: It costs more than the project is willing to pay.
    PRICE = "price"
    #: The requested lifetime cannot be promised.
    ASSURANCE = "assurance"
    #: The site does not share CPU in the way that the lease asks for.
    FRACTIONAL = "fractional"
    #: The lease awaits approval, or too many leases of the project do.
    APPROVAL = "approval"
    #: A quota of the project would be exceeded.
    QUOTA = "quota"
    #: A budget of the project would be exceeded.
    BUDGET = "budget"
    #: It exceeds a limit of the site for every lease, such as the longest duration.
    LIMIT = "limit"
    #: An external service that the operator asks refuses it.
    EXTERNAL = "external"
    #: It had its hosts, but could not be started.
    START = "start"
    #: Another lease has the id that the client has chosen.
    ID_TAKEN = "id-taken"
    #: The site does not lease to the project: it has no counterpart there, or the peer may not lease for it.
    PROJECT = "project"
    #: The site has passed the request on already.
    LOOP = "loop"
    #: The request was passed on too often.
    DEPTH = "depth"

    @classmethod
    def known(cls, value: str | None) -> RefusalReason | None:
        """Return the reason with a value, or None if it is None or of a version that knows more reasons."""
        return None if value is None or value not in cls._value2member_map_ else cls(value)
