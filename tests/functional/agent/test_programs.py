"""``lease-scheduler-agent`` refuses bad configurations in one line, and programs name bad options of agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from lease_scheduler.cmd import configuration
from lease_scheduler.cmd.clouds.nova import ConfiguredNova
from lease_scheduler.model.errors import InvalidValueError
from tests.servers.preloaded import run_preloaded

_BUS = "[DEFAULT]\ntransport_url = rabbit://127.0.0.1:1/\n"
_SECRET = "[agent]\nsecret = a secret of the site\n"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (
            _BUS + "[agent]\nhost = compute-1\n",
            "agent.host_key: is needed; where the engine is: lease-scheduler-manage agent key compute-1",
        ),
        *(
            (
                f"{_BUS}[agent]\nhost = compute-1\nhost_key ={key}\n",
                "agent.host_key: must be what this prints: lease-scheduler-manage agent key compute-1",
            )
            for key in ("", " a-key-of-our-own")
        ),
        (_SECRET, "transport_url: is needed: the message bus of the engine"),
        (_BUS + _SECRET + "expire_after = 20\n", "agent.renew_interval: must be at most half of expire_after"),
    ],
)
def test_the_agent_refuses_in_one_line(tmp_path: Path, lines: str, complaint: str) -> None:
    path = tmp_path / "agent.conf"
    path.write_text(lines)
    ended = run_preloaded("lease-scheduler-agent", "--config-file", str(path), folder=tmp_path, limit=120)
    assert (ended.returncode, ended.stderr) == (2, f"lease-scheduler-agent: {complaint}\n")


def test_the_engine_refuses_a_secret_that_is_too_short(tmp_path: Path) -> None:
    path = tmp_path / "engine.conf"
    path.write_text("[agent]\nsecret = short\n")
    with pytest.raises(InvalidValueError, match=r"agent\.secret.*at least 16 characters.*openssl rand"):
        ConfiguredNova(configuration.load(["--config-file", str(path)]))
