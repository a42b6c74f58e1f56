"""Errors of the API, and the two forms of error body that Blazar's clients expect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.api.microversions import MINIMUM, V1_43, Version
from lease_scheduler.model.errors import LeaseSchedulerError
from lease_scheduler.model.refusals import RefusalReason


class ApiError(LeaseSchedulerError):
    """A request that cannot be served.

    :param code: HTTP status
    :param message: what is wrong, and what would be right
    :param field: JSON path of the wrong part of the request; None if no single part is wrong
    :param alternatives: requests that would be granted instead, in the form of the answer
    :param reason: the reason, for programs, if a lease or a change is refused
    """

    def __init__(
        self,
        code: int,
        message: str,
        field: str | None = None,
        alternatives: Sequence[Mapping[str, Any]] = (),
        reason: RefusalReason | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.alternatives = tuple(alternatives)
        self.reason = reason

    def body(self, version: Version = MINIMUM) -> dict[str, Any]:
        """Return the body of the answer; from 1.1 on it has keys that Blazar does not have."""
        extended = version > MINIMUM
        body: dict[str, Any] = {"error_code": self.code, "error_message": self.message, "error_name": self.code}
        if extended and self.field is not None:
            body["field"] = self.field
        if extended and self.alternatives:
            body["alternatives"] = [dict(alternative) for alternative in self.alternatives]
        if version >= V1_43 and self.reason is not None:
            body["reason_code"] = self.reason.value
        return body


class FrameworkError(ApiError):
    """A request that reaches no handler: no such route, method or microversion. Its body has the other form."""

    def body(self, version: Version = MINIMUM) -> dict[str, Any]:
        """Return the body of the answer, which is the same at every microversion."""
        return {"error": self.code, "error_message": self.message}


def not_found(**keys: str) -> ApiError:
    """Return the error for an object that does not exist, in Blazar's words."""
    return ApiError(404, f"Object with {keys} not found", next(iter(keys)))


def forbidden(rule: str) -> ApiError:
    """Return the error for a request that the policy does not allow, in Blazar's words."""
    return ApiError(403, f"Policy doesn't allow {rule} to be performed.")


#: Body of the answer to an internal error.
INTERNAL_ERROR = {
    "error_code": 500,
    "error_message": "Internal Server Error",
    "error_name": "INTERNAL_SERVER_ERROR",
}
