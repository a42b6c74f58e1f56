"""XML with line numbers, read as a stream. For safety, document types, entities, network and huge texts are excluded.

This is the only module that uses lxml.
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
    """An element of a file. Errors about it name the file and the line of the element.

    :ivar path: path of the file, for errors
    :ivar tag: name of the element
    :ivar line: 1-based line of the start of the element; from line 65,535 on, libxml2 may give the line after it
    :ivar attributes: attributes of the element
    :ivar children: child elements, without comments
    """

    path: str
    tag: str
    line: int
    attributes: Mapping[str, str]
    children: tuple[Element, ...]

    def error(self, problem: str) -> InputFileError:
        """Return an error about this element, for the caller to raise."""
        return InputFileError(self.path, self.line, problem)

    def expect(self, attributes: Collection[str] = (), children: Collection[str] = ()) -> None:
        """Refuse all other attributes and child elements, so that mistakes are noticed.

        :raises InputFileError: the element has another attribute or child
        """
        for name in self.attributes:
            if name not in attributes:
                known = ", ".join(sorted(attributes)) or "none"
                raise self.error(f"<{self.tag}> has no attribute {name!r}; known here: {known}")
        for child in self.children:
            if child.tag not in children:
                known = ", ".join(f"<{name}>" for name in sorted(children)) or "none"
                raise child.error(f"<{child.tag}> is not allowed in <{self.tag}>; known here: {known}")

    def find(self, tag: str) -> Element | None:
        """Return the only child with this name, or None.

        :raises InputFileError: there are several
        """
        found = [child for child in self.children if child.tag == tag]
        if len(found) > 1:
            raise found[1].error(f"<{self.tag}> has a second <{tag}>; leave one")
        return found[0] if found else None

    def require(self, tag: str) -> Element:
        """Return the only child with this name.

        :raises InputFileError: there is none, or there are several
        """
        found = self.find(tag)
        if found is None:
            raise self.error(f"<{self.tag}> lacks <{tag}>; add it")
        return found

    def get(self, attribute: str) -> str:
        """Return the value of a required attribute.

        :raises InputFileError: the attribute is missing
        """
        if attribute not in self.attributes:
            raise self.error(f"<{self.tag}> lacks the attribute {attribute!r}; add it")
        return self.attributes[attribute]

    def convert(self, attribute: str, parse: Callable[[str, str], _Value]) -> _Value:
        """Return the parsed value of a required attribute.

        :param parse: called with the text and the name of the field
        :raises InputFileError: the attribute is missing, or its value is wrong
        """
        text = self.get(attribute)
        try:
            return parse(text, f"<{self.tag} {attribute}>")
        except InvalidValueError as error:
            raise self.error(str(error)) from error


def stream_elements(path: str | os.PathLike[str], root: str, containers: Collection[str] = ()) -> Iterator[Element]:
    """Yield the root element without its children, then each child of the root.

    Only one child is in memory at a time. In place of a container, its children are yielded.

    :param path: file, plain or gzip
    :param root: required name of the root element
    :param containers: names of children of the root that are lists
    :raises InputFileError: the file cannot be read, is not well-formed, or has a document type or another root
    """
    with open_bytes(path) as stream:
        yield from _elements(os.fspath(path), stream, root, containers)


def parse_element(content: bytes, name: str, root: str) -> Element:
    """Return the root element of a document that is not a file.

    :param name: name of the document in errors
    :param root: required name of the root element
    :raises InputFileError: the document is not well-formed, or has a document type or another root
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
        # The exception has only the last error, which may be a mere consequence of the first.
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
            # A trace may be large, so finished elements are dropped, with everything before them.
            node.clear(keep_tail=False)
            while node.getprevious() is not None:
                del node.getparent()[0]
        depth -= 1


def _element(path: str, node: Any) -> Element:
    children = tuple(_element(path, child) for child in node if isinstance(child.tag, str))
    return Element(path, node.tag, node.sourceline, dict(node.attrib), children)


class XmlBuilder:
    """An XML document that is built element by element and written in one step."""

    def __init__(self, root: str, **attributes: str) -> None:
        self._root = etree.Element(root)
        self._set(self._root, attributes)

    def add(self, tag: str, parent: Any = None, **attributes: str) -> Any:
        """Append a new element to its parent, by default the root, and return it.

        :param attributes: attributes of the element; an underscore in a name stands for a hyphen
        :raises InvalidValueError: a value contains characters that XML does not allow
        """
        element = etree.SubElement(self._root if parent is None else parent, tag)
        self._set(element, attributes)
        return element

    def write(self, path: str | os.PathLike[str]) -> None:
        """Replace a file with the document; compress it with gzip if the name ends in ``.gz``.

        :raises InputFileError: the file cannot be written
        """
        etree.indent(self._root)
        content = etree.tostring(self._root, xml_declaration=True, encoding="UTF-8") + b"\n"
        replace_file(path, compressed(content, path))

    def text(self) -> str:
        """Return the document as one line of text."""
        return str(etree.tostring(self._root, encoding="unicode"))

    @staticmethod
    def _set(element: Any, attributes: Mapping[str, str]) -> None:
        for name, value in attributes.items():
            try:
                element.set(name.replace("_", "-"), value)
            except ValueError as error:
                raise InvalidValueError(name, f"{value!r} contains characters that XML does not allow") from error
