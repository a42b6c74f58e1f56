"""Locks of servers that give way. Nova then takes commands for them from administrators only.

Without a lock, a project could keep its server busy, or start it again where its lease has no capacity any more. Nova
asks no scheduler for that, and Placement counts nothing for a server whose lease held all that it needs. The reason of
the lock says what must be restored, so any engine can lift it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from keystoneauth1.exceptions import ClientException as NoLoginError
from novaclient.exceptions import ClientException, NotFound

from lease_scheduler.cloud.nova.api import server as of

LOG = logging.getLogger(__name__)

#: Beginning of the reason of our locks; more follows as JSON.
REASON = "lease-scheduler: makes room for a lease"

#: Maximum length of a reason in Nova, and the length to which a project's own reason is cut, in characters.
_LONGEST, _KEPT = 255, 80

#: Keys of the JSON: reason of the project's own lock, and what the server has released in Placement.
_OWN, _CLAIMS = "own", "claims"

#: Nova's name of the action that locks a server.
_ACTION = "lock"


@dataclass(frozen=True)
class Reason:
    """The reason of one of our locks.

    :ivar own: reason of the lock that the project itself had set before; None if there was no such lock
    :ivar claims: class -> amount that the server had claimed on its host, and has released
    """

    own: str | None = None
    claims: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text for Nova."""
        said: dict[str, Any] = {}
        if self.claims:
            said[_CLAIMS] = dict(self.claims)
        if self.own is not None:
            said[_OWN] = self.own[:_KEPT]
        text = f"{REASON} {json.dumps(said)}" if said else REASON
        # Characters that JSON escapes may make the text too long. Then only the fact that there was a lock is kept.
        return text if len(text) <= _LONGEST else str(Reason("", self.claims))


def reason(server: Any) -> Reason | None:
    """Return the reason of the lock of a server if it may be ours, or None. Projects can write the same text."""
    text = getattr(server, "locked_reason", None) or ""
    if not getattr(server, "locked", False) or not text.startswith(REASON):
        return None
    try:
        said = json.loads(text.removeprefix(REASON) or "{}")
        own, claims = said.get(_OWN), said.get(_CLAIMS) or {}
        return Reason(None if own is None else str(own), {str(name): int(amount) for name, amount in claims.items()})
    except (ValueError, AttributeError, TypeError):
        return Reason()


class Locks:
    """The locks that this service sets and lifts.

    :param nova: novaclient's client with administrator rights
    :param on_behalf_of: returns a client that acts for the user who gave a trust
    """

    def __init__(self, nova: Any, on_behalf_of: Callable[[str | None], Any]) -> None:
        self._nova = nova
        self._on_behalf_of = on_behalf_of
        self._lock = Lock()
        #: Reasons of the servers that this engine has locked. The text in Nova could also come from the project.
        self._ours: dict[str, Reason] = {}

    def lock(self, server: Any, claims: Mapping[str, int] | None = None) -> None:
        """Lock a server as administrator, even if its own project has locked it. Repeated calls change nothing.

        :param claims: what it releases in Placement; None to keep what the lock says
        """
        with self._lock:
            known = self._ours.get(server.id)
        if known is not None and getattr(server, "locked", False) and claims is None:
            return
        before = known or reason(server)
        if before is None and getattr(server, "locked", False):
            if not self._is_own(server) and claims is None:
                # An operator has locked it, which keeps its project out as well.
                return
            before = Reason(getattr(server, "locked_reason", None) or "")
        wanted = Reason() if before is None else before
        if claims is not None:
            wanted = Reason(wanted.own, claims)
        if of.command(lambda each: self._nova.servers.lock(each, reason=str(wanted)), server):
            with self._lock:
                self._ours[server.id] = wanted

    def unlock(self, server: Any, trust_id: str | None = None) -> None:
        """Lift our lock of a server, and restore the lock that its project had set.

        :param trust_id: trust by which the service locks the server for the project; without it, it stays unlocked
        """
        said = self.reason(server)
        with self._lock:
            self._ours.pop(server.id, None)
        if said is None:
            return
        of.command(self._nova.servers.unlock, server)
        if said.own is not None:
            self._restore(server, said.own, trust_id)

    def reason(self, server: Any) -> Reason | None:
        """Return the reason of our lock of a server, or None if it has no lock of ours."""
        with self._lock:
            known = self._ours.get(server.id)
        return (known or reason(server)) if getattr(server, "locked", False) else None

    def _restore(self, server: Any, own: str, trust_id: str | None) -> None:
        if trust_id is None:
            LOG.warning("server %s is unlocked: only its project could lock it again as it was", server.id)
            return
        try:
            self._on_behalf_of(trust_id).servers.lock(server.id, reason=own)
        except (ClientException, NoLoginError) as error:
            LOG.warning("server %s is unlocked, and cannot be locked for its project again: %s", server.id, error)

    def _is_own(self, server: Any) -> bool:
        """Return whether the project of a server has locked it, as far as Nova knows."""
        try:
            actions = self._nova.instance_action.list(server)
        except NotFound:
            return True
        # The latest first.
        last = next((each for each in actions if each.action == _ACTION), None)
        return last is None or last.project_id == server.tenant_id

    def prune(self, before: Collection[str], locked: Collection[str]) -> None:
        """Forget servers that are gone or that others have unlocked.

        :param before: ids of servers that were known before Nova was asked
        :param locked: ids of servers that Nova has listed as locked
        """
        with self._lock:
            for server_id in set(before) - set(locked):
                self._ours.pop(server_id, None)

    def known(self) -> frozenset[str]:
        """Return the ids of the servers that this engine has locked."""
        with self._lock:
            return frozenset(self._ours)
