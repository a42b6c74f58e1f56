"""Operations of projects on the secret addresses of their feeds."""

from __future__ import annotations

from lease_scheduler.model.documents import Document
from lease_scheduler.model.errors import RefusedError
from lease_scheduler.records.feeds import FeedRecord
from lease_scheduler.rpc.interface import EngineRequests, answers
from lease_scheduler.service.core.transactions import SiteTransactions


class FeedKeeper:
    """Operations that create and withdraw secret addresses.

    :param site: the plan of the site
    """

    def __init__(self, site: SiteTransactions) -> None:
        self._site = site

    @answers(EngineRequests.create_feed)
    def create(self, context: Document, feed: Document) -> Document:
        """Make an address.

        :raises RefusedError: the operator allows none, or the project has too many
        """
        site = self._site
        with site.request(context):
            most = site.options.maximum_feeds
            known = sum(each.project_id == feed["project_id"] for each in site.records.feeds.values())
            if most == 0:
                raise RefusedError(403, "the operator of this site allows no feeds")
            if known >= most:
                raise RefusedError(403, f"a project may have at most {most} feeds; delete one first")
            record = FeedRecord(
                feed_id=feed["id"],
                project_id=feed["project_id"],
                user_id=feed["user_id"],
                name=feed["name"],
                digest=feed["digest"],
                created_at=site.work.now,
            )
            site.records.put_feed(record)
        return {"feed_id": record.feed_id}

    @answers(EngineRequests.delete_feed)
    def delete(self, context: Document, feed_id: str) -> Document:
        """Withdraw an address.

        :raises RefusedError: there is no such address
        """
        site = self._site
        with site.request(context):
            if feed_id not in site.records.feeds:
                raise RefusedError(404, f"there is no feed {feed_id}")
            site.records.remove_feed(feed_id)
        return {}
