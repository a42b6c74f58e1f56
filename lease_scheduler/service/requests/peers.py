"""Peers: other sites and gateways that request leases here, with their limits and what they have."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import InvalidValueError, RefusedError
from lease_scheduler.model.lease import Lease
from lease_scheduler.model.peer_limits import peer_limits_of
from lease_scheduler.model.subjects import checked_subject
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions
from lease_scheduler.service.requests.enforcement.peers import capacity_of, check_project, use_of


class PeerKeeper:
    """Shows peers, and sets their limits.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.list_peers)
    def list(self, context: Document) -> Document:
        """Return the peers that have limits or live leases."""
        site = self._site
        with site.inquiry(context):
            of_peers: defaultdict[str, list[Lease]] = defaultdict(list)
            for lease in site.work.leases.values():
                if lease.request.origin is not None and not lease.is_final:
                    of_peers[lease.request.origin].append(lease)
            names = sorted({*of_peers, *site.peers.names})
            return {
                "peers": [
                    {
                        "name": name,
                        "limits": site.peers.of(name).plain(),
                        **asdict(use_of(of_peers[name], capacity_of(site.records.site()), site.work.now)),
                    }
                    for name in names
                ]
            }

    @answers(EngineRequests.check_project)
    def check_project(self, context: Document, peer: str, project_id: str) -> Document:
        """Refuse a project for which a peer may not request leases.

        :raises RefusedError: 403, naming the project
        """
        with self._site.inquiry(context):
            check_project(self._site.peers.of(peer), peer, project_id)
        return {}

    @answers(EngineRequests.set_peer)
    def set(self, context: Document, name: str, limits: Document | None) -> Document:
        """Set the limits of a peer, or remove them if they are None. Leases that it has already stay.

        :raises RefusedError: 400, a limit or the name is not valid
        """
        site = self._site
        with site.request(context):
            try:
                checked_subject("peer", name)
                found = None if limits is None else peer_limits_of(limits)
            except InvalidValueError as error:
                raise RefusedError(400, str(error), error.field) from error
            site.peers.set(name, found, site.work.changes)
        return {}
