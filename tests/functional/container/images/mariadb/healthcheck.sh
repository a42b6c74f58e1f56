#!/bin/bash
# Like the program of this name in the official image, with the two checks that container/compose.yaml uses.
set -eu

query() {
    mariadb --no-defaults --host=127.0.0.1 --protocol=tcp --user=healthcheck --skip-ssl --skip-column-names --batch --execute "$1"
}

for check in "$@"; do
    case $check in
        --connect) query 'SELECT 1' >/dev/null ;;
        --innodb_initialized)
            [[ $(query "SELECT COUNT(*) FROM information_schema.engines
                        WHERE engine = 'innodb' AND support IN ('YES', 'DEFAULT')") == 1 ]] ;;
        *) echo "unknown check: $check" >&2; exit 1 ;;
    esac
done
