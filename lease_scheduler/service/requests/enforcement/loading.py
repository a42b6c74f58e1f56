"""Loading of filters by name, from any installed package (stevedore)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from stevedore import DriverManager, ExtensionManager
from stevedore.exception import NoMatches

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.requests.enforcement.base import FilterOptions, UsageFilter

NAMESPACE = "lease_scheduler.usage_filter"


def load_filters(names: Sequence[str], options: FilterOptions) -> list[UsageFilter]:
    """Return the filters of these names, in this order.

    :raises InvalidValueError: a filter does not exist, is named twice, or has a wrong option
    """
    repeated = [name for number, name in enumerate(names) if name in names[:number]]
    if repeated:
        raise InvalidValueError("enforcement.enabled_filters", f"{repeated[0]} is there twice")
    return [_load(name, options) for name in names]


def _load(name: str, options: FilterOptions) -> UsageFilter:
    try:
        found: Any = DriverManager(NAMESPACE, name, invoke_on_load=True, invoke_args=(options,)).driver
    except NoMatches:
        known = ", ".join(sorted(ExtensionManager(NAMESPACE, invoke_on_load=False).names())) or "none"
        raise InvalidValueError(
            "enforcement.enabled_filters", f"there is no filter {name!r}; installed are: {known}"
        ) from None
    return cast(UsageFilter, found)
