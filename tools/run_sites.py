"""Three simulated sites and a gateway in front of them, on loopback: ``python -m tools.run_sites``.

Each site is a ``lease-scheduler-embedded`` with a folder and a port of its own. Everything ends with Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from lease_scheduler.cmd.signals import EndingSignals

#: Names of the sites; their ports follow that of the gateway.
SITES = ("north", "south", "west")

#: Seconds that a program has to answer after its start, and to end; and between two looks.
_START, _END, _PAUSE = 120.0, 60.0, 0.2

_CLOUD = """
  {name}:
    auth_type: admin_token
    auth:
      endpoint: {url}/v1
      token: anything
    reservation_endpoint_override: {url}/v1
"""
_GATEWAY = """
[api]
auth_strategy = noauth
port = {port}
[database]
connection = sqlite:///{folder}/gateway.sqlite
[gateway]
members = {members}
mode = best
allocation = earliest
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C or a signal; return the exit status."""
    parser = argparse.ArgumentParser(prog="run_sites", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("var/sites"), help="folder of the databases and logs")
    parser.add_argument("--port", type=int, default=1234, help="port of the gateway; the sites have the next ones")
    options = parser.parse_args(arguments)
    signals = EndingSignals()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    urls = {name: f"http://127.0.0.1:{options.port + number}" for number, name in enumerate(SITES, start=1)}
    environment = _prepared(folder, options.port, urls)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number, name in enumerate(SITES, start=1):
            words = ["--state-path", str(folder / name), "--port", str(options.port + number), "--fill-pool"]
            running.append(_started("embedded", words, folder / f"{name}.log", environment))
        for process, url in zip(running, urls.values(), strict=True):
            _wait(process, url, folder)
        words = ["--config-file", str(folder / "gateway.conf")]
        subprocess.run([*_command("manage"), *words, "db", "sync"], env=environment, check=True, capture_output=True)
        running.append(_started("gateway", words, folder / "gateway.log", environment))
        _wait(running[-1], f"http://127.0.0.1:{options.port}", folder)
        for name, url in urls.items():
            print(f"{name}: {url}/", flush=True)
        print(f"gateway: http://127.0.0.1:{options.port}/   end it with Ctrl-C", flush=True)
        while not signals.wait(1.0):
            if any(process.poll() is not None for process in running):
                print(f"a program has ended; see the logs in {folder}", file=sys.stderr)
                return 1
        return 0
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        _end(running)


def _prepared(folder: Path, port: int, urls: Mapping[str, str]) -> dict[str, str]:
    """Write the configuration, and return the environment of all programs."""
    clouds = "".join(_CLOUD.format(name=name, url=url) for name, url in urls.items())
    (folder / "clouds.yaml").write_text(f"clouds:{clouds}")
    members = ", ".join(f"{name}:{name}" for name in urls)
    (folder / "gateway.conf").write_text(_GATEWAY.format(port=port, folder=folder, members=members))
    return os.environ | {"OS_CLIENT_CONFIG_FILE": str(folder / "clouds.yaml")}


def _command(module: str) -> list[str]:
    return [sys.executable, "-c", f"from lease_scheduler.cmd.{module} import main; main()"]


def _started(module: str, words: Sequence[str], log: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, so that Ctrl-C reaches this program only."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [*_command(module), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,
        )


def _wait(process: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    """Wait until a program answers.

    :raises RuntimeError: it has ended, or does not answer in time
    """
    end = time.monotonic() + _START
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{url}/healthcheck", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(_PAUSE)
    raise RuntimeError(f"what is to be at {url} does not answer; see the logs in {folder}")


def _end(running: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the programs, the gateway first."""
    for process in reversed(running):
        process.terminate()
    for process in running:
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


if __name__ == "__main__":
    raise SystemExit(main())
