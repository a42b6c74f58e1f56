"""A value that is replaced while others use it."""

from __future__ import annotations

from typing import Any


class Replaceable:
    """A proxy of a value that may be replaced, so that its users always see the present value.

    :param value: the first value
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getattr__(self, name: str) -> Any:
        if name == "_value":
            # The attribute is not set yet, as while a copy is being made.
            raise AttributeError(name)
        return getattr(self._value, name)

    def put(self, value: Any) -> None:
        """Replace the value."""
        self._value = value
