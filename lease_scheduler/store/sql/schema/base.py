"""Parts that the tables share."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, MetaData, String

#: Names of constraints are fixed, so that migrations can name them on every database.
METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

#: SQLite numbers rows by itself only in a column of type INTEGER.
SERIAL = BigInteger().with_variant(Integer, "sqlite")
#: UUIDs as text.
ID = String(36)
#: Ids of projects and users can be as long as those of an identity provider.
KEYSTONE_ID = String(255)
