"""The page "Slurm on leased nodes" leads to a first job: its files and commands as printed, on a real Slurm."""

from __future__ import annotations

import configparser
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compat.printed import ROOT, blocks
from tests.functional.guest.conftest import MakeWorld
from tests.functional.guest.world import SECRET, World, program
from tests.servers.slurm import NODES

_PAGE = "user/slurm.rst"
_TEXT = (ROOT / "doc" / "source" / _PAGE).read_text()
_PATIENCE = 240.0

#: Stands for the client of a cloud with servers: it boots and deletes the nodes that the handler asks for.
_OPENSTACK = """\
#!{python}
import json, pathlib, re, sys, urllib.request
sys.path.insert(0, {root!r})
from lease_scheduler.guest.handlers import SIGNATURE, signature

def send(verb, node):
    body = json.dumps({{"verb": verb, "node": node, "lease": {{}}}}).encode()
    headers = {{SIGNATURE: signature({secret!r}, body)}}
    urllib.request.urlopen(urllib.request.Request({url!r}, body, headers, method="POST"), timeout=60).close()

servers = pathlib.Path({folder!r})
command, words = sys.argv[2], sys.argv[3:]
assert sys.argv[1] == "server", sys.argv
if command == "list":
    name = words[words.index("--name") + 1].strip("^$")
    print("id-of-" + name if (servers / name).exists() else "", end="")
elif command == "create":
    assert re.fullmatch("lease-[0-9a-f-]{{36}}-0", words[words.index("--flavor") + 1]), words
    (servers / words[-1]).touch()
    send("join", words[-1])
elif command == "show":
    assert (servers / words[0]).exists(), words
    print(json.dumps({{"addresses": {{"cluster": ["127.0.0.1"]}}}}))
elif command == "delete":
    name = words[-1].removeprefix("id-of-")
    (servers / name).unlink()
    send("leave", name)
"""


def _printed(language: str, first: str) -> str:
    """Return the block of a language that has a text in its first line."""
    found = re.findall(rf"^( *)\.\. code-block:: {language}\n\n((?:\1   .*\n|\n)+)", _TEXT, re.MULTILINE)
    texts = [re.sub(rf"^{indent}   ", "", text, flags=re.MULTILINE) for indent, text in found]
    (text,) = [each for each in texts if first in each.splitlines()[0]]
    return text


def _command(name: str) -> str:
    (found,) = [each for block in blocks() if block.page == _PAGE for each in block.commands if each.startswith(name)]
    return found


def _executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _configure_slurm(world: World) -> None:
    """Let the printed lines replace those of the tests; nodes of one machine need ports, and tests little patience."""
    slurm = world.slurm
    text = _printed("ini", "PrivateData")
    for verb in ("resume-failed", "suspend", "resume"):
        text = re.sub(rf"/usr/bin/lease-scheduler-guest-{verb}$", str(slurm.folder / verb), text, flags=re.MULTILINE)
    text = text.replace("SuspendTime=300", "SuspendTime=3").replace("SuspendTimeout=60", "SuspendTimeout=2")
    (nodes,) = re.findall(r"^NodeName=c\[1-3\] (.*)\n", text, re.MULTILINE)
    places = "NodeHostname={0} NodeAddr=127.0.0.1 Port={1}"
    lines = [f"NodeName={name} {places.format(name, slurm.port_of(name))} {nodes}" for name in NODES]
    text = re.sub(r"^NodeName=.*\n", "\n".join([*lines, ""]), text, flags=re.MULTILINE)
    printed = {line.partition("=")[0] for line in text.splitlines()}
    kept = [line for line in slurm.configuration.read_text().splitlines() if line.partition("=")[0] not in printed]
    slurm.kill_controller()
    slurm.configuration.write_text("\n".join([*kept, text]))
    slurm.start_controller()


def _configure_guest(world: World, folder: Path) -> None:
    """Use the printed file; what it does not print is as in other tests."""
    printed = configparser.ConfigParser()
    printed.read_string(_printed("ini", "[guest]"))
    options = printed["guest"]
    assert options["handler_script"] == "/etc/lease-scheduler/node"
    options["handler_script"] = str(folder / "node")
    options["database"] = str(folder / "guest.sqlite")
    options["interval"] = "1"
    with (folder / "guest.conf").open("w") as file:
        printed.write(file)
    clouds = (folder / "clouds.yaml").read_text()
    (folder / "clouds.yaml").write_text(clouds.replace("  site:", f"  {options['cloud']}:"))


@pytest.mark.slow
def test_the_page_leads_to_a_first_job(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world()
    world.kill_guest()
    programs, servers = tmp_path / "bin", tmp_path / "servers"
    programs.mkdir()
    servers.mkdir()
    values = {"root": str(ROOT), "secret": SECRET.encode(), "url": world.hooks.url, "folder": str(servers)}
    _executable(programs / "openstack", _OPENSTACK.format(python=sys.executable, **values))
    _executable(tmp_path / "node", _printed("bash", "#!/bin/sh"))
    guest = shlex.join([*program("guest", "main"), "--config-file", str(tmp_path / "guest.conf")])
    _executable(programs / "lease-scheduler-guest", f'#!/bin/sh\nexec {guest} "$@"\n')
    _configure_guest(world, tmp_path)
    _configure_slurm(world)
    world.variables = {"PATH": f"{programs}:{world.slurm.variables['PATH']}"}
    world.start_guest()

    def run(name: str) -> str:
        words = ["sh", "-ec", _command(name)]
        variables = world.slurm.variables | world.variables
        return subprocess.run(
            words, env=variables, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
        ).stdout

    assert "Submitted batch job 1" in run("sbatch")
    world.wait(lambda: " CF " in run("squeue"))
    world.wait(lambda: len(world.live_leases()) == 2)
    world.wait(lambda: run("lease-scheduler-guest").count(": joined with lease") == 2)
    assert "set-up: " in run("lease-scheduler-guest")
    world.wait_for_end(_PATIENCE)
    assert len((tmp_path / "slurm-1.out").read_text().split()) == 2
    assert list(servers.iterdir()) == []


def test_the_printed_cloud_has_what_an_application_credential_needs() -> None:
    text = _printed("yaml", "clouds:")
    assert "auth_type: v3applicationcredential" in text
    for name in ("auth_url", "application_credential_id", "application_credential_secret"):
        assert f"{name}: " in text


@pytest.mark.parametrize("name", ["adaptive", "per-job", "per-job-extend", "static"])
def test_every_controller_is_described(name: str) -> None:
    assert f"* - ``{name}``" in _TEXT
