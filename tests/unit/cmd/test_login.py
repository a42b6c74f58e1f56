from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.login import configured_login
from lease_scheduler.model.errors import InvalidValueError


def _login(folder: Path, lines: str = "", middleware: str = "auth_url = http://keystone.example/identity") -> Any:
    file = folder / "service.conf"
    file.write_text(f"[keystone_authtoken]\nauth_type = password\n{middleware}\n{lines}\n")
    return configured_login(configuration.load(["--config-file", str(file)], program="test"), 4)


def test_those_of_keystonemiddleware_are_the_default(tmp_path: Path) -> None:
    login = _login(tmp_path, middleware="auth_url = http://k.example\ncafile = /k/ca.pem\ncertfile = /k/c.pem")
    assert vars(login.identity) == {
        "_url": "http://k.example/v3",
        "_verify": "/k/ca.pem",
        "_timeout": 10,
        "_certificate": "/k/c.pem",
    }
    assert (login.settings.default_domain, login.settings.concurrent) == ("Default", 2)


def test_others(tmp_path: Path) -> None:
    lines = "[page]\nauth_url = https://own.example/v3/\ninsecure = true\ntimeout = 3\ndefault_domain = users"
    login = _login(tmp_path, lines)
    assert vars(login.identity) == {
        "_url": "https://own.example/v3",
        "_verify": False,
        "_timeout": 3,
        "_certificate": None,
    }
    assert login.settings.default_domain == "users"
    assert vars(_login(tmp_path, "[page]\ninsecure = false", "auth_url = http://k\ninsecure = true").identity)[
        "_verify"
    ]


def test_no_login(tmp_path: Path) -> None:
    assert _login(tmp_path, "[page]\nlogin = false") is None
    assert _login(tmp_path, "[api]\nauth_strategy = noauth") is None


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_authorities_that_cannot_be_read(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidValueError, match=r"^page\.cafile: .*ca\.pem cannot be read"):
        _login(tmp_path, f"[page]\ncafile = {file}")


def test_no_address(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"^keystone_authtoken: .* auth_url"):
        _login(tmp_path, middleware="")
    with pytest.raises(InvalidValueError, match=r"^page\.auth_url: is needed"):
        _login(tmp_path, middleware="auth_type = none")
    with pytest.raises(InvalidValueError, match=r"^keystone_authtoken\.auth_type: is needed"):
        _login(tmp_path, middleware="auth_type =")
