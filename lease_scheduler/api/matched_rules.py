"""URL rules that only match paths, which makes programs start faster."""

from __future__ import annotations

from typing import Any, NoReturn

from werkzeug.routing import Rule


class MatchedRule(Rule):
    """A rule that never builds a URL.

    For each rule, werkzeug compiles two functions that build URLs. The API has 200 rules and builds no URLs, and these
    functions would take most of the time of building the application.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Any:
        return _refuse


def _refuse(rule: Rule, **values: Any) -> NoReturn:
    raise RuntimeError(f"no URL can be built for {rule.rule}")
