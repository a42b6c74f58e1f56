"""The files of the calendar page, and the headers that protect the page in browsers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import flask

_FOLDER = Path(__file__).parent / "page"

#: Everything that the page loads comes from this service. Nothing is written into the page itself, so that a text which
#: got into it as HTML could not become a script or a style.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
_SELF = "self"


def protection(frame_ancestors: Sequence[str]) -> Callable[[flask.Response], flask.Response]:
    """Return a function that sets the headers which forbid browsers what the page does not need.

    :param frame_ancestors: sites that may show the page in a frame; ``self`` is the site of the page
    """
    ancestors = " ".join("'self'" if each == _SELF else each for each in frame_ancestors) or "'none'"
    headers = {"Content-Security-Policy": _POLICY.format(ancestors=ancestors), "Referrer-Policy": "same-origin"}
    # This header cannot name other sites. Browsers that know frame-ancestors ignore it.
    if set(frame_ancestors) <= {_SELF}:
        headers["X-Frame-Options"] = "SAMEORIGIN" if frame_ancestors else "DENY"

    def protect(response: flask.Response) -> flask.Response:
        if response.mimetype != "application/json":
            response.headers.update(headers)
        return response

    return protect


def page_or(view: Callable[[], flask.Response]) -> Callable[[], flask.Response]:
    """Return a view that serves the page to browsers and the given view to all other clients."""

    def choose() -> flask.Response:
        wanted = flask.request.accept_mimetypes.best_match(["application/json", "text/html"], "application/json")
        is_browser = wanted == "text/html" and (_FOLDER / "index.html").is_file()
        response = _file("index.html") if is_browser else view()
        response.vary.add("Accept")
        return response

    return choose


def add_page(app: flask.Flask) -> None:
    """Serve the files of the page at the root, and below ``/page/``."""
    app.add_url_rule("/page/<path:name>", view_func=_file, endpoint="page", provide_automatic_options=False)
    files = sorted(file.relative_to(_FOLDER).as_posix() for file in _FOLDER.rglob("*") if file.is_file())
    for name in files:
        app.add_url_rule(
            f"/{name}",
            view_func=_file,
            endpoint=f"page {name}",
            defaults={"name": name},
            provide_automatic_options=False,
        )


def _file(name: str) -> flask.Response:
    response: Any = flask.send_from_directory(_FOLDER, name)
    response.headers["Cache-Control"] = "no-cache"
    return flask.make_response(response)
