#!/bin/sh
# Install what the tests start and is missing: MariaDB, PostgreSQL, RabbitMQ, Slurm and Chromium.
# Usage: install-test-servers.sh [PACKAGE...], for example mariadb-server rabbitmq-server; without any, all of them.
# What is there stays as it is. No daemon is started: the tests start servers of their own.
set -eu

policy=/usr/sbin/policy-rc.d
policy_is_ours=""

stop() {
    echo "install-test-servers: $1" >&2
    exit 2
}

# Debian keeps some of them in folders that are not searched for programs.
has() {
    for file in "$@"; do
        [ -x "$file" ] && return 0
        command -v "$file" >/dev/null 2>&1 && return 0
    done
    return 1
}

remove_policy() {
    [ -z "$policy_is_ours" ] || $as_root rm -f "$policy"
}

missing=""
has mariadbd /usr/sbin/mariadbd || missing="$missing mariadb-server"
has /usr/lib/postgresql/*/bin/postgres || missing="$missing postgresql"
has /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server || missing="$missing rabbitmq-server"
has slurmctld /usr/sbin/slurmctld || missing="$missing slurmctld"
has slurmd /usr/sbin/slurmd || missing="$missing slurmd"
has sbatch || missing="$missing slurm-client"
has munged /usr/sbin/munged || missing="$missing munge"
browser=chromium
driver=chromium-driver
if grep -qs '^ID=ubuntu' /etc/os-release; then
    browser=chromium-browser
    driver=chromium-chromedriver
fi
has chromium chromium-browser google-chrome || missing="$missing $browser"
has chromedriver || missing="$missing $driver"

if [ $# -gt 0 ]; then
    wanted=""
    for package in $missing; do
        case " $* " in *" $package "*) wanted="$wanted $package" ;; esac
    done
    missing="$wanted"
fi
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null 2>&1 || stop "missing:$missing; install them with the system's package manager"
as_root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || stop "missing:$missing; as root: apt-get install --no-install-recommends$missing"
    as_root="sudo"
fi

# Packages ask this program whether they may start their daemons; 101 means no.
if [ ! -e "$policy" ]; then
    trap remove_policy EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    policy_is_ours=yes
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
fi

$as_root apt-get update
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $missing
