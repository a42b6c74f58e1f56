"""Names of resource classes in Haizea's files, and the one-line description of a site."""

from __future__ import annotations

from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.model.host import Site
from lease_scheduler.model.resources import MEMORY_MB, VCPU, Resources

#: The types that every site of Haizea has, and our classes for them. Other types keep their names.
MANDATORY = {"CPU": VCPU, "Memory": MEMORY_MB}

#: What a host has of the types that a site of Haizea has even if it does not name them (haizea, section 3.1).
IMPLIED = {"Disk": 1_000_000, "Net-in": 1_000_000, "Net-out": 1_000_000}

#: The largest site that a file may ask for; beyond it a slip of the keyboard is likelier than a site.
MAX_HOSTS = 1_000_000

_TO_TYPE = {resource_class: name for name, resource_class in MANDATORY.items()}


def class_of(type_name: str) -> str:
    """Our resource class for a type of Haizea's files."""
    return MANDATORY.get(type_name, type_name)


def type_of(resource_class: str) -> str:
    """The type that stands for one of our resource classes in Haizea's files.

    :raises InvalidValueError: the class has no name of its own there, or one that a list of names cannot hold
    """
    if resource_class in MANDATORY or not resource_class or len(resource_class.split()) != 1:
        raise InvalidValueError(f"resources.{resource_class}", "Haizea's files cannot name this class; rename it")
    return _TO_TYPE.get(resource_class, resource_class)


def parse_count(text: str, field: str, least: int = 0) -> int:
    """A whole number as files write it.

    :raises InvalidValueError: the text is not one, is below ``least`` or has more than 15 digits
    """
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= 15) or int(text) < least:
        raise InvalidValueError(field, f"must be a whole number of at least {least}, not {text!r}")
    return int(text)


def parse_site(text: str) -> Site:
    """A site of equal hosts from ``<count> <type>:<amount>...``, parted by blanks or commas (haizea F4).

    :param text: e.g. ``4 CPU:100,Memory:1024`` or ``4  CPU:100 Memory:1024``
    :raises InvalidValueError: naming the part that is wrong
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
