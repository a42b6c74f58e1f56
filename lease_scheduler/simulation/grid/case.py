"""Grids as runs of campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.simulation.campaigns.case import Outcome
from lease_scheduler.simulation.grid.reports import summary
from lease_scheduler.simulation.grid.spec import GridSpec


@dataclass(frozen=True)
class GridCase:
    """One run of a Grid.

    :ivar name: see ``campaigns.case.Case``
    :ivar spec: the Grid
    :ivar parameters: what distinguishes it from other cases, as JSON values
    """

    name: str
    spec: GridSpec
    parameters: Mapping[str, Any]

    def run(self) -> Outcome:
        """See ``campaigns.case.Case``; the outcome is the summary of the Grid."""
        return summary(self.spec.make().execute())
