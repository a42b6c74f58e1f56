"""Errors that any room may raise; every one says which field is wrong and how to mend it."""


class LeaseSchedulerError(Exception):
    """Base of all errors that this project raises on purpose."""


class InvalidValueError(LeaseSchedulerError, ValueError):
    """A value that cannot be accepted.

    :param field: name of the offending field as its user knows it
    :param problem: what is wrong with it and what would be right
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
    """A file that cannot be read as what it should be.

    :param path: the file as its user named it
    :param line: 1-based line, none if the file as a whole is wrong
    :param problem: what is wrong and what would be right
    """

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        super().__init__(f"{path}:{line}: {problem}" if line is not None else f"{path}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem
