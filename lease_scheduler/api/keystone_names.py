"""Names of projects and users in Keystone, for people who read the calendar page."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import quote

from cachetools import TTLCache
from keystoneauth1 import exceptions
from keystoneauth1.adapter import Adapter

LOG = logging.getLogger(__name__)

#: Seconds for which a name is taken to be right, and for which Keystone is not asked again after it has failed.
_FRESH = 600

#: Number of users whose names are kept.
_USERS = 10_000


class KeystoneNames:
    """See ``api.interfaces.Names``. What Keystone does not tell has no name.

    :param identity: the identity service, authenticated as the service, which may list projects and show users
    :param timeout: seconds for each question
    """

    def __init__(self, identity: Adapter, timeout: float) -> None:
        self._identity = identity
        self._timeout = timeout
        self._lock = Lock()
        self._projects: TTLCache[str, Mapping[str, str]] = TTLCache(1, _FRESH)
        self._users: TTLCache[str, str | None] = TTLCache(_USERS, _FRESH)

    def projects(self) -> Mapping[str, str]:
        """Return the names of all projects by id."""
        with self._lock:
            known = self._projects.get("all")
        if known is None:
            found = self._ask("/projects").get("projects", [])
            known = {each["id"]: each["name"] for each in found}
            with self._lock:
                self._projects["all"] = known
        return known

    def user(self, user_id: str) -> str | None:
        """Return the name of a user, or None."""
        with self._lock:
            if user_id in self._users:
                return self._users[user_id]
        name: str | None = self._ask(f"/users/{quote(user_id, safe='')}").get("user", {}).get("name")
        with self._lock:
            self._users[user_id] = name
        return name

    def _ask(self, path: str) -> Mapping[str, Any]:
        """Return the body of Keystone's answer; nothing if it refuses, fails or knows nothing."""
        try:
            found: Mapping[str, Any] = self._identity.get(path, timeout=self._timeout).json()
        except exceptions.NotFound:
            return {}
        except exceptions.ClientException as error:
            LOG.warning("names are not known for %d s: %s", _FRESH, error)
            return {}
        return found
