"""What keystoneauth works out anew for each request, kept for the next one. The results are the same.

It reads the time at which its token expires, and copies the whole catalogue to find one URL. Both take longer than what
the model does for most requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from keystoneauth1 import _utils
from keystoneauth1.access.service_catalog import ServiceCatalog

#: Number of times of tokens that are kept.
_KEPT_TIMES = 1_000


@contextmanager
def kept_for_clients() -> Iterator[None]:
    """Keep these results within the block."""
    parse, normalize = _utils.parse_isotime, ServiceCatalog.normalize_catalog
    catalogues: WeakKeyDictionary[ServiceCatalog, list[dict[str, Any]]] = WeakKeyDictionary()

    @lru_cache(_KEPT_TIMES)
    def kept_time(text: str) -> datetime:
        return parse(text)

    def kept_catalogue(catalogue: ServiceCatalog) -> list[dict[str, Any]]:
        found = catalogues.get(catalogue)
        if found is None:
            found = catalogues[catalogue] = normalize(catalogue)
        return found

    _utils.parse_isotime = kept_time
    ServiceCatalog.normalize_catalog = kept_catalogue  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        _utils.parse_isotime = parse
        ServiceCatalog.normalize_catalog = normalize  # type: ignore[method-assign]
