"""Only ``cmd`` reads options; the import contracts cannot detect a configuration object that is passed on."""

from __future__ import annotations

import ast
from pathlib import Path

import lease_scheduler

_PACKAGE = Path(lease_scheduler.__file__).parent

#: ``nova`` has the options of the filter that nova-scheduler loads.
_READERS = {"cmd", "conf", "nova"}

#: Where an entry point of another package gets the configuration.
_ALLOWED = {"cloud/configured.py", "rehearsal/runtime/bus_driver.py"}


def _reads_options(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.arg) and node.arg == "conf" and getattr(node.annotation, "id", "Any") == "Any")
        or (isinstance(node, ast.Attribute) and node.attr.endswith("_from_conf_options"))
        for node in ast.walk(tree)
    )


def test_no_other_room_is_given_a_configuration() -> None:
    found = {
        str(path.relative_to(_PACKAGE))
        for path in _PACKAGE.rglob("*.py")
        if path.relative_to(_PACKAGE).parts[0] not in _READERS and _reads_options(ast.parse(path.read_text()))
    }
    assert found == _ALLOWED
