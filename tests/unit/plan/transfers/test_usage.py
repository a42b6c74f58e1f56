"""How much of their disks hosts use for images (haizea F68, F85)."""

from __future__ import annotations

from dataclasses import replace

from lease_scheduler.model.holding import Holding
from lease_scheduler.model.kinds import LeaseKind
from lease_scheduler.model.lease import Lease, LeaseRequest
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import VCPU, Resources
from lease_scheduler.model.states import LeaseState
from lease_scheduler.plan.transfers.images import ImagePlan
from lease_scheduler.plan.transfers.options import Reuse, TransferOptions
from lease_scheduler.plan.transfers.usage import disk_usage

_X = DiskImage("x", 1000)
#: Two nodes on host 0, one on host 1.
_REQUEST = LeaseRequest("1", LeaseKind.RESERVATION, (NodeSet(3, Resources({VCPU: 1})),), 0, 100, 900, software=_X)
_LEASE = Lease(_REQUEST, 1, LeaseState.ACTIVE, holdings=(Holding((0, 0, 1), 900, 900, 1000, 1000),))


def _usage(options: TransferOptions, *, is_over: bool = False) -> dict[int, int]:
    images = ImagePlan(options).provided("1", _X, {0: 900, 1: 900}, 1000, is_flexible=True, may_be_late=False)
    number = images.transfers[0].number
    assert disk_usage(images, {"1": _LEASE}) == {}, "nothing is there before it has come"
    images = images.begun(number, 892).at(900).ended(number)
    if is_over:
        images = images.forgotten("1")
    return disk_usage(images, {} if is_over else {"1": _LEASE})


def test_every_node_has_a_disk() -> None:
    assert _usage(TransferOptions()) == {0: 2000, 1: 1000}
    assert _usage(TransferOptions(), is_over=True) == {}


def test_a_pool_keeps_an_image_beside_the_disks() -> None:
    pools = TransferOptions(reuse=Reuse.IMAGE_CACHES)

    assert _usage(pools) == {0: 3000, 1: 2000}
    assert _usage(pools, is_over=True) == {0: 1000, 1: 1000}


def test_with_copy_on_write_the_image_is_counted_once() -> None:
    """haizea F68: except where it does not fit into the pool."""
    shared = TransferOptions(reuse=Reuse.IMAGE_CACHES, copy_on_write=True)

    assert _usage(shared) == {0: 1000, 1: 1000}
    assert _usage(replace(shared, cache_size_mb=500)) == {0: 2000, 1: 1000}
