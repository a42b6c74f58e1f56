#!/bin/bash
# Honours the variables of the official image that container/compose.yaml sets. Arguments that begin with a dash are
# options of the server.
set -eu

if [[ ${1:-} == -* ]]; then set -- mariadbd "$@"; fi
data=/var/lib/mysql
arguments=(--user=mysql)
if [[ $1 == mariadbd && ! -d $data/mysql ]]; then
    if [[ -z ${MARIADB_RANDOM_ROOT_PASSWORD:-} ]]; then
        echo 'This stand-in knows no other password of root than MARIADB_RANDOM_ROOT_PASSWORD.' >&2
        exit 1
    fi
    chown mysql:mysql "$data"
    mariadb-install-db --user=mysql --datadir="$data" --skip-test-db --auth-root-authentication-method=normal >/dev/null
    root=$(head -c 24 /dev/urandom | base64)
    cat >/run/first.sql <<SQL
ALTER USER root@localhost IDENTIFIED BY '$root';
CREATE USER healthcheck@localhost, healthcheck@127.0.0.1;
CREATE DATABASE \`$MARIADB_DATABASE\`;
CREATE USER '$MARIADB_USER'@'%' IDENTIFIED BY '$MARIADB_PASSWORD';
GRANT ALL ON \`$MARIADB_DATABASE\`.* TO '$MARIADB_USER'@'%';
SQL
    chown mysql /run/first.sql
    # The server runs it before it accepts connections.
    arguments+=(--init-file=/run/first.sql)
fi
install --directory --owner=mysql /run/mysqld
exec "$@" "${arguments[@]}"
