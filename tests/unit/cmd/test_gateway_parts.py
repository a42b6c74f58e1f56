"""The configured parts of a gateway."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd.configuration import load
from lease_scheduler.cmd.gateway_parts import configured_projects, gateway_settings
from lease_scheduler.model.errors import InvalidValueError
from lease_scheduler.service.gateway.projects import Projects, ProjectsMode

_KEYSTONE = "[api]\nauth_strategy = keystone\n"
_MEMBERS = "[gateway]\nmembers = north:compute-north, south:compute-south\n"


def _configured(tmp_path: Path, text: str) -> Projects:
    file = tmp_path / "gateway.conf"
    file.write_text(text)
    conf = load(["--config-file", str(file)])
    found = configured_projects(conf)
    assert gateway_settings(conf).projects == found
    return found


def test_each_site_has_a_table_of_projects(tmp_path: Path) -> None:
    tables = "[gateway:north]\nprojects = red:rouge, blue:bleu\n[gateway:south]\nprojects = red:rosso\n"
    found = _configured(tmp_path, f"{_KEYSTONE}{_MEMBERS}projects = mapped\n{tables}")
    assert found == Projects(
        ProjectsMode.MAPPED, {"north": {"red": "rouge", "blue": "bleu"}, "south": {"red": "rosso"}}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[api]\nauth_strategy = noauth\n{_MEMBERS}", Projects()),
        (f"{_KEYSTONE}{_MEMBERS}projects = own\n", Projects(ProjectsMode.OWN)),
    ],
)
def test_without_tables_all_sites_are_alike(tmp_path: Path, text: str, expected: Projects) -> None:
    assert _configured(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"[api]\nauth_strategy = noauth\n{_MEMBERS}projects = own\n",
            "gateway.projects: must be gateway, not own, as callers are not authenticated",
        ),
        (f"{_KEYSTONE}{_MEMBERS}projects = mapped\n", r"such as \[gateway:north\] projects"),
        (
            f"{_KEYSTONE}{_MEMBERS}projects = own\n[gateway:south]\nprojects = a:b\n",
            r"gateway:south.projects: needs \[gateway\] projects = mapped",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        _configured(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{_MEMBERS}[gateway:west]\nprojects = a:b\n", "[gateway] members has north, south; add the site there"),
        ("[gateway:west]\nprojects = a:b\n", "[gateway] members has no site; add the site there"),
        (f"{_MEMBERS}[gateway:north]\nproject = a:b\n", "is projects meant?"),
        (f"{_MEMBERS}[gateway:north]\nprojects = a\n", "projects"),
        (f"{_MEMBERS}[gateway:north]\nprojects = a:\n", "projects"),
        (f"{_MEMBERS}projects = theirs\n", "projects"),
    ],
)
def test_wrong_options_are_refused_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        _configured(tmp_path, text)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
