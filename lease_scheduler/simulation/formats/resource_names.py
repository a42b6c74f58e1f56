"""Resource types in Haizea's files, and the one-line description of a site."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources

#: Resource types that every site of Haizea names -> our resource classes. Other types keep their names.
MANDATORY = {"CPU": VCPU, "Memory": MEMORY_MB}

#: Amounts on each host of the types that a site of Haizea has even if it does not name them.
IMPLIED = {"Disk": 1_000_000, "Net-in": 1_000_000, "Net-out": 1_000_000}

#: Maximum number of hosts of a site in a file; a larger number is most likely a mistake.
MAX_HOSTS = 1_000_000

_TO_TYPE = {resource_class: name for name, resource_class in MANDATORY.items()}


def class_of(type_name: str) -> str:
    """Return our resource class for a resource type in Haizea's files."""
    return MANDATORY.get(type_name, type_name)


def type_of(resource_class: str) -> str:
    """Return the resource type in Haizea's files for one of our resource classes.

    :raises InvalidValueError: the name of the class means another class there, is empty or contains blanks
    """
    if resource_class in MANDATORY or not resource_class or len(resource_class.split()) != 1:
        raise InvalidValueError(f"resources.{resource_class}", "Haizea's files cannot name this class; rename it")
    return _TO_TYPE.get(resource_class, resource_class)


def parse_count(text: str, field: str, least: int = 0) -> int:
    """Return the whole number that a text contains.

    :raises InvalidValueError: the text is not a whole number, is below ``least``, or has more than 15 digits
    """
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 15) or int(text) < least:
        raise InvalidValueError(field, f"must be a whole number of at least {least}, not {text!r}")
    return int(text)


def parse_site(text: str) -> Site:
    """Return a site of equal hosts from ``<count> <type>:<amount>...``, separated by blanks or commas (haizea F4).

    :param text: e.g. ``4 CPU:100,Memory:1024`` or ``4  CPU:100 Memory:1024``
    :raises InvalidValueError: a part is wrong; the error names it
    """
    count, *pairs = text.replace(",", " ").split() or [""]
    amounts: dict[str, int] = {}
    for pair in pairs:
        type_name, colon, amount = pair.partition(":")
        if not colon or not type_name:
            raise InvalidValueError("resources", f"{pair!r} is not <type>:<amount>, as in 'CPU:100'")
        if class_of(type_name) in amounts:
            raise InvalidValueError("resources", f"names {type_name} twice")
        amounts[class_of(type_name)] = parse_count(amount, f"resources.{type_name}")
    missing = [name for name, resource_class in MANDATORY.items() if resource_class not in amounts]
    if missing:
        raise InvalidValueError("resources", f"lacks {' and '.join(missing)}; write e.g. '4 CPU:100,Memory:1024'")
    hosts = parse_count(count, "resources, number of nodes", least=1)
    if hosts > MAX_HOSTS:
        raise InvalidValueError("resources", f"asks for {hosts} nodes; at most {MAX_HOSTS} are possible")
    return Site.homogeneous(hosts, Resources(amounts))
