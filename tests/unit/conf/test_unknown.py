"""Unknown options are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd.configuration import load
from lease_scheduler.cmd.options.loading import load_configuration
from lease_scheduler.conf.unknown import refuse_unknown_options
from lease_scheduler.model.errors import InvalidValueError

_SAMPLE = Path(__file__).parents[3] / "etc" / "lease-scheduler.conf.sample"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scheduling]\npolicy_admision = x\n", r"a.conf: \[scheduling\] policy_admision: .*is policy_admission meant"),
        ("[scheduling]\nsuspend-rate = 5\n", "is suspend_rate meant"),
        ("[service]\nboot_attempts = 5\n", r"belongs to \[engine\]"),
        ("[metrics]\nqwertz = 5\n", "known are acceptable_wait, acceptable_wait_factor, api_port"),
        (
            "[schedulling]\nsuspend_rate = 5\n",
            r"a.conf: \[schedulling\]: there is no such group; is \[scheduling\] meant",
        ),
        ("[Scheduling]\nqwertz = 5\n", r"\[Scheduling\] qwertz"),
        ("[nova]\nauth_type = v3password\nuser_nam = x\n", "is user_name meant"),
        ("[nova]\nauth_type = v3password\napplication_credential_id = x\n", "no such option"),
    ],
)
def test_what_is_misspelt(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    """The service refuses them with status 2 and one line, and so does the simulator."""
    file = tmp_path / "a.conf"
    file.write_text(text)
    with pytest.raises(SystemExit) as ended:
        load(["--config-file", str(file)], program="program")
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    with pytest.raises(InvalidValueError, match=message):
        refuse_unknown_options([file])
    assert line.startswith(f"program: {file}: ")
    with pytest.raises(InvalidValueError, match=message):
        load_configuration([file], {})


@pytest.mark.parametrize(
    "text",
    [
        "[oslo_messaging_rabbit]\nanything = 1\n[keystone_authtoken]\nauth_type = password\nusername = x\n",
        "[database]\nconnection = sqlite://\nqwertz = 1\n[profiler]\nenabled = true\n[cache]\nbackend = x\n",
        "[DEFAULT]\ntransport_url = fake://\ndebug = true\nrpc_response_timeout = 5\n",
        "[nova]\nauth_type = v3applicationcredential\napplication_credential_id = x\n",
        "[nova]\nauth_type = password\nuser_name = x\nauth_url = x\ntenant_name = y\nusername = z\n",
        "[nova]\nauth_section = novas\n[novas]\nauth_type = password\n",
        "[enforcement]\nauth_type = v3password\nusername = x\n",
        "[haizea]\nauth_type = none\nendpoint_override = http://127.0.0.1:1/v1\n",
        "[service_user]\nauth_type = password\n[placement]\nx = 1\n",
        "[policy]\nextra = one:1\n",
    ],
)
def test_what_is_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.conf"
    file.write_text(text)
    refuse_unknown_options([file])


def test_every_option_of_the_sample_is_known(tmp_path: Path) -> None:
    """All lines of the sample, as if they were set, including those of keystoneauth."""
    lines = _SAMPLE.read_text().splitlines()
    options = [
        line.removeprefix("#")
        for line in lines
        if line.startswith("[") or (line.startswith("#") and " = " in line and not line.startswith("# "))
    ]
    assert len(options) > 150
    file = tmp_path / "a.conf"
    file.write_text("\n".join(options))
    refuse_unknown_options([file])


def test_files_of_a_folder_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of --config-dir; auth_type may be in another file than the options that depend on it."""
    (tmp_path / "a.conf").write_text("[nova]\nauth_type = v3applicationcredential\n")
    (tmp_path / "b.conf").write_text("[nova]\napplication_credential_id = x\n")
    load(["--config-dir", str(tmp_path)], program="program")
    (tmp_path / "c.conf").write_text("[nova]\nlost_afer = 5\n")
    with pytest.raises(SystemExit):
        load(["--config-dir", str(tmp_path)], program="program")
    assert f"{tmp_path}/c.conf: [nova] lost_afer" in capsys.readouterr().err
