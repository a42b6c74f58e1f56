"""Errors of the API and the two forms of body in which Blazar's clients expect them (anchors A.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.model.errors import LeaseSchedulerError


class ApiError(LeaseSchedulerError):
    """A request that cannot be served.

    :param code: HTTP status
    :param message: what is wrong, and what would be right
    :param field: the part of the request that is wrong, as a JSON path, none if no single one
    :param alternatives: what would be possible instead, ready to be shown
    """

    def __init__(
        self,
        code: int,
        message: str,
        field: str | None = None,
        alternatives: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.alternatives = tuple(alternatives)

    def body(self, extended: bool) -> dict[str, Any]:
        """The body of the answer; ``extended`` adds what Blazar does not have."""
        body: dict[str, Any] = {"error_code": self.code, "error_message": self.message, "error_name": self.code}
        if extended and self.field is not None:
            body["field"] = self.field
        if extended and self.alternatives:
            body["alternatives"] = [dict(alternative) for alternative in self.alternatives]
        return body


class FrameworkError(ApiError):
    """A request that reaches no handler: no such route, method or microversion. Its body is of the other form."""

    def body(self, extended: bool) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.code, "error_message": self.message}


def not_found(**keys: str) -> ApiError:
    """There is no such object, in Blazar's words."""
    return ApiError(404, f"Object with {keys} not found", next(iter(keys)))


def forbidden(rule: str) -> ApiError:
    """The policy says no, in Blazar's words."""
    return ApiError(403, f"Policy doesn't allow {rule} to be performed.")


#: The body of an error that is our own fault.
INTERNAL_ERROR = {
    "error_code": 500,
    "error_message": "Internal Server Error",
    "error_name": "INTERNAL_SERVER_ERROR",
}
