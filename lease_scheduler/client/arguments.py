"""Parsers of command line arguments. They raise ``ArgumentTypeError`` for invalid texts."""

from __future__ import annotations

import argparse
import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lease_scheduler.model.documents import Document
from lease_scheduler.model.durations import seconds_of

#: A comma between two pairs. Unlike a comma inside a value, such as a query, it is followed by a key.
_SEPARATOR = re.compile(r",(?=[A-Za-z_][A-Za-z0-9_]*=)")
_RESOURCE_CLASS = re.compile(r"[A-Z][A-Z0-9_]*")
_AMOUNT = re.compile(r"([A-Z][A-Z0-9_]*):([1-9][0-9]{0,9})")
_RESOURCE_KEYS = {"vcpus": "VCPU", "memory_mb": "MEMORY_MB", "disk_gb": "DISK_GB"}
_TRUTH = {"true": True, "yes": True, "false": False, "no": False}


def positive(text: str) -> int:
    """Parse a whole number of at least 1."""
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def natural(text: str) -> int:
    """Return a whole number of at least 0."""
    number = int(text) if text.isascii() and text.isdigit() else -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return number


def duration(text: str) -> int:
    """Parse a duration of at least a second, such as ``10m``; return seconds."""
    seconds = seconds_of(text)
    if not seconds:
        raise argparse.ArgumentTypeError(f"{text} is not a duration of at least 1 s, such as 10m")
    return seconds


def money(text: str) -> float:
    """Parse a number of at least 0."""
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least 0")
    return amount


def probability(text: str) -> float:
    """Parse a number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number between 0 and 1, such as 0.95")
    return value


def part(text: str) -> float:
    """Parse a part of a whole: a number above 0, and at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0 and at most 1, such as 0.25")
    return value


def key_value(text: str) -> tuple[str, str]:
    """Parse ``key=value``."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"{text} is not of the form key=value")
    return key, value


def node_set(text: str) -> Document:
    """Parse a node set: a JSON object, or pairs of key and value.

    The pairs look like ``count=2,vcpus=4,memory_mb=8192,trait=HW_GPU,exclusive=true,per_host=1,properties=QUERY``.
    ``group=VGPU:1@CUSTOM_NVIDIA_11`` asks for resources of one nested provider. Other keys are resource classes. An
    amount such as ``8-16`` is a range.
    """
    if text.startswith("{"):
        return _object(text)
    nodes: Document = {"count": 1}
    for key, value in _pairs(text):
        if key in ("count", "per_host"):
            nodes[key] = _whole(key, value)
        elif key == "exclusive":
            nodes[key] = _boolean(key, value)
        elif key == "properties":
            nodes[key] = value
        elif key == "trait":
            nodes.setdefault("traits", []).append(value)
        elif key == "group":
            nodes.setdefault("groups", []).append(_group(value))
        elif key in _RESOURCE_KEYS or _RESOURCE_CLASS.fullmatch(key):
            fewest, dash, most = value.partition("-")
            name = _RESOURCE_KEYS.get(key, key)
            nodes.setdefault("resources", {})[name] = _whole(key, most if dash else value)
            if dash:
                nodes.setdefault("least_resources", {})[name] = _whole(key, fewest)
        else:
            raise argparse.ArgumentTypeError(
                f"{key} is not known; right are count, vcpus, memory_mb, disk_gb, trait, group, properties, exclusive, "
                "per_host and names of resource classes"
            )
    return nodes


def _group(text: str) -> Document:
    """Parse a group: ``CLASS:AMOUNT``, several with ``/`` between them, and ``@TRAIT``, several likewise."""
    amounts, has_traits, traits = text.partition("@")
    found = [_AMOUNT.fullmatch(part) for part in amounts.split("/")]
    wanted = traits.split("/") if has_traits else []
    if not all(found) or not all(_RESOURCE_CLASS.fullmatch(trait) for trait in wanted):
        raise argparse.ArgumentTypeError(f"group: {text} is not a group; right is VGPU:1 or VGPU:1@CUSTOM_NVIDIA_11")
    group: Document = {"resources": {match[1]: int(match[2]) for match in found if match is not None}}
    return {**group, "traits": wanted} if wanted else group


def reservation(text: str) -> Document:
    """Parse a reservation: ``resource_type=physical:host,min=1,max=2``, as in Blazar's clients, or a JSON object."""
    if text.startswith("{"):
        return _object(text)
    found: Document = {}
    for key, value in _pairs(text):
        if key in found:
            raise argparse.ArgumentTypeError(f"{key} is given twice")
        if re.fullmatch(r"-?[0-9]{1,18}", value):
            found[key] = int(value)
        elif key == "required_floatingips":
            found[key] = _list(key, value)
        else:
            found[key] = value
    defaults = _RESERVATION_DEFAULTS.get(str(found.get("resource_type")), {})
    return {**defaults, **found}


