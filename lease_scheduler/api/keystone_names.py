"""Names of projects and users in Keystone, for people who read the calendar page."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import quote

from cachetools import TTLCache
from keystoneauth1 import exceptions
from keystoneauth1.adapter import Adapter

from lease_scheduler.api.login.interfaces import IdentityUnavailableError

LOG = logging.getLogger(__name__)

#: Seconds for which an answer is reused.
_FRESH = 600

#: Seconds for which Keystone is not asked again after it has not answered, so that people do not wait for each name.
_PAUSE = 30.0

#: Seconds for which a project counts as enabled after Keystone has said so, and number of projects that are kept.
_SURE, _PROJECTS = 60, 10_000

#: Number of users whose names are kept.
_USERS = 10_000


class KeystoneNames:
    """Names in Keystone (see ``api.interfaces.Names``). Projects and users that Keystone does not show have no name.

    :param identity: the identity service, authenticated as the service, which may list projects and show users
    :param timeout: seconds for each question
    """

    def __init__(self, identity: Adapter, timeout: float) -> None:
        self._identity = identity
        self._timeout = timeout
        self._lock = Lock()
        self._projects: TTLCache[str, Mapping[str, str]] = TTLCache(1, _FRESH)
        self._users: TTLCache[str, str | None] = TTLCache(_USERS, _FRESH)
        self._enabled: TTLCache[str, bool] = TTLCache(_PROJECTS, _SURE)
        self._ask_again_at = -math.inf

    def projects(self) -> Mapping[str, str]:
        """Return the names of all projects by id."""
        with self._lock:
            known = self._projects.get("all")
        if known is None:
            answer = self._ask("/projects")
            if answer is None:
                return {}
            known = {each["id"]: each["name"] for each in answer.get("projects", [])}
            with self._lock:
                self._projects["all"] = known
        return known

    def user(self, user_id: str) -> str | None:
        """Return the name of a user, or None."""
        with self._lock:
            if user_id in self._users:
                return self._users[user_id]
        answer = self._ask(f"/users/{quote(user_id, safe='')}")
        if answer is None:
            return None
        name: str | None = answer.get("user", {}).get("name")
        with self._lock:
            self._users[user_id] = name
        return name

    def has_project(self, project_id: str) -> bool:
        """Return whether there is an enabled project with this id, by a recent answer if there is one.

        :raises IdentityUnavailableError: Keystone does not answer, or does not show projects to the service
        """
        with self._lock:
            if project_id in self._enabled:
                return True
        try:
            answer = self._identity.get(f"/projects/{quote(project_id, safe='')}", timeout=self._timeout).json()
        except exceptions.NotFound:
            return False
        except (exceptions.ClientException, ValueError) as error:
            LOG.warning("Keystone does not say whether project %s exists: %s", project_id, error)
            raise IdentityUnavailableError(
                "the identity service does not say to this service whether the project exists; try again"
            ) from error
        # Keystone's database may find ids without regard to case, and an id with dots may lead to another path.
        found = answer.get("project", {})
        is_there = found.get("id") == project_id and found["enabled"] and not found.get("is_domain", False)
        if is_there:
            with self._lock:
                self._enabled[project_id] = True
        return bool(is_there)

    def _ask(self, path: str) -> Mapping[str, Any] | None:
        """Return the body of the answer: empty if Keystone refuses or knows nothing, None if it does not answer."""
        if monotonic() < self._ask_again_at:
            return None
        try:
            found: Mapping[str, Any] = self._identity.get(path, timeout=self._timeout).json()
        except exceptions.NotFound:
            return {}
        except (exceptions.HTTPClientError, ValueError) as error:
            LOG.warning("Keystone does not tell names: %s", error)
            return {}
        except exceptions.ClientException as error:
            LOG.warning("Keystone does not tell names, and is not asked for %d s: %s", _PAUSE, error)
            self._ask_again_at = monotonic() + _PAUSE
            return None
        return found
