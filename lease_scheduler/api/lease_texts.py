"""Leases in lists, written as JSON once for each of their versions.

A client that lists a thousand leases again and again gets the same text for almost all of them. The database says which
leases have changed; only these are read and written again. So a list is as new as the database, in every process of the
API.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cachetools import TTLCache

from lease_scheduler.api.interfaces import Reader
from lease_scheduler.api.microversions import Version
from lease_scheduler.model.documents import Document
from lease_scheduler.records.json_text import to_json
from lease_scheduler.records.listing import LeaseEntry

#: Bytes that the texts may take.
_SIZE = 32 << 20
#: Seconds after which a text is made again although nothing has changed: a database that is restored from a backup may
#: give the same revision to something else.
_AGE = 300

#: What a text depends on: the lease as it is, the microversion, and whether its hosts are shown.
_Key = tuple[LeaseEntry, Version, bool]


def _size_of(text: bytes) -> int:
    return 500 + len(text)


@dataclass
class LeaseTexts:
    """Cache of the JSON texts of listed leases.

    :ivar size: maximum number of bytes that they may take
    """

    size: int = _SIZE
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._texts: TTLCache[_Key, bytes] = TTLCache(self.size, _AGE, getsizeof=_size_of)

    def listed(
        self,
        reader: Reader,
        entries: Sequence[LeaseEntry],
        version: Version,
        with_hosts: Callable[[str], bool],
        show: Callable[[Document], Document],
    ) -> bytes:
        """Return leases as a JSON array, without those that have been removed from the database meanwhile.

        :param with_hosts: returns whether the hosts of a project's leases are shown
        :param show: returns the form of a view that clients get; must depend on microversion and ``with_hosts`` alone
        """
        keys = [(entry, version, with_hosts(entry.project_id)) for entry in entries]
        with self._lock:
            texts = {key[0].lease_id: text for key in keys if (text := self._texts.get(key)) is not None}
        missing = [entry.lease_id for entry in entries if entry.lease_id not in texts]
        if missing:
            made = {view["id"]: (_entry_of(view), to_json(show(view))) for view in reader.leases_by_id(missing)}
            texts.update((lease_id, text) for lease_id, (_, text) in made.items())
            with self._lock:
                for entry, text in made.values():
                    if _size_of(text) <= self.size:
                        self._texts[entry, version, with_hosts(entry.project_id)] = text
        return b"[" + b",".join(texts[entry.lease_id] for entry in entries if entry.lease_id in texts) + b"]"


def _entry_of(view: Document) -> LeaseEntry:
    """Return the entry of a view, which may be newer than the entry for which it was read."""
    return LeaseEntry(
        view["id"], view["project_id"], view["revision"], view["operation"], len(view["breaches"]), view["idle_since"]
    )
