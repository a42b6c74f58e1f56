"""Attributes of a lease, each described once, at the field that carries it.

A simple attribute passes unchanged from the body of a request to the plan, the database and the answer. Its description
is the metadata of a field of ``LeaseRequest`` (what is asked for and the plan uses), ``Grant`` (what the service
answers) or ``LeaseDocument`` (everything else). These are derived from the descriptions:

* schemas, parsing and showing of requests and answers,
* columns of the database,
* keys of notifications,
* what filters of leases see, and
* options of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Enum
from typing import Any

_KEY = "attribute"


@dataclass(frozen=True)
class Text:
    """A text.

    :ivar maximum: maximum number of characters
    :ivar is_name: whether it is a name for people, which must not be empty
    """

    maximum: int
    is_name: bool = False


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Amount:
    """An amount of money, at least 0."""


@dataclass(frozen=True)
class Span:
    """A duration in seconds, at least 1. Requests may also state it as a text, such as ``6h``."""


@dataclass(frozen=True)
class Probability:
    """A probability, more than 0 and less than 1."""


@dataclass(frozen=True)
class Part:
    """A part of a whole, more than 0 and at most 1."""


@dataclass(frozen=True)
class Whole:
    """A whole number, at least 0."""


@dataclass(frozen=True)
class Pairs:
    """Texts by names.

    :ivar most: maximum number of pairs
    :ivar name_length: maximum number of characters of a name
    :ivar text_length: maximum number of characters of a text
    """

    most: int
    name_length: int
    text_length: int


@dataclass(frozen=True)
class Texts:
    """A list of different texts.

    :ivar most: maximum number of texts
    :ivar maximum: maximum number of characters of each
    """

    most: int
    maximum: int


@dataclass(frozen=True)
class Keyed:
    """Texts by keys that are known.

    :ivar required: keys that must be there
    :ivar optional: keys that may be missing
    :ivar maximum: maximum number of characters of each text
    :ivar added: first microversion of each key that came later than the attribute
    """

    required: Sequence[str]
    optional: Sequence[str]
    maximum: int
    added: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Choice:
    """One of several words.

    :ivar words: the words, or an enumeration that has them as its values
    """

    words: Sequence[str] | type[Enum]

    @property
    def texts(self) -> list[str]:
        """The words."""
        return [str(getattr(word, "value", word)) for word in self.words]


Kind = Text | Flag | Amount | Span | Probability | Part | Whole | Pairs | Texts | Keyed | Choice


@dataclass(frozen=True)
class Attribute:
    """One attribute of a lease.

    :ivar name: key in bodies, documents, rows, views, answers and payloads; name of the field that carries it
    :ivar kind: type of its values
    :ivar given: first microversion in which requests for a lease may have it; None if they never may
    :ivar changed: first microversion in which it can be changed; None if it never can
    :ivar shown: first microversion in which answers have it; None if they never do
    :ivar is_computed: whether the service computes it, so that the document of a request never has it
    :ivar is_notified: whether notifications about the lease have it
    :ivar is_filtered: whether filters of leases see it
    :ivar of_peers: whether only requests of peers may have it
    :ivar default: value if the request does not state it; meaningless for a required attribute
    :ivar help: what it does, for users of the command line
    """

    kind: Kind
    name: str = ""
    given: str | None = None
    changed: str | None = None
    shown: str | None = None
    is_computed: bool = False
    is_notified: bool = False
    is_filtered: bool = False
    of_peers: bool = False
    default: Any = None
    help: str = ""

    @property
    def may_be_missing(self) -> bool:
        """Whether a lease may have None in place of a value."""
        return self.default is None

    def plain(self, value: Any) -> Any:
        """Return the form of a value in JSON and in the database."""
        if isinstance(value, Enum):
            return value.value
        if isinstance(value, tuple):
            return list(value)
        return dict(value) if isinstance(value, Mapping) else value

    def value(self, plain: Any) -> Any:
        """Return the value for its form in JSON and in the database."""
        if isinstance(self.kind, Choice) and isinstance(self.kind.words, type):
            return self.kind.words(plain)
        if isinstance(self.kind, Texts):
            return tuple(plain)
        return dict(plain) if isinstance(self.kind, Pairs | Keyed) else plain


def attribute(kind: Kind, since: str | None = None, **properties: Any) -> dict[str, Attribute]:
    """Return the metadata of a field that carries an attribute.

    :param since: first microversion in which it may be given and changed and is shown, unless ``properties`` say
        otherwise
    :param properties: fields of ``Attribute``
    """
    return {_KEY: Attribute(kind, **{"given": since, "changed": since, "shown": since, **properties})}


def attributes_of(carrier: type[Any]) -> tuple[Attribute, ...]:
    """Return the attributes that the fields of a dataclass carry, in their order."""
    return tuple(
        replace(each.metadata[_KEY], name=each.name, default=_default(each))
        for each in fields(carrier)
        if _KEY in each.metadata
    )


def _default(carrying: Any) -> Any:
    if carrying.default_factory is not MISSING:
        return carrying.default_factory()
    return carrying.default
