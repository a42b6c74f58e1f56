"""XML with line numbers, read as a stream and safely: no document types, no entities, no network, no huge texts.

The only module that knows lxml.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any, TypeVar

from lxml import etree  # type: ignore[import-untyped]

from lease_scheduler.model.errors import InputFileError, InvalidValueError
from lease_scheduler.simulation.formats.files import compressed, open_bytes, replace_file

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a file, with errors that name the file and the element's line.

    :ivar path: the file as its user named it
    :ivar tag: name of the element
    :ivar line: 1-based line of its start; from line 65,535 on libxml2 may give the line after it
    :ivar attributes: its attributes
    :ivar children: the elements in it, comments left out
    """

    path: str
    tag: str
    line: int
    attributes: Mapping[str, str]
    children: tuple[Element, ...]

    def error(self, problem: str) -> InputFileError:
        """An error about this element, to be raised."""
        return InputFileError(self.path, self.line, problem)

    def expect(self, attributes: Collection[str] = (), children: Collection[str] = ()) -> None:
        """Refuse attributes and child elements that are unknown here, so that no slip goes unseen."""
        for name in self.attributes:
            if name not in attributes:
                known = ", ".join(sorted(attributes)) or "none"
                raise self.error(f"<{self.tag}> has no attribute {name!r}; known here: {known}")
        for child in self.children:
            if child.tag not in children:
                known = ", ".join(f"<{name}>" for name in sorted(children)) or "none"
                raise child.error(f"<{child.tag}> cannot stand in <{self.tag}>; known here: {known}")

    def find(self, tag: str) -> Element | None:
        """The one child of that name, none if there is none."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            raise found[1].error(f"<{self.tag}> has a second <{tag}>; leave one")
        return found[0] if found else None

    def require(self, tag: str) -> Element:
        """The one child of that name."""
        found = self.find(tag)
        if found is None:
            raise self.error(f"<{self.tag}> lacks <{tag}>; add it")
        return found

    def get(self, attribute: str) -> str:
        """The value of an attribute that must be there."""
        if attribute not in self.attributes:
            raise self.error(f"<{self.tag}> lacks the attribute {attribute!r}; add it")
        return self.attributes[attribute]

    def convert(self, attribute: str, parse: Callable[[str, str], _Value]) -> _Value:
        """The value of an attribute that must be there, parsed; the parser gets the text and the field's name."""
        text = self.get(attribute)
        try:
            return parse(text, f"<{self.tag} {attribute}>")
        except InvalidValueError as error:
            raise self.error(str(error)) from error


def stream_elements(path: str | os.PathLike[str], root: str, containers: Collection[str] = ()) -> Iterator[Element]:
    """The root element without its children, then the elements just below it, one after the other.

    Only one of them is in memory at a time. For a container the elements just below it are given in its place.

    :param path: file, plain or gzip
    :param root: name that the root element must have
    :param containers: children of the root that are lists
    :raises InputFileError: the file cannot be read, is not well-formed, has a document type or another root
    """
    with open_bytes(path) as stream:
        yield from _elements(os.fspath(path), stream, root, containers)


def parse_element(content: bytes, name: str, root: str) -> Element:
    """The root element of a document that is no file.

    :param name: what errors call the document
    :param root: name that the root element must have
    :raises InputFileError: it is not well-formed, has a document type or another root
    """
    found, *children = _elements(name, io.BytesIO(content), root, ())
    return replace(found, children=tuple(children))


def _elements(name: str, stream: IO[bytes], root: str, containers: Collection[str]) -> Iterator[Element]:
    events = etree.iterparse(
        stream, events=("start", "end"), resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False
    )
    try:
        yield from _stream(name, events, root, containers)
    except etree.XMLSyntaxError as error:
        # The exception knows only the last of the errors, which may be a mere consequence of the first.
        line, problem = next(((entry.line, entry.message) for entry in events.error_log), (None, error.msg))
        raise InputFileError(name, line, f"is not well-formed XML: {problem}") from error


def _stream(name: str, events: Any, root: str, containers: Collection[str]) -> Iterator[Element]:
    depth = 0
    inside: str | None = None
    for event, node in events:
        if event == "start":
            depth += 1
            if depth == 1:
                if node.getroottree().docinfo.internalDTD is not None:
                    raise InputFileError(name, node.sourceline, "has a document type; remove the <!DOCTYPE ...> part")
                if node.tag != root:
                    raise InputFileError(name, node.sourceline, f"begins with <{node.tag}>, not with <{root}>")
                yield Element(name, root, node.sourceline, dict(node.attrib), ())
            elif depth == 2:
                inside = node.tag if node.tag in containers else None
            continue
        if depth == 2 or (depth == 3 and inside):
            if depth == 3 or not inside:
                yield _element(name, node)
            elif node.attrib:
                raise InputFileError(name, node.sourceline, f"<{node.tag}> has no attributes")
            # Elements that are done with are dropped, with what stands before them: a trace may be large.
            node.clear(keep_tail=False)
            while node.getprevious() is not None:
                del node.getparent()[0]
        depth -= 1


def _element(path: str, node: Any) -> Element:
    children = tuple(_element(path, child) for child in node if isinstance(child.tag, str))
    return Element(path, node.tag, node.sourceline, dict(node.attrib), children)


class XmlBuilder:
    """A document that is built element by element and written in one step."""

    def __init__(self, root: str, **attributes: str) -> None:
        self._root = etree.Element(root)
        self._set(self._root, attributes)

    def add(self, tag: str, parent: Any = None, **attributes: str) -> Any:
        """A new element at the end of its parent, by default the root; an underscore in an attribute means a hyphen.

        :raises InvalidValueError: a value holds characters that XML cannot
        """
        element = etree.SubElement(self._root if parent is None else parent, tag)
        self._set(element, attributes)
        return element

    def write(self, path: str | os.PathLike[str]) -> None:
        """Put the document in the place of the file; gzip if its name ends in ``.gz``.

        :raises InputFileError: the file cannot be written
        """
        etree.indent(self._root)
        content = etree.tostring(self._root, xml_declaration=True, encoding="UTF-8") + b"\n"
        replace_file(path, compressed(content, path))

    def text(self) -> str:
        """The document in one line."""
        return str(etree.tostring(self._root, encoding="unicode"))

    @staticmethod
    def _set(element: Any, attributes: Mapping[str, str]) -> None:
        for name, value in attributes.items():
            try:
                element.set(name.replace("_", "-"), value)
            except ValueError as error:
                raise InvalidValueError(name, f"{value!r} holds characters that XML cannot") from error
