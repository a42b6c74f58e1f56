"""Haizea's commands that list and cancel (haizea section 1.4).

They are ``haizea-list-leases``, ``haizea-list-hosts``, ``haizea-show-queue`` and ``haizea-cancel-lease``. Errors are
printed in one line. The exit status is 1 if the server refuses, and 2 for any other error.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, ParamSpec

from rich.console import Console
from rich.table import Table

from lease_scheduler.cmd.messages import OneLineParser, one_line_errors
from lease_scheduler.conf.haizea import DEFAULT_PORT
from lease_scheduler.haizea.frontend.caller import CallRefusedError, call, texts
from lease_scheduler.haizea.frontend.lease_xml import read_listed
from lease_scheduler.model.errors import InvalidValueError

_LEASE_COLUMNS = ("ID", "Type", "State", "Starting time", "Duration", "Nodes")
_HOST_COLUMNS = ("ID", "Hostname", "CPUs", "Mem")
_HOST_KEYS = ("id", "hostname", "cpu", "mem")

_P = ParamSpec("_P")


def with_refusals(main: Callable[_P, int]) -> Callable[_P, int]:
    """Make a program exit with status 1 if the server refuses, and with status 2 for any other error."""

    @functools.wraps(main)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> int:
        try:
            return main(*args, **kwargs)
        except CallRefusedError as error:
            print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
            return 1

    return one_line_errors(run)


def client_parser(prog: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all clients share."""
    server = f"http://localhost:{DEFAULT_PORT}"
    parser = OneLineParser(prog=prog, description=description)
    parser.add_argument("-s", "--server", metavar="URL", default=server, help=f"XML-RPC server (default: {server})")
    return parser


@with_refusals
def cancel_lease(arguments: Sequence[str] | None = None) -> int:
    """Cancel a lease."""
    parser = client_parser("haizea-cancel-lease", "Cancels a lease.")
    parser.add_argument("-l", "--lease", metavar="ID", type=int, required=True, help="the lease")
    given = parser.parse_args(arguments)
    call(given.server, "cancel_lease", given.lease)
    return 0


@with_refusals
def list_leases(arguments: Sequence[str] | None = None) -> int:
    """List the live leases."""
    given = client_parser("haizea-list-leases", "Lists the leases that are not over.").parse_args(arguments)
    _show_leases(call(given.server, "get_leases"))
    return 0


@with_refusals
def show_queue(arguments: Sequence[str] | None = None) -> int:
    """List the leases in the queue."""
    given = client_parser("haizea-show-queue", "Lists the leases that wait in the queue.").parse_args(arguments)
    queue = call(given.server, "get_queue")
    if queue:
        _show_leases(queue)
    else:
        print("Queue is empty.")
    return 0


@with_refusals
def list_hosts(arguments: Sequence[str] | None = None) -> int:
    """List the hosts."""
    given = client_parser("haizea-list-hosts", "Lists the hosts that leases may use.").parse_args(arguments)
    hosts = call(given.server, "get_hosts")
    if not isinstance(hosts, list) or not all(
        isinstance(host, dict) and set(_HOST_KEYS) <= set(host) for host in hosts
    ):
        raise InvalidValueError("--server", "the server does not answer as Haizea does")
    _show(_HOST_COLUMNS, ([host[key] for key in _HOST_KEYS] for host in hosts))
    return 0


def _show_leases(answer: Any) -> None:
    _show(_LEASE_COLUMNS, (astuple(read_listed(text)) for text in texts(answer)))


def _show(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: with underlined titles on a terminal, otherwise as plain columns that programs can read."""
    console = Console()
    texts_of_rows = [[_plain(value) for value in row] for row in rows]
    if console.is_terminal:
        table = Table(box=None, header_style="bold underline", pad_edge=False)
        for title in columns:
            table.add_column(title, no_wrap=True)
        for row in texts_of_rows:
            table.add_row(*row)
        console.print(table, markup=False, highlight=False)
        return
    widths = [max(map(len, column)) for column in zip(columns, *texts_of_rows, strict=True)]
    for row in [list(columns), *texts_of_rows]:
        print("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip())


def _plain(value: Any) -> str:
    """Return a value as text, without characters that a terminal would interpret as commands."""
    return "".join(character if character.isprintable() else "?" for character in str(value))
