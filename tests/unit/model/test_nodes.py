"""Node sets."""

from __future__ import annotations

import pytest

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.nodes import NodeSet
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources

VM = Resources({VCPU: 1, MEMORY_MB: 1024})


@pytest.mark.parametrize("count", [0, -1])
def test_a_set_of_no_nodes_is_refused(count: int) -> None:
    """haizea F5."""
    with pytest.raises(InvalidValueError, match=f"^nodes.count: must be at least 1, not {count}$"):
        NodeSet(count, VM)


def test_a_node_that_needs_nothing_is_refused() -> None:
    """haizea F5: it could not be planned."""
    with pytest.raises(InvalidValueError, match=r"^nodes.resources: must name at least one resource class$"):
        NodeSet(1, Resources({VCPU: 0}))
