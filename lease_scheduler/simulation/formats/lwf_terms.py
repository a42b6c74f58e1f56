"""Elements that LWF and LWFA share: nodes, start, deadline, software and free attributes of a lease."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Host
from lease_scheduler.model.nodes import DiskImage, NodeSet
from lease_scheduler.model.resources import Resources
from lease_scheduler.simulation.formats.resource_names import MAX_HOSTS, class_of, parse_count, type_of
from lease_scheduler.simulation.formats.times import InstantParser, format_time, parse_instant
from lease_scheduler.simulation.formats.xml_file import Element, XmlBuilder


@dataclass(frozen=True)
class StartTerm:
    """The requested start of a lease: an exact instant, now, or neither, which means as soon as capacity is free.

    :ivar exact: instant in seconds, or None
    :ivar now: whether the lease must start when it is submitted
    """

    exact: int | None = None
    now: bool = False


@dataclass(frozen=True)
class SoftwareTerm:
    """The software of a lease; without an image, the lease is unmanaged."""

    image: DiskImage | None = None


def read_start(element: Element, submitted: int = 0, parse: InstantParser = parse_instant) -> StartTerm:
    """Read ``<start/>``, ``<start><now/></start>`` or ``<start><exact time=.../></start>``.

    :param submitted: instant of the submission, to which relative instants refer
    :param parse: parser of instants
    """
    element.expect(children=("now", "exact"))
    if len(element.children) > 1:
        raise element.children[1].error("<start> holds one of <now> and <exact>, or nothing for a best-effort lease")
    if element.find("now") is not None:
        element.require("now").expect()
        return StartTerm(now=True)
    exact = element.find("exact")
    if exact is None:
        return StartTerm()
    exact.expect(attributes=("time",))
    return StartTerm(exact=exact.convert("time", lambda text, field: parse(text, field, submitted)))


def read_deadline(element: Element, submitted: int = 0, parse: InstantParser = parse_instant) -> int:
    """Read ``<deadline time=.../>``, and return it in seconds.

    :param submitted: instant of the submission, to which relative instants refer
    :param parse: parser of instants
    """
    element.expect(attributes=("time",))
    return element.convert("time", lambda text, field: parse(text, field, submitted))


def read_software(element: Element) -> SoftwareTerm:
    """Read ``<software>``, which contains ``<none/>``, ``<disk-image id=... size=.../>`` (MB) or nothing."""
    element.expect(children=("none", "disk-image"))
    if len(element.children) > 1:
        raise element.children[1].error("<software> holds one of <none> and <disk-image>")
    image = element.find("disk-image")
    if image is None:
        for child in element.children:
            child.expect()
        return SoftwareTerm()
    image.expect(attributes=("id", "size"))
    return SoftwareTerm(DiskImage(image.get("id"), image.convert("size", parse_count)))


def read_attributes(element: Element) -> dict[str, str]:
    """Read the ``<attr name=... value=.../>`` in an element, and return name -> value."""
    element.expect(children=("attr",))
    found: dict[str, str] = {}
    for child in element.children:
        child.expect(attributes=("name", "value"))
        if child.get("name") in found:
            raise child.error(f"names the attribute {child.get('name')!r} twice; leave one")
        found[child.get("name")] = child.get("value")
    return found


def read_node_sets(element: Element, types: frozenset[str] | None) -> tuple[NodeSet, ...]:
    """Read the ``<node-set>`` elements of a lease; the amounts of several instances of one type are added up.

    :param types: permitted resource types; None permits all
    """
    return tuple(
        NodeSet(count, Resources({name: sum(amounts) for name, amounts in instances.items()}), traits)
        for count, instances, traits in _read_nodes(element, types)
    )


def read_hosts(element: Element, types: frozenset[str]) -> tuple[Host, ...]:
    """Read the hosts in the ``<nodes>`` of a site, and name them ``host-1`` and so on.

    If a type has several instances, a host offers their sum, and one node may use at most the largest of them.

    :param types: permitted resource types
    """
    hosts: list[Host] = []
    for count, instances, traits in _read_nodes(element, types):
        if len(hosts) + count > MAX_HOSTS:
            raise element.error(f"the site has more than {MAX_HOSTS} nodes")
        capacity = Resources({name: sum(amounts) for name, amounts in instances.items()})
        max_unit = Resources({name: max(amounts) for name, amounts in instances.items() if len(amounts) > 1})
        first = len(hosts) + 1
        hosts += [Host(f"host-{number}", capacity, traits, max_unit) for number in range(first, first + count)]
    return tuple(hosts)


_NodeSetParts = tuple[int, dict[str, list[int]], frozenset[str]]


def _read_nodes(element: Element, types: frozenset[str] | None) -> Iterable[_NodeSetParts]:
    element.expect(children=("node-set",))
    if not element.children:
        raise element.error("<nodes> lacks a <node-set>; add one")
    for node_set in element.children:
        node_set.expect(attributes=("numnodes",), children=("res", "attr"))
        count = node_set.convert("numnodes", lambda text, field: parse_count(text, field, least=1))
        instances: dict[str, list[int]] = {}
        traits: set[str] = set()
        for child in node_set.children:
            if child.tag == "attr":
                child.expect(attributes=("type", "value"))
                traits.add(
                    f"{child.get('type')}={child.get('value')}" if "value" in child.attributes else child.get("type")
                )
                continue
            type_name = child.get("type")
            if types is not None and type_name not in types:
                raise child.error(
                    f"resource type {type_name!r} is not among the site's <resource-types>: {' '.join(sorted(types))}"
                )
            if class_of(type_name) in instances:
                raise child.error(f"names the resource type {type_name!r} twice; leave one")
            instances[class_of(type_name)] = _read_amounts(child)
        if not any(any(amounts) for amounts in instances.values()):
            raise node_set.error("<node-set> has nothing of any resource; give at least one <res> an amount above 0")
        yield count, instances, frozenset(traits)


def _read_amounts(element: Element) -> list[int]:
    if not element.children:
        element.expect(attributes=("type", "amount"))
        return [element.convert("amount", parse_count)]
    element.expect(attributes=("type",), children=("instance",))
    for instance in element.children:
        instance.expect(attributes=("amount",))
    return [instance.convert("amount", parse_count) for instance in element.children]


def write_start(document: XmlBuilder, parent: Any, start: StartTerm, relative: bool = False) -> None:
    """Add ``<start>``.

    :param relative: whether the instant counts from the submission
    """
    element = document.add("start", parent)
    if start.now:
        document.add("now", element)
    elif start.exact is not None:
        document.add("exact", element, time=_instant(start.exact, relative))


def write_deadline(document: XmlBuilder, parent: Any, deadline: int, relative: bool = False) -> None:
    """Add ``<deadline>``.

    :param relative: whether the deadline counts from the submission
    """
    document.add("deadline", parent, time=_instant(deadline, relative))


def write_software(document: XmlBuilder, parent: Any, image: DiskImage | None) -> None:
    """Add ``<software>``."""
    element = document.add("software", parent)
    if image is None:
        document.add("none", element)
    else:
        document.add("disk-image", element, id=image.image_id, size=str(image.size_mb))


def write_attributes(document: XmlBuilder, parent: Any, tag: str, attributes: Mapping[str, str]) -> None:
    """Add an element with one ``<attr>`` for each attribute; add nothing if there are no attributes."""
    if attributes:
        element = document.add(tag, parent)
        for name, value in attributes.items():
            document.add("attr", element, name=name, value=value)


def write_nodes(document: XmlBuilder, parent: Any, node_sets: Iterable[tuple[int, Host]]) -> None:
    """Add ``<nodes>``.

    :param node_sets: pairs of a number of equal nodes and a host with the resources and traits of each
    :raises InvalidValueError: the format cannot express a resource class or trait
    """
    nodes = document.add("nodes", parent)
    for count, node in node_sets:
        element = document.add("node-set", nodes, numnodes=str(count))
        for name, amount in node.capacity.items():
            unit = node.max_unit.get(name, amount)
            if unit >= amount:
                document.add("res", element, type=type_of(name), amount=str(amount))
                continue
            resource = document.add("res", element, type=type_of(name))
            for taken in range(0, amount, unit):
                document.add("instance", resource, amount=str(min(unit, amount - taken)))
        for trait in sorted(node.traits):
            name, has_value, value = trait.partition("=")
            if not name:
                raise InvalidValueError("traits", f"{trait!r} has no name before its '='")
            document.add("attr", element, type=name, **({"value": value} if has_value else {}))


def _instant(seconds: int, relative: bool) -> str:
    if seconds < 0:
        raise InvalidValueError("time", f"instants before the zero cannot be written, not {seconds}")
    return f"+{format_time(seconds)}" if relative else format_time(seconds)