def changed_reservation(text: str) -> Document:
    """Parse a change of a reservation: ``id=ID,amount=3``, or a JSON object."""
    found = reservation(text)
    if "id" not in found:
        raise argparse.ArgumentTypeError(f"{text} does not say which reservation is meant: id=ID is missing")
    return found


#: Keys that Blazar requires by resource type, with empty values.
_RESERVATION_DEFAULTS: Mapping[str, Document] = {
    "physical:host": {"hypervisor_properties": "", "resource_properties": ""},
    "virtual:instance": {"affinity": None, "resource_properties": ""},
}


def server(text: str) -> Document:
    """Parse a server template: ``name=web,image=ID,count=2,network=ID,user_data=FILE``, or a JSON object.

    With ``volume_gb=20``, the servers boot from new volumes made from the image; with ``volume=ID``, from that volume.
    """
    if text.startswith("{"):
        return _object(text)
    found: Document = {}
    for key, value in _pairs(text):
        if key in ("count", "node_set"):
            found[key] = _whole(key, value, 0)
        elif key in ("name", "key_name"):
            found[key] = value
        elif key == "image":
            found["image_id"] = value
        elif key in ("network", "port"):
            found.setdefault("networks", []).append({f"{key}_id": value})
        elif key == "security_group":
            found.setdefault("security_groups", []).append(value)
        elif key == "user_data":
            found[key] = base64.b64encode(_content(value)).decode()
        elif key == "volume":
            found.setdefault("volume", {})["volume_id"] = value
        elif key == "volume_gb":
            found.setdefault("volume", {})["size_gb"] = _whole(key, value, 1)
        elif key == "volume_type":
            found.setdefault("volume", {})[key] = value
        else:
            raise argparse.ArgumentTypeError(
                f"{key} is not known; right are name, image, volume, volume_gb, volume_type, count, node_set, network, "
                "port, key_name, security_group and user_data"
            )
    if "name" not in found:
        raise argparse.ArgumentTypeError(f"{text} does not say which name: name=... is missing")
    if "image_id" not in found and "volume_id" not in found.get("volume", {}):
        raise argparse.ArgumentTypeError(f"{text} does not say what to boot from: image=... or volume=... is missing")
    return found


def sorting(text: str) -> tuple[str, str]:
    """Parse ``key``, ``key:asc`` or ``key:desc``."""
    key, _, direction = text.partition(":")
    if direction not in ("", "asc", "desc"):
        raise argparse.ArgumentTypeError(f"{text}: the direction is asc or desc, not {direction}")
    return key, direction or "asc"


def _pairs(text: str) -> list[tuple[str, str]]:
    return [key_value(part) for part in _SEPARATOR.split(text)]


def _object(text: str) -> Document:
    found = _parsed(text)
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"{text} is not a JSON object")
    return found


def _list(key: str, text: str) -> list[Any]:
    found = _parsed(text)
    if not isinstance(found, list):
        raise argparse.ArgumentTypeError(f"{key}: {text} is not a JSON list")
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is not JSON: {error}") from error


def _whole(key: str, text: str, least: int = 1) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) < least:
        raise argparse.ArgumentTypeError(f"{key}: {text} is not a whole number of at least {least}")
    return int(text)


def _boolean(key: str, text: str) -> bool:
    try:
        return _TRUTH[text.lower()]
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{key}: {text} is neither true nor false") from error


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"user_data: {path} cannot be read: {error}") from error
