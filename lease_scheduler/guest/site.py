"""The site, gateway or broker that grants the leases of a guest, over its REST interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from keystoneauth1.exceptions import ClientException
from openstack.connection import Connection
from openstack.exceptions import HttpException, NotFoundException, SDKException

from lease_scheduler import sdk
from lease_scheduler.guest.errors import RefusedError, UnavailableError
from lease_scheduler.guest.nodes import Lease, LeaseState
from lease_scheduler.sdk import resources

#: Statuses that are not about the request: the login has expired, or the site wants to be asked later.
_LATER = frozenset({401, 407, 408, 421, 425, 429})

_OVER = frozenset({"done", "rejected", "rejected-by-user", "cancelled", "failed"})
_WAITING = frozenset({"new", "pending", "queued", "scheduled", "preparing", "ready"})
_ACTIVE = frozenset({"active", "migrating"})

Found = TypeVar("Found")


class SdkSite:
    """A site in openstacksdk, as ``interfaces.Site`` says.

    :param connection: an open connection; the site is asked for its versions with the first call
    """

    def __init__(self, connection: Connection) -> None:
        sdk.add_to(connection)
        self._connection = connection

    def _proxy(self) -> sdk.Proxy:
        """Return the proxy that this project has added to the connection."""
        return cast(sdk.Proxy, self._connection.reservation)

    def leases(self, ids: Sequence[str]) -> dict[str, Lease]:
        """Return leases by id, without those that the site does not know.

        Those that are over are not in the list of live ones, and are looked at one by one.
        """

        def read() -> dict[str, resources.Lease]:
            proxy = self._proxy()
            listed = {each.id: each for each in proxy.leases(live=True)}
            found = {each: listed[each] for each in ids if each in listed}
            for each in ids:
                if each not in listed:
                    with _unknown_is_none():
                        found[each] = proxy.get_lease(each)
            return found

        return {each: lease_of(shown) for each, shown in _call(read).items()} if ids else {}

    def describe(self, lease_id: str) -> dict[str, Any]:
        """Return the attributes of a lease that have a value."""
        shown = _call(lambda: self._proxy().get_lease(lease_id))
        found: dict[str, Any] = shown.to_dict(computed=False, ignore_none=True)
        return found

    def ask(self, lease_id: str, terms: Mapping[str, Any]) -> None:
        """Request a lease; the site answers a repeated request with the lease that it has."""
        _call(lambda: self._proxy().create_lease(id=lease_id, **terms))

    def extend(self, lease_id: str, seconds: int) -> None:
        """Extend a lease to a total duration, unless it has it already."""

        def extend() -> None:
            proxy = self._proxy()
            if lease_of(proxy.get_lease(lease_id)).seconds < seconds:
                proxy.extend_lease(lease_id, duration=seconds)

        _call(extend)

    def end(self, lease_id: str) -> None:
        """End a lease, or cancel it if it has not started. The id of an unknown one is withdrawn, as it may be late."""

        def end() -> None:
            proxy = self._proxy()
            try:
                state = lease_of(proxy.get_lease(lease_id)).state
            except NotFoundException:
                proxy.withdraw_lease_request(lease_id)
                return
            if state is LeaseState.ACTIVE:
                proxy.end_lease(lease_id)
            elif state is not LeaseState.OVER:
                proxy.cancel_lease(lease_id)

        _call(end)


@contextmanager
def _unknown_is_none() -> Iterator[None]:
    """Let the site say that it does not know a lease; something between, such as a proxy, cannot say so.

    :raises UnavailableError: the answer is not one of the service
    """
    try:
        yield
    except NotFoundException as error:
        try:
            is_ours = error.response is not None and "error_code" in error.response.json()
        except ValueError:
            is_ours = False
        if not is_ours:
            raise UnavailableError(f"not an answer of the service: {error}") from error


def lease_of(shown: resources.Lease) -> Lease:
    """Return a lease as nodes need it."""
    state = LeaseState.LOST
    if shown.state in _OVER:
        state = LeaseState.OVER
    elif shown.state in _WAITING:
        state = LeaseState.WAITING
    elif shown.state in _ACTIVE:
        state = LeaseState.ACTIVE
    if state is not LeaseState.ACTIVE:
        return Lease(shown.id, state, int(shown.duration or 0))
    end, preempted = _instant(shown.end_date), _instant(shown.preempted_at)
    leaves = min((each for each in (end, preempted) if each is not None), default=None)
    return Lease(shown.id, state, int(shown.duration or 0), end, leaves)


def _instant(text: str | None) -> int | None:
    if not text:
        return None
    found = datetime.fromisoformat(text)
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _call(call: Callable[[], Found]) -> Found:
    """Make a call.

    :raises RefusedError: the site refuses it
    :raises UnavailableError: it is not known whether it was done
    """
    try:
        return call()
    except HttpException as error:
        status = error.status_code or 0
        if 400 <= status < 500 and status not in _LATER:
            raise RefusedError(str(error.details or error)) from error
        raise UnavailableError(str(error)) from error
    except (SDKException, ClientException, ValueError, KeyError, TypeError) as error:
        raise UnavailableError(str(error)) from error
