"""Nodes for the plug-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.devstack.node import COMPUTE, Node, make_node


@pytest.fixture
def controller(tmp_path: Path) -> Node:
    """A node with everything."""
    return make_node(tmp_path)


@pytest.fixture
def compute(tmp_path: Path) -> Node:
    """A node that only runs servers."""
    return make_node(tmp_path, COMPUTE)
