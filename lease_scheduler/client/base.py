"""Base classes of the commands: each has its options, sends a request to the service, and shows the answer."""

from __future__ import annotations

import abc
import argparse
from typing import Any

from osc_lib import exceptions
from osc_lib.command import command

from lease_scheduler.client import output
from lease_scheduler.client.rest import LeaseClient
from lease_scheduler.model.documents import Document

#: Titles of the columns, and the rows.
Table = tuple[list[str], list[list[Any]]]


class NoGatewayError(exceptions.CommandError):
    """A command or an option is only for gateways, and the service is none. The exit status is that of wrong usage."""


#: Exit status of wrong usage, as of argparse.
_WRONG_USAGE = 2


class _WithOptions(command.Command):
    """A command whose options are added by ``_add_options``."""

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run the command, and return its exit status."""
        try:
            return int(super().run(parsed_args))
        except NoGatewayError as error:
            print(error, file=self.app.stderr)
            return _WRONG_USAGE

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        self._add_options(parser)
        return parser

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's own options, if it has any."""

    @property
    def _client(self) -> LeaseClient:
        # OpenStackClient gives its manager an attribute for each plug-in.
        manager: Any = self.app.client_manager
        client: LeaseClient = manager.lease
        return client


class ShowCommand(_WithOptions, command.ShowOne, metaclass=abc.ABCMeta):
    """A command that shows one object."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Send the request, and return the object to show."""
        return output.show(self._answer(self._client, parsed_args))

    @abc.abstractmethod
    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Document:
        """Send the request, and return the object in the answer."""


class LeaseCommand(ShowCommand):
    """A command that shows a lease or a quote. People do not see fields that only operators and programs need."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the command's arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--long", action="store_true", help="Show every field, also internal ones and those without a value"
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Send the request, and return the lease to show."""
        lease = self._answer(self._client, parsed_args)
        if for_people(parsed_args):
            if output.has_hosts(lease):
                lease["hosts"] = self._client.host_names(lease["id"])
            if not parsed_args.long:
                lease = output.brief(lease)
        return output.show(lease)


def for_people(parsed: argparse.Namespace) -> bool:
    """Return whether the output is a table whose columns the command may choose."""
    return parsed.formatter == "table" and not parsed.columns


class ListCommand(_WithOptions, command.Lister, metaclass=abc.ABCMeta):
    """A command that lists objects."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Send the request, and return the table to show."""
        return self._answer(self._client, parsed_args)

    @abc.abstractmethod
    def _answer(self, client: LeaseClient, parsed: argparse.Namespace) -> Table:
        """Send the request, and return the objects in the answer as a table."""


class PlainCommand(_WithOptions, metaclass=abc.ABCMeta):
    """A command that does something and shows nothing."""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        """Send the request."""
        self._do(self._client, parsed_args)

    @abc.abstractmethod
    def _do(self, client: LeaseClient, parsed: argparse.Namespace) -> None:
        """Send the request."""


def add_lease(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a lease."""
    parser.add_argument("lease", metavar="<lease>", help="Lease (name or ID)")
