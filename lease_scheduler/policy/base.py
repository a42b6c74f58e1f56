"""How policies get their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isfinite

from lease_scheduler.model.errors import InvalidValueError


class PolicyOptions(Mapping[str, str]):
    """The ``[policy] options`` of an operator as a mapping, with typed access.

    :param values: option name -> text
    """

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def integer(self, name: str, default: int) -> int:
        """An option as a whole number of at least 0.

        :raises InvalidValueError: it is something else
        """
        text = self._values.get(name)
        if text is None:
            return default
        if not text.isdecimal():
            raise InvalidValueError(f"policy option {name}", f"must be a whole number of at least 0, not {text!r}")
        return int(text)

    def number(self, name: str, default: float) -> float:
        """An option as a number of at least 0.

        :raises InvalidValueError: it is something else
        """
        text = self._values.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not isfinite(value) or value < 0:
            raise InvalidValueError(f"policy option {name}", f"must be a number of at least 0, not {text!r}")
        return value
