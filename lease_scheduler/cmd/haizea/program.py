"""``haizea``: Haizea's program, for users who have a haizea.conf (haizea F18, F19).

With the simulated clock, it runs the trace file through the simulator, always in the foreground. With the real clock,
it is an interactive simulation from which Haizea's clients request leases, and runs in the background by default.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lease_scheduler.cmd import simulate
from lease_scheduler.cmd.daemon import PidFile, default_folder, start_in_background, tell_ready
from lease_scheduler.cmd.haizea.interactive import run_interactive
from lease_scheduler.cmd.haizea.logs import configure_simulation_log
from lease_scheduler.cmd.messages import OneLineParser, one_line_errors
from lease_scheduler.conf.haizea import DEFAULT_PORT
from lease_scheduler.haizea.configuration.haizea_conf import (
    InteractiveConf,
    read_haizea_conf,
    read_interactive_conf,
    read_mode,
)
from lease_scheduler.model.errors import InvalidValueError

_NOT_RUNNING = 1


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Run, or stop the simulation in the background; the exit status is 1 if there is none to stop."""
    given = _parser().parse_args(arguments)
    if not given.stop and given.conf is None:
        raise InvalidValueError("-c", "name a configuration file, as in haizea -c haizea.conf")
    if not given.stop and read_mode(given.conf) == ("simulated", "simulated"):
        return _simulate(given.conf)
    pid_file = PidFile(given.pid_file or default_folder() / "haizea.pid")
    if given.stop:
        if pid_file.stop():
            return 0
        print("haizea: it does not run", file=sys.stderr)
        return _NOT_RUNNING
    mode, _ = read_mode(given.conf)
    if mode == "opennebula":
        raise InvalidValueError(
            "[general] mode",
            "leases on Nova are kept by the service itself: run lease-scheduler-api and lease-scheduler-engine with "
            "[service] cloud = nova, and lease-scheduler-haizea-front for Haizea's clients",
        )
    haizea = read_interactive_conf(given.conf)
    log_file = haizea.log_file or (None if given.foreground and given.ready_fd is None else _default_log())
    if given.foreground:
        return _serve(given, haizea, log_file, pid_file)
    assert log_file is not None
    command = [sys.executable, "-m", __name__, "--foreground", "--conf", given.conf, "--port", str(given.port)]
    command += ["--api-port", str(given.api_port)]
    if given.pid_file is not None:
        command += ["--pid-file", str(given.pid_file)]
    start_in_background(command, log_file)
    return 0


def _serve(given: argparse.Namespace, haizea: InteractiveConf, log_file: Path | None, pid_file: PidFile) -> int:
    pid_file.take()

    def on_ready() -> None:
        if given.ready_fd is not None:
            assert log_file is not None
            tell_ready(given.ready_fd, log_file)

    try:
        run_interactive(haizea, given.port, given.api_port, log_file, on_ready)
    finally:
        pid_file.release()
    return 0


def _simulate(conf: str) -> int:
    haizea = read_haizea_conf(conf)
    configure_simulation_log(haizea.log_level, haizea.log_file)
    parser: argparse.ArgumentParser = OneLineParser(prog="haizea")
    simulate.add_parser(parser.add_subparsers())
    run = parser.parse_args(["run", "--haizea-conf", conf])
    return int(run.func(run))


def _default_log() -> Path:
    return default_folder() / "haizea.log"


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog="haizea", description="Simulates leases as a configuration file of Haizea says.")
    parser.add_argument("-c", "--conf", metavar="FILE", help="configuration file of Haizea")
    parser.add_argument("-f", "--foreground", action="store_true", help="stay in the foreground")
    parser.add_argument("--stop", action="store_true", help="stop the simulation in the background")
    parser.add_argument(
        "--pid-file",
        type=Path,
        metavar="FILE",
        help="PID file of the simulation in the background (default: one for each user)",
    )
    parser.add_argument(
        "--port", type=_port, default=DEFAULT_PORT, help=f"port of XML-RPC on loopback (default: {DEFAULT_PORT})"
    )
    parser.add_argument(
        "--api-port",
        type=_port,
        default=0,
        help="port of the REST API and the calendar page on loopback (default: a free one, which is printed)",
    )
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    return parser


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5) or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is no port; right is a number up to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
