"""The parts of an engine."""

from __future__ import annotations

from lease_scheduler.engine.assurances import Assurances
from lease_scheduler.engine.deviations import Deviations
from lease_scheduler.engine.evasion import Evasion
from lease_scheduler.engine.forecasts import Forecasts
from lease_scheduler.engine.fractional import FluidShares
from lease_scheduler.engine.fractional_decisions import FluidDecisions
from lease_scheduler.engine.image_supply import ImageSupply
from lease_scheduler.engine.interfaces import ImageCarrier
from lease_scheduler.engine.lifecycle import Lifecycle
from lease_scheduler.engine.live_moves import LiveMoves
from lease_scheduler.engine.occupied import OccupiedHosts
from lease_scheduler.engine.offers import Offers
from lease_scheduler.engine.outages import Outages
from lease_scheduler.engine.power import HostPowers
from lease_scheduler.engine.power_decisions import PowerDecisions
from lease_scheduler.engine.precaching import AheadTransfers
from lease_scheduler.engine.preparation import Preparation
from lease_scheduler.engine.prices import Prices
from lease_scheduler.engine.state import EngineState
from lease_scheduler.engine.submissions import SubmissionOrder
from lease_scheduler.engine.transfers import Transfers
from lease_scheduler.model.errors import InvalidValueError


class Parts:
    """The parts of an engine, each connected to the parts that it needs.

    ``EngineSteps`` has the order in which they work.

    :param state: state that the parts share
    :param carrier: brings disk images to hosts; None if the planner plans no transfers
    :raises InvalidValueError: transfers are planned, but there is no carrier
    :ivar order: gives requests their positions in the order of submission
    :ivar forecasts: forecasts when leases start; None to forecast nothing
    :ivar prices: computes prices
    :ivar assurances: promises lifetimes
    :ivar offers: the life of held leases
    :ivar deviations: replans leases when operations are late, early or fail
    :ivar outages: keeps hosts that cannot be used out of the plan
    :ivar occupied: handles hosts that other servers do not leave
    :ivar lifecycle: does what is due for a lease
    :ivar preparation: boots nodes ahead of the start of their lease
    :ivar evasion: finds other hosts for preempted leases
    :ivar powers: keeps the wanted power states of hosts
    :ivar power_decisions: has hosts sleep and wake as the power policy decides
    :ivar images: has disk images brought to hosts
    :ivar fluid: keeps the yields of fluid leases up to date
    :ivar places: has fluid leases run on the hosts that the fractional policy chooses
    :ivar live_moves: moves running leases as the relocation policy decides
    """

    def __init__(
        self, state: EngineState, carrier: ImageCarrier | None, order: SubmissionOrder, forecasts: Forecasts | None
    ) -> None:
        is_planned = state.planner.plan.images is not None or state.planner.ahead is not None
        if is_planned and carrier is None:
            raise InvalidValueError("transfers", "are planned, but the cloud does not bring images to hosts")
        if forecasts is not None:
            forecasts.follow_durations(lambda: state.planner.context.duration)
        self.order = order
        self.forecasts = forecasts
        self.prices = Prices(state)
        self.assurances = Assurances(state)
        self.offers = Offers(state, self.prices)
        self.deviations = Deviations(state)
        relocation = self.deviations.relocation
        self.outages = Outages(state, relocation)
        self.occupied = OccupiedHosts(state, self.deviations, self.outages)
        self.lifecycle = Lifecycle(state, self.deviations, self.offers, self.occupied)
        self.preparation = Preparation(state)
        self.evasion = Evasion(state)
        self.powers = HostPowers(state, relocation)
        self.power_decisions = PowerDecisions(state, self.powers)
        ahead = state.planner.ahead
        self.images: ImageSupply = (
            Transfers(state, relocation, carrier)
            if ahead is None or carrier is None
            else AheadTransfers(state, ahead, carrier)
        )
        self.fluid = FluidShares(state)
        self.places = FluidDecisions(state)
        self.live_moves = LiveMoves(state, self.fluid)
