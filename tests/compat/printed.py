"""Commands and JSON bodies that the README and the pages of the documentation print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "doc" / "source"

#: Programs of others whose commands the pages print.
_OTHERS = {
    *("openstack", "blazar", "nova-manage", "rabbitmqctl", "curl", "mysql"),
    *("make", "pip", "pytest", "mutmut", "reno", "python3"),
    *("systemctl", "journalctl", "install", "systemd-sysusers", "source", "export", "."),
}
_LITERAL = re.compile(
    r"^(?P<indent> *)(?:\.\. code-block:: (?P<language>\w+)|(?!\.\. )\S[^\n]*::)\n\n"
    r"(?P<text>(?:(?P=indent) +\S[^\n]*\n|\n)+)",
    re.MULTILINE,
)
_FENCED = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
#: What may stand before the program: a prompt, variables, a folder.
_BEFORE = re.compile(r"^(?:[$#] )?(?:[A-Za-z_]+=\S+ )*(?:\.venv/bin/)?")


@dataclass(frozen=True)
class Block:
    """A block of a page.

    :ivar page: path below the documentation, or README.md
    :ivar language: of the code-block, or ""
    """

    page: str
    language: str
    text: str

    @property
    def script(self) -> str:
        """The block without prompts, output and indentation, for a shell."""
        lines = [line.strip() for line in self.text.replace("\\\n", " \\\n").splitlines() if line.strip()]
        if not any(line.startswith(("$ ", "# ")) for line in lines):
            return "\n".join(lines)
        kept: list[str] = []
        for line in lines:
            if line.startswith(("$ ", "# ")):
                kept.append(line[2:])
            elif kept and kept[-1].endswith("\\"):
                kept.append(line)
        return "\n".join(kept)

    @property
    def commands(self) -> list[str]:
        """The commands, each in one line."""
        return re.sub(r"\s*\\\n", " ", self.script).splitlines()

    @property
    def has_commands(self) -> bool:
        """Whether it is for a shell."""
        if self.language == "console":
            return True
        if self.language not in ("", "none", "sh", "bash"):
            return False
        return any(_BEFORE.sub("", line).split(" ")[0] in _programs() for line in self.commands)


def blocks() -> Iterator[Block]:
    """Return all blocks with commands or JSON."""
    pages = [(ROOT / "README.md", _FENCED), *((page, _LITERAL) for page in sorted(PAGES.rglob("*.rst")))]
    for path, pattern in pages:
        page = path.relative_to(ROOT if path.suffix == ".md" else PAGES).as_posix()
        for found in pattern.finditer(path.read_text()):
            block = Block(page, found["language"] or "", found["text"])
            if block.language == "json" or block.has_commands:
                yield block


def http_requests() -> set[tuple[str, str]]:
    """Return the method and path of all requests to the service that the pages name."""
    texts = [page.read_text() for page in PAGES.rglob("*.rst")]
    return {found for text in texts for found in re.findall(r"``(GET|POST|PUT|DELETE) (/v1/[^`\s]*)``", text)}


def inline_bodies(page: str) -> list[str]:
    """Return the JSON objects within the sentences of a page; those with an ellipsis for an object are left out."""
    return [found for found in re.findall(r"``(\{\"[^`]*\})``", (PAGES / page).read_text()) if "{...}" not in found]


def _programs() -> set[str]:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    ours = {line.partition("=")[0].strip() for line in setup["entry_points"]["console_scripts"].splitlines()}
    return (ours | _OTHERS) - {""}
