"""The lab as a test finds it: everything runs, whatever the one before has killed."""

from __future__ import annotations

import pytest

from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab


@pytest.fixture
def whole_lab(lab: Lab) -> None:
    """All services run, and all hosts are up."""
    lab.ensure_running()


@pytest.fixture(scope="session")
def admin(lab: Lab) -> CloudClient:
    """The administrator of the cloud."""
    return lab.admin


@pytest.fixture(scope="session")
def tenant(lab: Lab) -> CloudClient:
    """An ordinary member of a project."""
    return lab.tenant()
