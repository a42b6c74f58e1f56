"""The life of a lease that is run once before all tests, so that what Nova makes at the first use is there for all."""

from __future__ import annotations

from uuid import uuid4

from lease_scheduler.cloud.nova.api import names
from lease_scheduler.engine.interfaces import OperationKind
from tests.in_nova.functional.site import ORDINARY, SMALL, NovaSite


class WarmUp(NovaSite):
    """Most tests start, suspend, resume and stop leases. Nova compiles some 150 statements for that."""

    def runTest(self) -> None:
        lease_id = str(uuid4())
        before, after = ("host1", "host1"), ("host2", "host3")
        self.carry_out(self.order(OperationKind.START, lease_id, before, SMALL))
        for _ in before:
            self.boot(names.flavor_id(lease_id, 0))
        self.carry_out(self.order(OperationKind.SUSPEND, lease_id, before, SMALL))
        self.carry_out(self.order(OperationKind.RESUME, lease_id, after, SMALL))
        self.carry_out(self.order(OperationKind.STOP, lease_id, after, SMALL))
        # No host is left for it, so that the scheduler looks for one in vain.
        self.boot(ORDINARY)
