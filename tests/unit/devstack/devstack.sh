# shellcheck shell=bash
# Stands in for DevStack: functions of its contract that write down how they were called, in the file $CALLS, one call a
# line with tabs between the words. Those that change configuration files really do.

# record word ...
function record {
    local IFS=$'\t'
    echo "$*" >> "$CALLS"
}

function die {
    shift
    echo "[ERROR] $*" >&2
    exit 1
}

function echo_summary {
    record echo_summary "$@"
}

# What one may do without root, done.
function sudo {
    record sudo "$@"
    if [[ "$1" == rabbitmqctl ]]; then
        return "${RABBIT_STATUS:-0}"
    fi
    "$@"
}


# Services
# --------

# Whether one of them is enabled; "nova" stands for any of its services.
function is_service_enabled {
    local service
    for service in "$@"; do
        if [[ ",$ENABLED_SERVICES," == *",$service,"* ]]; then
            return 0
        fi
        if [[ "$service" == nova && ",$ENABLED_SERVICES" == *",n-"* ]]; then
            return 0
        fi
    done
    return 1
}

function enable_service {
    local service
    for service in "$@"; do
        if [[ ",${DISABLED_SERVICES:-}," != *",$service,"* ]] && ! is_service_enabled "$service"; then
            ENABLED_SERVICES+=,$service
        fi
    done
}

# Only services that are enabled are started, with a command that begins with a path.
function run_process {
    if is_service_enabled "$1"; then
        [[ "$2" == /* ]] || die $LINENO "$2 does not begin with a path"
        record run_process "$@"
    fi
}

function stop_process {
    record stop_process "$@"
}

function wait_for_service {
    record wait_for_service "$@"
    return "${WAIT_STATUS:-0}"
}


# Packages, databases, Keystone
# -----------------------------

function setup_develop {
    record setup_develop "$@"
}

function pip_install {
    record pip_install "$@"
}

# Status 0 for a library whose repository is used.
function use_library_from_git {
    [[ ",${LIBS_FROM_GIT:-}," == *",$1,"* ]]
}

function get_python_exec_prefix {
    echo "$PROGRAMS"
}

function recreate_database {
    record recreate_database "$@"
}

function database_connection_url {
    echo "$DATABASE_PREFIX$1"
}

function create_service_user {
    record create_service_user "$@"
}

function get_or_create_service {
    record get_or_create_service "$@"
    echo 5c3f
}

function get_or_create_endpoint {
    record get_or_create_endpoint "$@"
    echo 9a71
}


# Configuration files
# -------------------

# Values of an option, one a line.
# ini_values file section option
function ini_values {
    awk -v section="[$2]" -v option="$3" '
        /^\[/ { inside = ($0 == section); next }
        inside && match($0, /^[^= \t]+[ \t]*=[ \t]*/) {
            name = $0
            sub(/[ \t]*=.*/, "", name)
            if (name == option) print substr($0, RLENGTH + 1)
        }
    ' "$1"
}

# Give an option these values in place of what it has; the file and the section are made if need be.
# ini_put file section option value ...
function ini_put {
    local file=$1 section=$2 option=$3
    shift 3
    [[ -n "$section" && -n "$option" ]] || die $LINENO "an option without a name in $file"
    touch "$file"
    VALUES=$(printf '%s\n' "$@") awk -v section="[$section]" -v option="$option" '
        function put(  value, count, i) {
            count = split(ENVIRON["VALUES"], value, "\n")
            for (i = 1; i <= count; i++) print option " = " value[i]
        }
        $0 == section { print; put(); inside = found = 1; next }
        /^\[/ { inside = 0 }
        {
            name = $0
            sub(/[ \t]*=.*/, "", name)
            if (!inside || name != option) print
        }
        END { if (!found) { print section; put() } }
    ' "$file" > "$file.new"
    mv "$file.new" "$file"
}

# One value: DevStack silently takes the first word of what is not quoted.
function iniset {
    [[ $# -eq 4 ]] || die $LINENO "iniset takes a file, a section, an option and a value, not: $*"
    ini_put "$@"
}

function iniset_multiline {
    # As DevStack does: blanks part values.
    # shellcheck disable=SC2048,SC2086
    ini_put $*
}

# DevStack gives the last value if there are several.
function iniget {
    [[ -f "$1" ]] || die $LINENO "there is no $1"
    ini_values "$@" | tail -n 1
}

function iniget_multiline {
    [[ -f "$1" ]] || die $LINENO "there is no $1"
    ini_values "$@" | paste -s -d ' '
}

function setup_logging {
    [[ $# -eq 1 ]] || die $LINENO "setup_logging takes a file, not: $*"
    iniset "$1" DEFAULT use_journal True
}

function iniset_rpc_backend {
    [[ $# -eq 3 ]] || die $LINENO "iniset_rpc_backend takes a package, a file and a section, not: $*"
    iniset "$2" "$3" transport_url "rabbit://stackrabbit:secret@$SERVICE_HOST:5672/"
}

function configure_keystone_authtoken_middleware {
    local section=${3:-keystone_authtoken}
    iniset "$1" "$section" auth_type password
    iniset "$1" "$section" interface public
    iniset "$1" "$section" auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$1" "$section" username "$2"
    iniset "$1" "$section" password "$SERVICE_PASSWORD"
    iniset "$1" "$section" user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" "$section" project_name "$SERVICE_PROJECT_NAME"
    iniset "$1" "$section" project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$1" "$section" memcached_servers localhost:11211
}

# apache_site_config_for name
function apache_site_config_for {
    echo "$SITES/$1.conf"
}

# It adds a line to the site, whatever is there.
# write_uwsgi_config file module:variable path http-address name
function write_uwsgi_config {
    record write_uwsgi_config "$@"
    rm -f "$1"
    iniset "$1" uwsgi module "$2"
    iniset "$1" uwsgi lazy-apps true
    mkdir -p "$SITES"
    echo "ProxyPass \"$3\"" >> "$(apache_site_config_for "$5")"
}

# It leaves the site's file where it is.
function remove_uwsgi_config {
    record remove_uwsgi_config "$@"
    rm -f "$1"
}


# What runs in the background
# ---------------------------

function async_wait {
    record async_wait "$@"
}
