"""Errors that any package may raise. Each says which value is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lease_scheduler.model.refusals import RefusalReason


class LeaseSchedulerError(Exception):
    """Base class of all errors that this project raises on purpose."""


class InvalidValueError(LeaseSchedulerError, ValueError):
    """A value that cannot be accepted.

    :param field: name of the field as its user knows it
    :param problem: what is wrong and what would be right
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class IllegalTransitionError(LeaseSchedulerError):
    """A state change that the lease state machine does not allow."""

    def __init__(self, lease_id: str, current: str, wanted: str) -> None:
        super().__init__(f"lease {lease_id}: a lease that is {current} cannot become {wanted}")
        self.lease_id = lease_id
        self.current = current
        self.wanted = wanted


class InputFileError(LeaseSchedulerError):
    """A file whose content is not in the expected format.

    :param path: the file as its user named it
    :param line: 1-based number of the line, or None if the problem is the file as a whole
    :param problem: what is wrong and what would be right
    """

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}" if line is not None else f"{path}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem


class RefusedError(LeaseSchedulerError):
    """A valid request that is refused.

    :param code: the HTTP status of the answer, 400 to 499
    :param message: the reason, for people
    :param field: the part of the request that is the reason, or None if it is no single one
    :param alternatives: terms that would be granted, each with ``start``, ``end`` (instants) and ``count``
    :param reason: the reason, for programs; None if the request is wrong in itself or concerns something unknown
    """

    def __init__(
        self,
        code: int,
        message: str,
        field: str | None = None,
        alternatives: Sequence[Mapping[str, Any]] = (),
        *,
        reason: RefusalReason | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field
        self.alternatives = tuple(alternatives)
        self.reason = reason


class EngineUnavailableError(LeaseSchedulerError):
    """No engine answered in time; the same request may succeed later."""


class StoreUnavailableError(LeaseSchedulerError):
    """The database does not answer; the same request may succeed later."""


class StoreFullError(EngineUnavailableError, StoreUnavailableError):
    """The database is full; the same request may succeed when an operator has freed space."""


#: Error for a lease id that the client chose, and that another request has. It does not reveal whose request it is.
ID_IS_TAKEN = "id: is taken by another request; choose another UUID, or send the same request again"
HAS_ENDED = "id: is that of a lease that has ended; choose a new UUID"
WITHDRAWN = "id: is that of a request that was given up; choose a new UUID"
