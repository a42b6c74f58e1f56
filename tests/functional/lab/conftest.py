"""The lab as a test finds it: everything runs, whatever the previous test has killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functional.lab.service import Document, Service, running_service
from tests.servers.openstack.client import CloudClient
from tests.servers.openstack.lab import Lab
from tests.servers.openstack.notifications import NotificationRecorder


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


@pytest.fixture(scope="module")
def service(lab: Lab) -> Iterator[Service]:
    """Our service on the lab, with all hosts in its pool."""
    with running_service(lab) as started:
        yield started


@pytest.fixture
def leases(service: Service) -> Iterator[list[Document]]:
    """Leases that are deleted after the test, whatever its outcome; nothing of them may remain."""
    made: list[Document] = []
    yield made
    for lease in made:
        service.is_cancelled(lease)
    service.nothing_left()


@pytest.fixture
def recorder(lab: Lab) -> Iterator[NotificationRecorder]:
    """All notifications that Nova sends during a test."""
    lab.ensure_running()
    with NotificationRecorder(lab.rabbitmq) as started:
        yield started
