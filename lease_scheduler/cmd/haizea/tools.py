"""Haizea's workload tools under their own names; each translates its command line to one of ``lease-sim``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lease_scheduler.cmd.lease_sim import main as lease_sim


@dataclass(frozen=True)
class _Option:
    """An option of Haizea.

    :ivar names: its names in Haizea
    :ivar ours: corresponding option of ``lease-sim``; empty for a positional argument
    :ivar help: its help text
    :ivar required: whether it must be given
    :ivar flag: whether it takes no value
    :ivar choices: (value, argument of ``lease-sim``), if values are translated
    :ivar otherwise: arguments of ``lease-sim`` if it is not given
    """

    names: tuple[str, ...]
    ours: str
    help: str
    required: bool = False
    flag: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    otherwise: tuple[str, ...] = ()

    def words(self, value: str | bool | None) -> list[str]:
        """Return the arguments of ``lease-sim`` for a value of this option."""
        if value is None or value is False:
            return list(self.otherwise)
        if value is True:
            return [self.ours] if self.ours else []
        if self.choices:
            return [dict(self.choices)[value.lower()]]
        # One argument instead of two, so that a value may begin with a hyphen.
        return [f"{self.ours}={value}"] if self.ours else [value]


@dataclass(frozen=True)
class _Tool:
    """A program of Haizea.

    :ivar ours: first arguments of ``lease-sim``, which replaces it
    """

    summary: str
    ours: tuple[str, ...]
    options: tuple[_Option, ...]


_CONF = _Option(("-c", "--conf"), "", "multi-configuration", required=True)
_IN = _Option(("-i", "--in"), "", "input file", required=True)
_OUT = _Option(("-o", "--out"), "--output", "output file", required=True)
_GENERATOR = _Option(("-c", "--conf"), "--conf", "generator configuration", required=True)
_YES, _NO = "--preemptible", "--no-preemptible"

_TOOLS = {
    "haizea-generate-configs": _Tool(
        "Write the single configurations of a multi-configuration.",
        ("generate-configs",),
        (_CONF, _Option(("-d", "--dir"), "--output", "where they go", required=True)),
    ),
    "haizea-generate-scripts": _Tool(
        "Print a script that runs the configurations of a multi-configuration.",
        ("generate-scripts",),
        (
            _CONF,
            _Option(("-d", "--confdir"), "--configs", "folder of the single configurations", required=True),
            _Option(("-t", "--template"), "--template", "template of the script (Mako)", required=True),
            _Option(("-m", "--only-missing"), "--only-missing", "only runs without a data file", flag=True),
            _Option(("-x", "--exclude"), "--exclude", "leave out configurations whose names are like this pattern"),
        ),
    ),
    "haizea-swf2lwf": _Tool(
        "Turn a log (SWF) into a workload (LWF), and describe it.",
        ("convert", "--stats"),
        (
            _IN,
            _OUT,
            _Option(
                ("-p", "--preemptible"),
                _YES,
                "whether leases may be interrupted",
                required=True,
                choices=(("true", _YES), ("yes", _YES), ("false", _NO), ("no", _NO)),
            ),
            _Option(("-f", "--from"), "--begin", "first instant of the interval, DD:HH:MM:SS"),
            _Option(("-l", "--interval-length"), "--length", "length of the interval, DD:HH:MM:SS"),
            _Option(("-q", "--queues"), "--queues", "queues to keep: N,N..."),
            _Option(("-m", "--memory"), "--memory", "MB of each node", otherwise=("--memory", "requested")),
            _Option(("-s", "--scale"), "--scale", "processors per node"),
            _Option(("-n", "--site"), "--site", "file with the <site>"),
        ),
    ),
    "haizea-lwf-generate": _Tool("Generate advance reservations.", ("generate",), (_OUT, _GENERATOR)),
    "haizea-lwf-annotate": _Tool(
        "Generate annotations (LWFA).",
        ("annotate", "--annotations-only"),
        (
            _Option(("-i", "--in"), "", "workload to annotate"),
            _Option(("-n", "--count"), "--count", "number of annotations, without a workload"),
            _Option(("-o", "--out"), "--output", "annotations to write", required=True),
            _Option(("-c", "--conf"), "--generate", "generator configuration", required=True),
        ),
    ),
    "haizea-lwf-stats": _Tool(
        "Describe a workload.",
        ("stats",),
        (
            _IN,
            _Option(("-a", "--annotations"), "--annotations", "annotations (LWFA) to lay over it first"),
            _Option(("-v", "--verbose"), "", "with classes of sizes and durations", flag=True, otherwise=("--brief",)),
            _Option(("-l", "--length"), "--length", "length of the workload, DD:HH:MM:SS"),
        ),
    ),
    "haizea-lwf2xml": _Tool("Turn a ten-column LWF into XML.", ("convert",), (_IN, _OUT)),
    "haizea-csv2lwf": _Tool("Turn a trace with semicolons into LWF.", ("convert",), (_IN, _OUT)),
}


def main(words: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one of the programs.

    :param words: arguments after the program's name; None for the command line of the process
    :param program: name of the program; None for the name under which the process was started
    :return: exit status: 0 on success, 2 if an argument or an input file is wrong
    """
    name = program or Path(sys.argv[0]).name
    tool = _TOOLS[name]
    parser = argparse.ArgumentParser(prog=name, description=tool.summary)
    for position, option in enumerate(tool.options):
        kind: dict[str, object] = {"action": "store_true"} if option.flag else {"metavar": "VALUE"}
        if option.choices:
            kind.update(type=str.lower, choices=[choice for choice, _ in option.choices])
        if option.required:
            kind["required"] = True
        parser.add_argument(*option.names, dest=f"option_{position}", help=option.help, **kind)  # type: ignore[arg-type]
    given = vars(parser.parse_args(words))
    ours = [word for position, option in enumerate(tool.options) for word in option.words(given[f"option_{position}"])]
    return lease_sim([*tool.ours, *ours], program=name)


if __name__ == "__main__":
    sys.exit(main())
