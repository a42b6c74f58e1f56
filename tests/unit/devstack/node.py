"""A node on which DevStack calls the plug-in; what DevStack itself would do is only recorded."""

from __future__ import annotations

import getpass
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_HERE = Path(__file__).parent
_REPOSITORY = Path(__file__).parents[3]

#: Runs the plug-in like stack.sh, but stricter: an unset variable is an error.
_PROGRAM = """
set -o errexit -o nounset
source "$FUNCTIONS"
source "$PLUGIN/settings"
source "$PLUGIN/plugin.sh" "$@"
"""

#: Services of a node that has everything.
CONTROLLER = ("key", "mysql", "rabbit", "n-api", "n-cond", "n-sch", "n-cpu", "placement-api", "tempest")

#: Services of a node that only runs servers.
COMPUTE = ("n-cpu", "placement-client")

PHASES = ("pre-install", "install", "post-config", "extra", "test-config")


class PluginError(Exception):
    """The plug-in has ended DevStack's run."""


@dataclass
class Node:
    """A node with its files.

    :ivar folder: folder of all files
    :ivar services: services that local.conf enables
    :ivar variables: variables that local.conf and DevStack set
    """

    folder: Path
    services: tuple[str, ...] = CONTROLLER
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def nova_conf(self) -> Path:
        """Nova's configuration file."""
        return self.folder / "etc" / "nova" / "nova.conf"

    @property
    def placement_conf(self) -> Path:
        """Placement's configuration file."""
        return self.folder / "etc" / "placement" / "placement.conf"

    @property
    def conf(self) -> Path:
        """Our configuration file."""
        return self.folder / "etc" / "lease-scheduler" / "lease-scheduler.conf"

    @property
    def uwsgi_conf(self) -> Path:
        """uWSGI's configuration of our API."""
        return self.conf.with_name("lease-scheduler-api-uwsgi.ini")

    @property
    def uwsgi(self) -> Path:
        """The uWSGI program that all services share."""
        return self.folder / "usr" / "bin" / "uwsgi"

    def cell_conf(self, number: int) -> Path:
        """Return the configuration file of the conductor of a cell."""
        return self.nova_conf.with_name(f"nova_cell{number}.conf")

    @property
    def state(self) -> Path:
        """The folder in which our service keeps its state."""
        return self.folder / "data" / "lease-scheduler"

    @property
    def anchor(self) -> Path:
        """Nova's provider configuration, which adds to the host's inventory."""
        return self.folder / "etc" / "nova" / "provider_config" / "lease-anchor.yaml"

    @property
    def site(self) -> Path:
        """The web server's configuration of our site."""
        return self.folder / "sites" / "lease-scheduler-api.conf"

    @property
    def constraints(self) -> Path:
        """The file of the versions that DevStack installs."""
        return self.folder / "requirements" / "upper-constraints.txt"

    @property
    def tempest_conf(self) -> Path:
        """Tempest's configuration file."""
        return self.folder / "tempest.conf"

    @property
    def programs(self) -> Path:
        """Folder of the installed programs."""
        return Path(self.variables["PROGRAMS"])

    def run(self, *words: str) -> list[tuple[str, ...]]:
        """Call the plug-in and return its calls in order, each with its arguments.

        :param words: mode and phase
        :raises PluginError: it has ended the run, with the reason
        """
        ended = self.bash(_PROGRAM, *words)
        if ended.returncode:
            raise PluginError(ended.stderr)
        return self.calls()

    def stack(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the plug-in's calls in each phase of stack.sh."""
        return {phase: self.run("stack", phase) for phase in PHASES}

    def bash(self, program: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a bash program with the node's variables and with arguments."""
        (self.folder / "calls").write_text("")
        command = ["bash", "-c", program, "stack.sh", *words]
        variables = self._all_variables() | more
        return subprocess.run(
            command, env=variables, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )

    def calls(self) -> list[tuple[str, ...]]:
        """Return the calls of the last program."""
        return [tuple(line.split("\t")) for line in (self.folder / "calls").read_text().splitlines()]

    def _all_variables(self) -> dict[str, str]:
        return {
            "PATH": f"{self.folder}/usr/bin:/usr/bin:/bin",
            "CALLS": str(self.folder / "calls"),
            "FUNCTIONS": str(_HERE / "devstack.sh"),
            "PLUGIN": str(_REPOSITORY / "devstack"),
            "ENABLED_SERVICES": ",".join(self.services),
            **self.variables,
        }


def make_node(folder: Path, services: tuple[str, ...] = CONTROLLER, **variables: str) -> Node:
    """Return a node on which DevStack is about to call plug-ins.

    :param variables: further ones; an empty value removes one
    """
    programs = folder / "bin"
    usual = {
        "STACK_USER": getpass.getuser(),
        "DATA_DIR": str(folder / "data"),
        "SERVICE_HOST": "192.0.2.10",
        "SERVICE_PROTOCOL": "http",
        "SERVICE_PASSWORD": "secret",
        "SERVICE_PROJECT_NAME": "service",
        "SERVICE_DOMAIN_NAME": "Default",
        "REGION_NAME": "RegionOne",
        "KEYSTONE_SERVICE_URI": "http://192.0.2.10/identity",
        "NOVA_CONF": str(folder / "etc" / "nova" / "nova.conf"),
        "PLACEMENT_CONF": str(folder / "etc" / "placement" / "placement.conf"),
        "TEMPEST_CONFIG": str(folder / "tempest.conf"),
        "REQUIREMENTS_DIR": str(folder / "requirements"),
        "SITES": str(folder / "sites"),
        "DATABASE_PREFIX": f"sqlite:///{folder}/",
        "PROGRAMS": str(programs),
        "LEASE_SCHEDULER_CONF_DIR": str(folder / "etc" / "lease-scheduler"),
        "LEASE_SCHEDULER_PROVIDER_CONFIG_DIR": str(folder / "etc" / "nova" / "provider_config"),
    }
    node = Node(folder, services, {name: value for name, value in (usual | variables).items() if value})
    programs.mkdir()
    # It is recorded as well, and does nothing.
    manage = programs / "lease-scheduler-manage"
    manage.write_text('#!/bin/bash\nIFS=$\'\\t\'\necho "manage\t$*" >> "$CALLS"\n')
    manage.chmod(0o755)
    # As DevStack installs it, from the distribution's packages.
    node.uwsgi.parent.mkdir(parents=True)
    node.uwsgi.write_text("#!/bin/bash\n")
    node.uwsgi.chmod(0o755)
    node.constraints.parent.mkdir()
    node.constraints.write_text("oslo.messaging===99.0.0\nSQLAlchemy===99.0.0\n")
    node.placement_conf.parent.mkdir(parents=True)
    node.placement_conf.write_text("[api]\nauth_strategy = keystone\n")
    node.nova_conf.parent.mkdir(parents=True)
    node.nova_conf.write_text(
        "[DEFAULT]\ndebug = True\n\n[filter_scheduler]\nenabled_filters = ComputeFilter,SameHostFilter\n"
        "\n[oslo_messaging_notifications]\ndriver = messagingv2\n"
    )
    return node
