"""What a real Placement makes of concurrent claims. The report for its maintainers is based on these tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.functional.placement.site import Site, consumer_id

#: Memory of the host in MiB; it has room for one server of 8 GiB.
_MEMORY = 15_872
_SERVER = 8_192


def _two(site: Site, host: str) -> list[Callable[[], int]]:
    """Return the claims of two servers."""
    return [partial(site.claim, host, _SERVER, consumer=consumer_id(number)) for number in (3, 9)]


def test_one_after_the_other_they_get_what_there_is(site: Site) -> None:
    host = site.make_host(_MEMORY)
    assert [claim() for claim in _two(site, host)] == [204, 409]
    assert site.used(host) == _SERVER


def test_claims_that_meet_get_more_than_there_is(site: Site) -> None:
    """This shows the bug. When this test fails, Placement has fixed it, and the warnings about it can be removed."""
    host = site.make_host(_MEMORY)
    assert [answer.result() for answer in site.meet(host, *_two(site, host))] == [204, 204]
    assert site.used(host) == 2 * _SERVER > _MEMORY


def test_with_read_committed_too(read_committed_site: Site) -> None:
    """The second half of the bug: allocations of the first attempt are taken for the consumer's former ones."""
    site = read_committed_site
    host = site.make_host(_MEMORY)
    assert [answer.result() for answer in site.meet(host, *_two(site, host))] == [204, 204]
    assert site.used(host) == 2 * _SERVER > _MEMORY


def test_without_further_attempts_of_placement_one_of_them_gets_it(sound_site: Site) -> None:
    """The other one gets a refusal when it asks again."""
    host = sound_site.make_host(_MEMORY)
    assert sorted(answer.result() for answer in sound_site.meet(host, *_two(sound_site, host))) == [204, 409]
    assert sound_site.used(host) == _SERVER
    assert sound_site.claim(host, _SERVER, consumer=consumer_id(12)) == 409
