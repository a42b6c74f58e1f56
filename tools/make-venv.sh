#!/bin/sh
# Make a virtual environment with everything in it, or bring it up to date. Usage: make-venv.sh PYTHON FOLDER
set -eu
python=$1
venv=$2

stop() {
    echo "make setup: $1" >&2
    exit 2
}

install_debian_packages() {
    command -v apt-get >/dev/null 2>&1 || stop "missing: $*; install it with the system's package manager"
    as_root=""
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || stop "missing: $*; as root: apt-get install $*"
        as_root="sudo"
    fi
    $as_root apt-get update
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

command -v "$python" >/dev/null 2>&1 || {
    [ "$python" = python3 ] || stop "there is no $python; name another one: make PYTHON=/path/to/python3"
    install_debian_packages python3 python3-venv
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || stop \
    "Python 3.11 or later is needed, $python is $("$python" -V 2>&1); name another one: make PYTHON=/path/to/python3"

# Debian keeps what venv needs in a package of its own.
"$python" -c 'import ensurepip, venv' 2>/dev/null || install_debian_packages \
    "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"

# An environment that was moved, half made, or made by a Python that is gone has no pip that runs.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$venv"

# pbr counts the version from the tags of the repository; a copy without any gets a placeholder.
if [ -z "${PBR_VERSION:-}" ] && ! git describe --tags >/dev/null 2>&1; then
    PBR_VERSION=0.1.0.dev0
    export PBR_VERSION
fi

# Python compiles what it imports; to compile the rest as well would take as long as all else.
"$venv/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check \
    -r test-requirements.txt -r doc/requirements.txt --editable '.[client,haizea,simulator]'
