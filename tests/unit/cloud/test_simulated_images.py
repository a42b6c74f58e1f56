"""Disk images on the hosts of the simulated cloud."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from threading import Lock

from lease_scheduler.cloud.orders import ImageOrder, Order
from lease_scheduler.cloud.simulated_images import SimulatedImages
from lease_scheduler.engine.behaviour import CloudBehaviour
from lease_scheduler.engine.interfaces import Operation, OperationKind
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.records.documents import LeaseDocument

#: 30 s at 1,000 Mb/s.
_IMAGE = DiskImage("x", 3_750)


def _boot(*hosts: str) -> Order:
    nodes = (NodeSet(len(hosts), Resources({"VCPU": 1})),)
    request = LeaseRequest("1", LeaseKind.BEST_EFFORT, nodes, 0, software=_IMAGE)
    operation = Operation(OperationKind.START, "1", tuple(range(len(hosts))), 0, 0)
    return Order(1, "1", operation, hosts, request, LeaseDocument("1", "lease", "project", "user", 0))


def test_who_boots_waits_for_what_is_missing() -> None:
    """A whole transfer on a host without the image, the rest of one that is in progress, otherwise no time."""
    now = 100
    with closing(sqlite3.connect(":memory:")) as database:
        images = SimulatedImages(database, Lock(), lambda: now, CloudBehaviour(image_bandwidth=1_000))
        images.carry(ImageOrder(1, "x", frozenset({"brought"}), now, now + 10))
        assert images.seconds_to_boot(_boot("brought")) == 10
        assert images.seconds_to_boot(_boot("brought", "empty")) == 30
        now = 125
        assert images.seconds_to_boot(_boot("brought")) == 0
        assert images.seconds_to_boot(_boot("brought", "empty")) == 5
        assert images.hosts_with("x") == {"brought"}
