"""Errors of a guest and of what it talks to."""

from __future__ import annotations


class GuestError(Exception):
    """Base of the errors of this package."""


class UnavailableError(GuestError):
    """The site or the queue does not answer at present; the call can be repeated."""


class RefusedError(GuestError):
    """The site or the queue refuses a call; the message is its reason."""


class HandlerError(GuestError):
    """A handler failed, or took longer than its time limit."""


class WrongSettingError(GuestError):
    """A setting is wrong.

    :ivar option: name of the option
    :ivar problem: what is wrong, and what would be right
    """

    def __init__(self, option: str, problem: str) -> None:
        super().__init__(f"{option}: {problem}")
        self.option = option
        self.problem = problem
