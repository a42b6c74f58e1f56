"""Rules for names: people must be able to see a name, and to read it in the order in which it is written."""

from __future__ import annotations

import unicodedata

#: Characters that change the direction of the text around them (embeddings, overrides and isolates). They can make a
#: name look like another one.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

#: Characters of visible categories that show nothing: fillers and the empty braille pattern.
_FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u034f")

#: Categories of characters that show nothing: spaces, separators, controls, formats, marks without a letter.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cn", "Mn"})


def problem_of_name(name: str) -> str | None:
    """Return what is wrong with a name, or None."""
    if not name.isascii():
        for character in name:
            if character in _DIRECTIONS:
                code = f"U+{ord(character):04X}"
                return f"must not hold characters that change the direction of text ({code}); leave it out"
    for character in name:
        if unicodedata.category(character) == "Cc":
            return f"must not hold control characters (U+{ord(character):04X}); leave it out"
    if not any(_is_seen(character) for character in name):
        return "must not be blank; give at least one character that can be seen"
    return None


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN and character not in _FILLERS
