"""Messages between engines and agents that are altered, played back, or from others (issue 22)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lease_scheduler.agent.protocol import (
    Answer,
    Document,
    NotAuthenticError,
    Request,
    ServerReport,
    host_key,
    pack_answer,
    pack_request,
    unpack_answer,
    unpack_request,
)

SECRET = "a secret of the site"
REQUEST = Request("site", "compute-1", "nonce", "run", 3, {"a server": 50})
ANSWER = Answer("site", "compute-1", "nonce", "run", 3, True, None, {"a server": ServerReport(2, 100, 1.25)})


def travelled(message: Document) -> Document:
    """Return a message as a bus that speaks JSON delivers it."""
    found: Document = json.loads(json.dumps(message))
    return found


def test_messages_arrive_as_they_were_sent() -> None:
    assert unpack_request(travelled(pack_request(REQUEST, SECRET)), SECRET, "site", "compute-1") == REQUEST
    asking = replace(REQUEST, revision=None, weights=None)
    assert unpack_request(travelled(pack_request(asking, SECRET)), SECRET, "site", "compute-1") == asking
    assert unpack_answer(travelled(pack_answer(ANSWER, SECRET)), SECRET, REQUEST) == ANSWER


@pytest.mark.parametrize("change", [{"weights": {"a server": 51}}, {"revision": 4}, {"run": "other"}, {"more": 1}])
def test_an_altered_request_is_refused(change: Document) -> None:
    with pytest.raises(NotAuthenticError, match="another key"):
        unpack_request(pack_request(REQUEST, SECRET) | change, SECRET, "site", "compute-1")


@pytest.mark.parametrize(("site", "host"), [("other", "compute-1"), ("site", "compute-2")])
def test_a_request_for_another_site_or_host_is_refused(site: str, host: str) -> None:
    with pytest.raises(NotAuthenticError, match="another site or host"):
        unpack_request(pack_request(REQUEST, SECRET), SECRET, site, host)


def test_the_key_of_a_host_is_of_no_use_for_another_one() -> None:
    keys = {
        host_key(*each) for each in (("a", "site", "b"), ("a", "site", "c"), ("a", "other", "b"), ("b", "site", "b"))
    }
    assert len(keys) == 4
    assert {len(key) for key in keys} == {64}
    # It must stay as it is: hosts have been given theirs.
    assert host_key("a secret of the site", "default", "compute-1") == (
        "a76a51b72a56e32e70255926b3bde0939bbab660e69fdc57c5e84b03c7ccbf44"
    )


@pytest.mark.parametrize("message", [None, [], {}, "text", {"signature": 5}, {"site": "site"}])
def test_what_is_not_signed_is_refused(message: object) -> None:
    with pytest.raises(NotAuthenticError, match="no signature"):
        unpack_request(message, SECRET, "site", "compute-1")


def test_answers_of_others_are_refused() -> None:
    with pytest.raises(NotAuthenticError, match="another key"):
        unpack_answer(pack_answer(ANSWER, "another secret, of another site"), SECRET, REQUEST)
    with pytest.raises(NotAuthenticError, match="another request"):
        unpack_answer(pack_answer(ANSWER, SECRET), SECRET, replace(REQUEST, nonce="other"))
    with pytest.raises(NotAuthenticError, match="another site or host"):
        unpack_answer(pack_request(REQUEST, SECRET), SECRET, REQUEST)
