from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd import guest, guest_hooks
from lease_scheduler.guest.records import Records

# openstacksdk announces its own changes.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

_OPTIONS = "[guest]\ndatabase = {folder}/guest.sqlite\nhandler_script = /bin/true\ncloud = site\n{lines}\n"


@pytest.fixture(autouse=True)
def _logging_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guest runs in this process, where other tests look at logs."""
    monkeypatch.setattr("lease_scheduler.cmd.guest.log.setup", lambda *_: None)


def _file(folder: Path, *lines: str) -> list[str]:
    path = folder / "guest.conf"
    path.write_text(_OPTIONS.format(folder=folder, lines="\n".join(lines)))
    return ["--config-file", str(path)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lookahead = 100", "guest.lookahead: must be more than drain_margin = 120, not 100"),
        ("requeue_margin = 121", "guest.requeue_margin: must be at most drain_margin = 120, not 121"),
        ("handler_url = http://h/", "guest.handler_script: give either handler_script or handler_url"),
        (
            "handler_script = /nowhere/node",
            "guest.handler_script: /nowhere/node is no program; name an executable file",
        ),
        ("controller = best", "guest.controller: there is no controller best; use one of adaptive, per-job"),
        ("controler = static", "[guest] controler: there is no such option"),
        ("nodes = 0", "nodes"),
        ("resources = VCPU:many", "resources"),
        ("lease_attributes = {", "guest.lease_attributes: is not JSON"),
        ("lease_attributes = []", "guest.lease_attributes: must be a JSON object"),
        (
            'lease_attributes = {"duration": 5}',
            "guest.lease_attributes: must not have duration, which the guest decides",
        ),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text("clouds: {site: {auth_type: none, auth: {endpoint: 'http://127.0.0.1:9'}}}\n")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    with pytest.raises(SystemExit) as ended:
        guest.main(_file(tmp_path, line))
    written = capsys.readouterr().err
    assert ended.value.code == 2
    assert message in written
    assert written.startswith("lease-scheduler-guest: ")
    assert len(written.splitlines()) == 1


def test_a_cloud_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    with pytest.raises(SystemExit) as ended:
        guest.main(_file(tmp_path))
    assert ended.value.code == 2
    assert "guest.cloud: Cloud site was not found" in capsys.readouterr().err


def test_the_hooks_write_for_the_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = _file(tmp_path)
    for hook, nodes in ((guest_hooks.resume, "c[1-3]"), (guest_hooks.suspend, "c1"), (guest_hooks.resume_failed, "c2")):
        monkeypatch.setattr("sys.argv", ["hook", *words, nodes])
        hook()
    records = Records(tmp_path / "guest.sqlite")
    records.take_told(0)
    assert [node.name for node in records.nodes()] == ["c3"]
    records.close()


def test_a_hook_that_cannot_write_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["hook", *_file(tmp_path, f"database = {tmp_path}/missing/guest.sqlite"), "c1"])
    with pytest.raises(SystemExit) as ended:
        guest_hooks.resume()
    assert ended.value.code == 2
    assert "lease-scheduler-guest-resume: guest.database" in capsys.readouterr().err


def test_a_list_of_hosts_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["hook", *_file(tmp_path), "c[1"])
    with pytest.raises(SystemExit):
        guest_hooks.resume()
    assert "name them as Slurm does" in capsys.readouterr().err
