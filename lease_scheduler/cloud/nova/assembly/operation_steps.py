"""Assembly of the steps of operations."""

from __future__ import annotations

from lease_scheduler.cloud.nova.api.addresses import Addresses
from lease_scheduler.cloud.nova.api.devices import DeviceReader
from lease_scheduler.cloud.nova.assembly.common import Common
from lease_scheduler.cloud.nova.assembly.vacating import Vacating
from lease_scheduler.cloud.nova.images.saving import Saving
from lease_scheduler.cloud.nova.lease.entered import Entered
from lease_scheduler.cloud.nova.steps.ending import DeleteServers, Leave, Release, Remove
from lease_scheduler.cloud.nova.steps.holding import Holding
from lease_scheduler.cloud.nova.steps.hosts import Enter, Hold, JoinAggregates, Lend, SetAggregates, Vacate
from lease_scheduler.cloud.nova.steps.imaging import BeginImages, Keep, Save, SetApart, Snapshot
from lease_scheduler.cloud.nova.steps.members import Members
from lease_scheduler.cloud.nova.steps.order_flavors import OrderFlavors
from lease_scheduler.cloud.nova.steps.sequence import OperationSteps
from lease_scheduler.cloud.nova.steps.slots import Slots
from lease_scheduler.cloud.nova.steps.starting import Begin, Boot, Close, Open, TakeAddresses
from lease_scheduler.cloud.nova.steps.suspending import BringBack, Follow, MoveOff, PutAway
from lease_scheduler.engine.interfaces import WaitingClock


def operation_steps(clock: WaitingClock, common: Common, vacating: Vacating, saving: Saving) -> OperationSteps:
    """Return the steps, each with the parts that it needs.

    :param saving: makes images of servers whose lease ends
    """
    clients, aggregates, reservations = common.clients, common.lease_aggregates, common.reservations
    servers, nodes, ends = common.servers, common.nodes, common.ends
    preemption, returning, vacancy = vacating.preemption, vacating.returning, vacating.vacancy
    addresses = Addresses(clients.network)
    entered = Entered(clients.nova, servers.find, nodes, common.placement)
    members = Members(aggregates, nodes, servers, reservations, entered, preemption.is_guest_put_away)
    begin = Begin(aggregates, reservations)
    holding = Holding(
        common.placement,
        nodes,
        DeviceReader(common.placement, common.lease_flavors.groups),
        vacating.guests,
        vacating.intruders,
        reservations,
        OrderFlavors(common.lease_flavors, common.options.pci_aliases, common.options.shares_per_vcpu),
        Slots(common.placement, nodes, vacating.stale_claims),
    )
    delete_servers = DeleteServers(aggregates, servers, entered, saving, returning, vacancy, members)
    return OperationSteps(
        clearing={
            "close": Close(begin, vacancy),
            "set-apart": SetApart(aggregates, reservations, saving, members),
            "snapshot": Snapshot(aggregates, saving, members),
            "delete-servers": delete_servers,
            "leave": Leave(aggregates, reservations),
            "release": Release(aggregates, addresses, holding, delete_servers),
            "save": Save(servers, saving),
            "remove": Remove(aggregates, reservations, ends, holding, saving, common.server_groups, clients.end_trust),
        },
        others={
            "aggregate": SetAggregates(aggregates, reservations, ends, holding, members),
            "join": JoinAggregates(aggregates, reservations, ends, members, vacancy),
            "vacate": Vacate(clock, nodes, reservations, preemption, vacancy, members),
            "enter": Enter(reservations),
            "hold": Hold(clock, holding),
            "lend": Lend(vacancy, holding),
            "addresses": TakeAddresses(addresses),
            "boot": Boot(begin, servers, reservations),
            "open": Open(begin),
            "put-away": PutAway(clock, aggregates, servers, preemption, members),
            "move-off": MoveOff(clock, aggregates, preemption, members),
            "bring-back": BringBack(aggregates, returning, members),
            "follow": Follow(clock, common.hosts, aggregates, servers, returning, members),
            "keep": Keep(clock, aggregates, servers, vacating.outliving, members),
            "image": BeginImages(aggregates, saving, members),
        },
    )
