"""The store of an engine: the only writer of a site, until another engine takes over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from oslo_db.api import wrap_db_retry
from oslo_db.exception import DBDuplicateEntry
from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    Insert,
    Update,
    and_,
    bindparam,
    case,
    delete,
    insert,
    select,
    update,
)

from lease_scheduler.records.snapshot import Snapshot
from lease_scheduler.records.units import Units
from lease_scheduler.records.writes import DeposedError, StoreChanges
from lease_scheduler.store.sql import (
    capacity,
    events,
    feeds,
    idleness,
    lease_writes,
    messages,
    pool_rows,
    pools,
    rows,
    snapshot,
    subscriptions,
    trusts,
    usage,
)
from lease_scheduler.store.sql.chunks import chunks
from lease_scheduler.store.sql.lease_writes import WrittenLease
from lease_scheduler.store.sql.messages import SqlMessages
from lease_scheduler.store.sql.schema import (
    BREACHES,
    CACHED_IMAGES,
    FLOATING_IPS,
    HISTORY,
    HOST_PROPERTIES,
    HOSTS,
    LATENESS,
    LEASE_RESERVATIONS,
    LEASES,
    OPERATIONS,
    POLICY_STATE,
    RESOURCE_PROPERTIES,
    REVENUE,
    SERIES,
    SITES,
    USAGE,
)

_OF_SITE = SITES.c.name == bindparam("the_site")
_MINE = _OF_SITE & (SITES.c.epoch == bindparam("the_epoch"))
_NEXT = bindparam("the_next", type_=BigInteger)

# Building these takes longer than running them.
_CLAIM = (
    update(SITES)
    .where(_MINE)
    .values(
        revision=bindparam("the_revision"),
        clock=bindparam("the_clock"),
        next_sequence=case((SITES.c.next_sequence < _NEXT, _NEXT), else_=SITES.c.next_sequence),
    )
)
_LOCK = update(SITES).where(_MINE).values(epoch=SITES.c.epoch)
_LOCK_REVISION = update(SITES).where(_MINE).values(revision=bindparam("the_revision"))
_LOCK_CLOCK = update(SITES).where(_MINE).values(clock=bindparam("the_clock"))
_SIGN_OF_LIFE = select(SITES.c.epoch, SITES.c.revision, SITES.c.clock).where(_OF_SITE)
_HAS_LEASE = select(LEASES.c.id).where(LEASES.c.id == bindparam("the_id"))
_INSERT_OPERATIONS = insert(OPERATIONS)
_INSERT_HISTORY = insert(HISTORY)
_INSERT_USAGE = insert(USAGE)
_RECORD_STEP = update(OPERATIONS).where(OPERATIONS.c.id == bindparam("the_id")).values(step=bindparam("the_step"))


class SqlStore(SqlMessages):
    """A database that an engine writes, one transaction for each step.

    Every transaction first renews the claim on the site by its fencing number, which locks the site's row. So an engine
    that was deposed cannot write, and transactions of competing engines are serialised.

    :param database: from ``open_database``
    :param site: name of the site
    """

    def __init__(self, database: Engine, site: str = "default") -> None:
        super().__init__(database)
        self._site = site
        self._epoch = 0
        self._revision = 0
        self._written: dict[str, WrittenLease] = {}
        self.units = Units()

    # -- taking over -------------------------------------------------------------------------------------

    # Engines that start together on an empty database all insert the row: one succeeds, the others find it afterwards.
    # MariaDB may tell them so as a deadlock, because each holds the gap that the other inserts into.
    @wrap_db_retry(  # type: ignore[untyped-decorator]
        retry_interval=0.05,
        max_retry_interval=1,
        retry_on_deadlock=True,
        exception_checker=lambda error: isinstance(error, DBDuplicateEntry),
    )
    def take_over(self, engine_name: str, now: int) -> int:
        """Become the writer of the site. The previous writer can write nothing from then on.

        :param engine_name: name of the engine, for operators
        :param now: first value of the clock of a new site
        :return: the new fencing number
        """
        with self._database.begin() as connection:
            claim = update(SITES).where(SITES.c.name == self._site).values(epoch=SITES.c.epoch + 1, engine=engine_name)
            if connection.execute(claim).rowcount == 0:
                values = {"epoch": 1, "engine": engine_name, "revision": 0, "next_sequence": 0, "clock": now}
                connection.execute(insert(SITES).values(name=self._site, **values))
            row = connection.execute(select(SITES).where(SITES.c.name == self._site)).mappings().one()
        self._epoch, self._revision = row["epoch"], row["revision"]
        return self._epoch

    def load(self) -> Snapshot:
        """Return everything that an engine needs to continue, as the last transaction left it.

        :raises DeposedError: another engine has taken over
        """
        with self._database.begin() as connection:
            self._lock(connection)
            loaded = snapshot.load(connection, self._site)
        self.units = loaded.units
        self._written = {lease_id: WrittenLease(version) for lease_id, version in loaded.versions.items()}
        return loaded.snapshot

    def join_pool(self, pool: str) -> None:
        """Give what belongs to no pool to this one, before the engine loads it.

        :raises DeposedError: another engine has taken over
        """
        self.transfer(None, pool)

    def transfer(self, old: str | None, new: str | None) -> tuple[int, int]:
        """Give everything that belongs to one pool to another one; no engine may have loaded it.

        :param old: None for what belongs to no pool
        :param new: None for no pool
        :return: number of hosts and addresses, and number of live leases
        :raises DeposedError: another engine has taken over
        """
        with self._database.begin() as connection:
            self._lock(connection, _LOCK_REVISION, the_revision=self._revision + 1)
            moved = pools.transfer(connection, old, new, self._revision + 1)
        self._revision += 1
        return moved

    def _claim(self, connection: Connection, revision: int, clock: int, next_sequence: int) -> None:
        """Renew the claim on the site.

        This must be the first statement of a transaction, so that SQLite takes the write lock at once.

        :param next_sequence: least number that the next lease has
        """
        values = {"the_revision": revision, "the_clock": clock, "the_next": next_sequence}
        mine = {"the_site": self._site, "the_epoch": self._epoch}
        if connection.execute(_CLAIM, {**values, **mine}).rowcount != 1:
            raise DeposedError(f"another engine has taken over site {self._site}; epoch {self._epoch} is past")

    # -- writing -----------------------------------------------------------------------------------------

    def commit(self, changes: StoreChanges) -> int:
        """Write all changes in one transaction.

        :return: the new revision of the site
        :raises DeposedError: another engine has taken over; nothing was written
        """
        revision = self._revision + 1
        with self._database.begin() as connection:
            next_sequence = max((lease.sequence + 1 for lease in changes.leases.values()), default=0)
            self._claim(connection, revision, changes.instant, next_sequence)
            if changes.hosts or changes.floating_ips:
                offered_before = capacity.offered(connection, changes.hosts, changes.floating_ips)
                self._write_hosts(connection, changes)
                offered = capacity.offered(connection, changes.hosts, changes.floating_ips)
                capacity.note(connection, changes.instant, offered_before, offered)
            self._write_properties(connection, changes)
            written = lease_writes.write(connection, changes, revision, self._written, self.units)
            self._write_lists(connection, changes)
            self._write_cached_images(connection, changes)
            subscriptions.write(connection, changes)
            idleness.write(connection, changes)
            feeds.write(connection, changes)
        self._revision = revision
        self._written.update(written)
        for lease_id, lease in changes.leases.items():
            if lease.is_final:
                self._written.pop(lease_id, None)
        return revision

    def _write_hosts(self, connection: Connection, changes: StoreChanges) -> None:
        for host_id, host in changes.hosts.items():
            connection.execute(delete(HOST_PROPERTIES).where(HOST_PROPERTIES.c.host_id == host_id))
            if host is None:
                connection.execute(delete(HOSTS).where(HOSTS.c.id == host_id))
                continue
            values = pool_rows.host_values(host)
            if connection.execute(update(HOSTS).where(HOSTS.c.id == host_id).values(values)).rowcount == 0:
                connection.execute(insert(HOSTS).values(values))
            if host.properties:
                properties = [{"host_id": host_id, "name": k, "value": v} for k, v in host.properties.items()]
                connection.execute(insert(HOST_PROPERTIES), properties)
        for floating_ip_id, floating_ip in changes.floating_ips.items():
            connection.execute(delete(FLOATING_IPS).where(FLOATING_IPS.c.id == floating_ip_id))
            if floating_ip is not None:
                connection.execute(insert(FLOATING_IPS).values(pool_rows.floating_ip_values(floating_ip)))

    def _write_properties(self, connection: Connection, changes: StoreChanges) -> None:
        for (resource_type, name), private in changes.private_properties.items():
            key = (RESOURCE_PROPERTIES.c.resource_type == resource_type) & (RESOURCE_PROPERTIES.c.name == name)
            connection.execute(delete(RESOURCE_PROPERTIES).where(key))
            connection.execute(
                insert(RESOURCE_PROPERTIES).values(resource_type=resource_type, name=name, private=private)
            )

    def _write_cached_images(self, connection: Connection, changes: StoreChanges) -> None:
        """Write which images hosts have in their caches, except for hosts that have left the pool."""
        ids = {number: int(self.units.id(number)) for number, _ in changes.cached_images}
        present: set[int] = set()
        for chunk in chunks(list(ids.values())):
            present.update(connection.execute(select(HOSTS.c.id).where(HOSTS.c.id.in_(chunk))).scalars())
        for (number, image_id), cached in changes.cached_images.items():
            host_id = ids[number]
            if host_id not in present:
                continue
            where = (CACHED_IMAGES.c.host_id == host_id) & (CACHED_IMAGES.c.image_id == image_id)
            connection.execute(delete(CACHED_IMAGES).where(where))
            if cached is not None:
                connection.execute(insert(CACHED_IMAGES).values(pool_rows.cached_image_values(cached, host_id)))

    def _write_lists(self, connection: Connection, changes: StoreChanges) -> None:
        for chunk in chunks(changes.over):
            connection.execute(delete(OPERATIONS).where(OPERATIONS.c.id.in_(chunk)))
        written: list[tuple[Insert, list[dict[str, Any]]]] = [
            (_INSERT_OPERATIONS, [rows.intent_values(intent, self.units) for intent in changes.begun]),
            (_INSERT_HISTORY, [events.row_of(transition) for transition in changes.transitions]),
            (_INSERT_USAGE, [rows.usage_values(record, self.units) for record in changes.usage]),
            (insert(REVENUE), [rows.revenue_values(record) for record in changes.revenue]),
            (insert(BREACHES), [rows.breach_values(record) for record in changes.breaches]),
        ]
        for statement, values in written:
            if values:
                connection.execute(statement, values)
        messages.write(connection, changes)
        for (pool, family, policy, subject), learnt in changes.policy_state.items():
            key = {"pool": pool, "family": family, "policy": policy, "subject": subject}
            known = and_(*(POLICY_STATE.c[name] == value for name, value in key.items()))
            connection.execute(delete(POLICY_STATE).where(known))
            if learnt is not None:
                connection.execute(insert(POLICY_STATE).values(**key, state=dict(learnt)))
        for (pool, kind), seconds in changes.lateness.items():
            connection.execute(delete(LATENESS).where((LATENESS.c.pool == pool) & (LATENESS.c.kind == kind)))
            connection.execute(insert(LATENESS).values(pool=pool, kind=kind, seconds=seconds))
        for series in changes.series.values():
            values_of_series = rows.series_values(series)
            found = connection.execute(update(SERIES).where(SERIES.c.id == series.series_id).values(values_of_series))
            if found.rowcount == 0:
                connection.execute(insert(SERIES).values(values_of_series))

    def record_steps(self, reached: Iterable[tuple[int, int]]) -> None:
        """Record the progress of intents.

        :param reached: (id of the intent, number of its next step)
        :raises DeposedError: another engine has taken over; nothing was written
        """
        with self._database.begin() as connection:
            self._lock(connection)
            values = [{"the_id": intent_id, "the_step": step} for intent_id, step in reached]
            connection.execute(_RECORD_STEP, values)

    def _lock(self, connection: Connection, change: Update = _LOCK, **values: Any) -> None:
        """Lock the site's row.

        :param change: what to change in the row: nothing by default
        :param values: parameters of the change
        """
        mine = {"the_site": self._site, "the_epoch": self._epoch}
        if connection.execute(change, mine | values).rowcount != 1:
            raise DeposedError(f"another engine has taken over site {self._site}; epoch {self._epoch} is past")

    def _is_mine(self, connection: Connection) -> bool:
        epoch = connection.execute(select(SITES.c.epoch).where(SITES.c.name == self._site)).scalar()
        return epoch == self._epoch

    def is_mine(self) -> bool:
        """Return whether no other engine has taken over."""
        with self._database.connect() as connection:
            return self._is_mine(connection)

    def read_clock(self) -> int | None:
        """Return the stored time, or None if the site is new."""
        with self._database.connect() as connection:
            return connection.execute(select(SITES.c.clock).where(SITES.c.name == self._site)).scalar()

    def write_clock(self, now: int) -> None:
        """Store the time, for clocks that do not follow the real one, and as a sign of life.

        :raises DeposedError: another engine has taken over
        """
        # The revision is left alone, because another thread than the one that commits changes may call this.
        with self._database.begin() as connection:
            self._lock(connection, _LOCK_CLOCK, the_clock=now)

    def sign_of_life(self) -> tuple[int, int, int] | None:
        """Return values that keep changing while an engine leads, or None if none has ever led."""
        with self._database.connect() as connection:
            row = connection.execute(_SIGN_OF_LIFE, {"the_site": self._site}).first()
        return None if row is None else (row.epoch, row.revision, row.clock)

    # -- questions ---------------------------------------------------------------------------------------

    def of_leases_that_are_over(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the ids that belong to trusts or reservations whose leases have all ended."""
        over = LEASES.c.ended.is_not(None)
        found: set[str] = set()
        with self._database.connect() as connection:
            for chunk in chunks(sorted(ids)):
                trusts = select(LEASES.c.trust_id).where(LEASES.c.trust_id.in_(chunk))
                found.update(connection.execute(trusts.where(over)).scalars())
                found.difference_update(connection.execute(trusts.where(~over)).scalars())
                reservations = select(LEASE_RESERVATIONS.c.id).join(LEASES).where(over)
                found.update(connection.execute(reservations.where(LEASE_RESERVATIONS.c.id.in_(chunk))).scalars())
        return frozenset(found)

    def known_trusts(self, ids: Collection[str]) -> frozenset[str]:
        """Return those of the given trusts that a host or a lease has. Ended and deleted leases count."""
        with self._database.connect() as connection:
            return trusts.known(connection, ids)

    def has_lease(self, lease_id: str) -> bool:
        """Return whether the database has a lease with this id, live or ended."""
        with self._database.connect() as connection:
            return connection.execute(_HAS_LEASE, {"the_id": lease_id}).first() is not None

    def request_digest(self, lease_id: str) -> str | None:
        """Return the digest of the request for a lease, or None if the client did not choose the id of the lease."""
        with self._database.connect() as connection:
            return connection.execute(select(LEASES.c.request_digest).where(LEASES.c.id == lease_id)).scalar()

    def unaccepted_seconds(self, project_id: str, since: int) -> int:
        """Return how many seconds a project's unaccepted offers were held. Only offers that ended after ``since``
        count.

        A lease that was rejected for its price counts as 0 s.
        """
        with self._database.connect() as connection:
            return usage.unaccepted_seconds(connection, project_id, since)

    def used(self, project_id: str, start: int, now: int) -> tuple[int, Mapping[str, int]]:
        """Return what a project used; see ``service.interfaces.ServiceStore``."""
        with self._database.connect() as connection:
            return usage.used(connection, project_id, start, now)

    def version(self, lease_id: str) -> int | None:
        """Return the version of a live lease, or None."""
        found = self._written.get(lease_id)
        return None if found is None else found.version

    @property
    def epoch(self) -> int:
        """The fencing number."""
        return self._epoch
