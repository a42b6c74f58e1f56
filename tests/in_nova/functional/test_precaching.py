"""Images pre-cached by a real Nova whose hosts have caches (compute API 2.81; haizea 7.2)."""

from __future__ import annotations

import time

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.cloud.orders import ImageOrder, ImageProgress
from tests.in_nova.functional.site import IMAGE, LIMIT, POLL, NovaSite

_ANOTHER = "a2459075-d96c-40d5-893e-577ff92e721c"


class PrecachingTest(NovaSite):
    compute_driver = "fake.FakeDriverWithCaching"

    def image_order(self, number: int, *hosts: str, image_id: str = IMAGE, seconds: int = 0) -> ImageOrder:
        now = int(time.time())
        return ImageOrder(number, image_id, frozenset(hosts), now, now + seconds)

    def cached(self) -> dict[str, set[str]]:
        return {host: compute.manager.driver.cached_images for host, compute in self.computes.items()}

    def bring(self, order: ImageOrder) -> ImageProgress:
        end = time.monotonic() + LIMIT
        while not (progress := self.driver.image_caches.carry(order)).is_over:
            assert time.monotonic() < end, progress
            time.sleep(POLL)
        return progress

    def test_it_comes_to_its_hosts_and_to_no_others(self) -> None:
        """There is no listener for notifications, so the image counts as cached at the planned time."""
        progress = self.bring(self.image_order(1, "host1", "host2", seconds=3))

        assert progress == ImageProgress(frozenset({"host1", "host2"}), {}, is_over=True)
        assert self.cached() == {"host1": {IMAGE}, "host2": {IMAGE}, "host3": set()}
        actions = [each["event_type"] for each in self.notifier.versioned_notifications]
        assert "aggregate.cache_images.end" in actions
        assert [aggregate.name for aggregate in self.nova.aggregates.list()] == ["freepool"]

    def test_a_host_that_is_gone_does_not_get_it(self) -> None:
        progress = self.bring(self.image_order(1, "host1", "nobody", seconds=2))

        assert (progress.there, set(progress.failed)) == (frozenset({"host1"}), {"nobody"})

    def test_what_an_engine_before_has_left_is_removed(self) -> None:
        """An engine was killed during the transfer; the next one requests it again, and Nova skips what is cached."""
        assert not self.driver.image_caches.carry(self.image_order(7, "host1", "host2", seconds=100)).is_over
        left = {aggregate.name for aggregate in self.nova.aggregates.list()}
        assert left == {"freepool", names.precache(IMAGE)}

        self.driver.image_caches.clear()

        assert [aggregate.name for aggregate in self.nova.aggregates.list()] == ["freepool"]
        assert self.bring(self.image_order(1, "host2", seconds=1)).is_over
        assert self.bring(self.image_order(2, "host3", image_id=_ANOTHER, seconds=1)).is_over
        assert self.cached()["host3"] == {_ANOTHER}

    def test_what_is_there_already_is_no_failure(self) -> None:
        for number in (1, 2):
            assert self.bring(self.image_order(number, "host1", seconds=1)).there == {"host1"}
