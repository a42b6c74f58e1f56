"""The examples of the documentation boot: a server for every example lease with nodes."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from lease_scheduler.client.arguments import node_set
from tests.functional.lab.service import Document, Service

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[3]
_PAGES = (_ROOT / "README.md", *sorted((_ROOT / "doc" / "source").rglob("*.rst")))


def _nodes() -> Iterator[tuple[str, list[Document]]]:
    """Return the node sets of all examples, each with its page."""
    for page in _PAGES:
        text = re.sub(r" \\\n\s*", " ", page.read_text())
        for found in re.finditer(r'"nodes":\s*(?=\[)', text):
            nodes, _ = json.JSONDecoder().raw_decode(text, found.end())
            yield page.name, nodes
        for command in re.findall(r"openstack lease (?:create|quote) .*", text):
            words = shlex.split(command)
            found_sets = [node_set(after) for word, after in itertools.pairwise(words) if word == "--nodes"]
            if found_sets:
                yield page.name, found_sets


#: No host of the lab has devices. Servers with devices boot in ``tests/in_nova/functional/test_nested.py``.
_EXAMPLES = list(
    {
        json.dumps(nodes, sort_keys=True): (page, nodes)
        for page, nodes in _nodes()
        if not any("groups" in each for each in nodes)
    }.values()
)


def test_there_are_examples() -> None:
    pages = {page for page, _ in _nodes()}
    assert {"README.md", "leases.rst", "command-line.rst", "devstack.rst"} <= pages


@pytest.mark.parametrize(("page", "nodes"), _EXAMPLES, ids=lambda each: each if isinstance(each, str) else "")
def test_an_example_boots(service: Service, leases: list[Document], page: str, nodes: list[Document]) -> None:
    lease = service.lease(service.ada, kind="immediate", duration=600, nodes=nodes)
    leases.append(lease)
    service.becomes(lease, "active")
    tenant = service.client(service.ada)
    if nodes[0].get("exclusive"):
        server = tenant.boot("example", service.lab.flavors["small"], {"lease": lease["id"]})
    else:
        flavors = tenant.compute("GET", "/flavors?is_public=None")["flavors"]
        (flavor,) = [each["id"] for each in flavors if each["name"].startswith(f"lease-{lease['id']}")]
        server = tenant.boot("example", flavor)
    assert service.settled([server]) == {server: "ACTIVE"}, (page, nodes)
