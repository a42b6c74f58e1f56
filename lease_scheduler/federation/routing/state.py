"""What a router remembers from one request to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError


@dataclass(frozen=True)
class RoutingState:
    """What a router remembers.

    :ivar last: name of the member that got the last request; None before the first one
    :ivar served: position of each member in each sequence of requests: sequence -> member -> number of requests that it
        got, over its share. See ``routing.dispatch.sequence``
    """

    last: str | None = None
    served: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def as_document(self) -> Document:
        """Return it as a JSON object."""
        return {"last": self.last, "served": {name: dict(each) for name, each in self.served.items()}}

    @classmethod
    def restored(cls, document: Document) -> RoutingState:
        """Return the state that was stored.

        :raises InvalidValueError: the document is no stored state
        """
        try:
            last = None if document["last"] is None else str(document["last"])
            served = {
                str(sequence): {str(name): float(position) for name, position in positions.items()}
                for sequence, positions in document["served"].items()
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InvalidValueError("document", "is no stored state of a router; leave it out to begin anew") from None
        if not all(isfinite(each) and each >= 0 for positions in served.values() for each in positions.values()):
            raise InvalidValueError("document.served", "must have finite numbers of at least 0")
        return cls(last, served)
