"""The end of a WebSSO login: the form that Keystone's page posts, and the page that hands its token to the tab.

Keystone passes nothing through from the beginning of such a login to its end, and sends its form to one fixed address,
so nothing in the form can show who began it. Two things protect against a site that would log its visitors in as
somebody else: only pages of Keystone may post the form, which the header ``Origin`` reveals, and the tab takes the
token only if it has itself begun a login in the last minutes (``websso.js``).
"""

from __future__ import annotations

from html import escape

from lease_scheduler.api.errors import ApiError
from lease_scheduler.api.login.bodies import checked_token

#: Path of the address to which Keystone sends the form, below that of the page.
PATH = "/login/websso"

_PAGE = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Lease calendar</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="token" content="{token}">
  <link rel="icon" href="../icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="../calendar.css">
  <script type="module" src="../websso.js"></script>
</head>
<body>
  <main>
    <section id="message">
      <h1>Lease calendar</h1>
      <p role="status">Logging in…</p>
      <p><a href="../">Back to the calendar</a></p>
    </section>
    <noscript><p>This page needs JavaScript.</p></noscript>
  </main>
</body>
</html>
"""


def page_with(origin: str | None, allowed: str | None, token: str | None) -> str:
    """Return the page that hands a token to the tab.

    :param origin: header ``Origin`` of the form
    :param allowed: origin of the pages of Keystone; None if the site has no WebSSO
    :param token: field of the form
    :raises ApiError: 404, there is no WebSSO; 403, the form is not from Keystone; 400, it has no token
    """
    if allowed is None:
        raise ApiError(404, "This site offers no WebSSO")
    if origin != allowed:
        raise ApiError(403, f"Origin: only pages of {allowed} may send this form")
    return _PAGE.format(token=escape(checked_token(token)))
