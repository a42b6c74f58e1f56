#!/bin/bash
#
# DevStack plug-in of lease-scheduler: source plugin.sh <mode> [phase]
#
# Which part is done depends on the services of the node:
#
#   lease-scheduler-api      configuration, database, user and catalogue, the API below /reservation
#   lease-scheduler-engine   configuration, the engine
#   lease-scheduler-agent    the agent of a compute host, which weighs the CPU time of its servers
#   n-sch                    LeaseFilter and LeaseWeigher
#   n-cpu                    the inventory of which servers of leases take one
#   any of Nova              versioned notifications
#   n-cond                   the same for the conductors of the cells
#   placement-api            one attempt at each claim, because further ones may exceed what there is
#   rabbit                   a limit for queues of notifications that nobody reads
#
# Settings are in the file of that name. To have DevStack call it:
#
#   [[local|localrc]]
#   enable_plugin lease-scheduler <URL of this repository> main

_XTRACE_LEASE_SCHEDULER=$(set +o | grep xtrace)
set +o xtrace

_LEASE_SCHEDULER_FILTER=lease_scheduler.nova.lease_filter.LeaseFilter
_LEASE_SCHEDULER_WEIGHER=lease_scheduler.nova.lease_weigher.LeaseWeigher
_LEASE_SCHEDULER_ANCHOR=lease-anchor.yaml

_LEASE_SCHEDULER_POLICY=lease-scheduler-notifications
_LEASE_SCHEDULER_QUEUES='^((versioned|lease)_)?notifications[.]'

# Those of Nova itself, for a nova.conf that names none.
_LEASE_SCHEDULER_NOVA_FILTERS=ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter
_LEASE_SCHEDULER_NOVA_FILTERS+=,ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter


# What the node has
# -----------------

function _lease_scheduler_runs_here {
    is_service_enabled lease-scheduler-api lease-scheduler-engine
}

# nova-scheduler loads the filter and the weigher out of the same package. nova-compute needs nothing of it.
function _lease_scheduler_installs_here {
    _lease_scheduler_runs_here || is_service_enabled n-sch lease-scheduler-agent
}

# Where clients find the service, without the version.
function lease_scheduler_url {
    echo "$LEASE_SCHEDULER_SERVICE_PROTOCOL://$LEASE_SCHEDULER_SERVICE_HOST/reservation"
}

# End the run unless each of these variables has a value.
# _lease_scheduler_require name ...
function _lease_scheduler_require {
    local name
    for name in "$@"; do
        if [[ -z "${!name:-}" ]]; then
            die $LINENO "lease-scheduler needs the variable $name, which is not set; give it a value in local.conf"
        fi
    done
}

# What a file of requirements or constraints names: one a line the name as pip compares it, the version, and the name as
# it is written.
# _lease_scheduler_versions file operator
function _lease_scheduler_versions {
    awk -v operator="$2" '
        !/^[[:space:]]*#/ && (at = index($0, operator)) {
            written = name = substr($0, 1, at - 1)
            sub(/\[.*/, "", written)
            name = tolower(written)
            gsub(/[-_.]+/, "-", name)
            version = substr($0, at + length(operator))
            sub(/[ ;,#].*/, "", version)
            print name, version, written
        }
    ' "$1"
}

# End the run if DevStack's constraints hold a library below the version that is needed: pip would say so, but late and
# not where to change it. A library that is installed from git has no constraint.
function _lease_scheduler_check_constraints {
    local constraints=$REQUIREMENTS_DIR/upper-constraints.txt
    local name version written found
    local -A held=()
    while read -r name version written; do
        # With several for several versions of Python the newest counts: pip decides which one is meant.
        if [[ -z "${held[$name]:-}" ]] || printf '%s\n' "${held[$name]}" "$version" | sort --version-sort --check=quiet; then
            held[$name]=$version
        fi
    done < <(_lease_scheduler_versions "$constraints" "===")
    while read -r name version written; do
        found=${held[$name]:-$version}
        if ! use_library_from_git "$written" && ! printf '%s\n' "$version" "$found" | sort --version-sort --check=quiet; then
            die $LINENO "lease-scheduler needs $written $version or later, and $constraints holds it at $found;" \
                "raise it there and run stack.sh again"
        fi
    done < <(_lease_scheduler_versions "$LEASE_SCHEDULER_DIR/requirements.txt" ">=")
}

# End the run with the reason if something that is needed later is not there.
function check_lease_scheduler {
    _lease_scheduler_require LEASE_SCHEDULER_DIR
    if [[ ! -f "$LEASE_SCHEDULER_DIR/etc/nova/provider_config/$_LEASE_SCHEDULER_ANCHOR" ]]; then
        die $LINENO "LEASE_SCHEDULER_DIR=$LEASE_SCHEDULER_DIR is not the repository of lease-scheduler"
    fi
    if _lease_scheduler_installs_here; then
        _lease_scheduler_require REQUIREMENTS_DIR
        _lease_scheduler_check_constraints
    fi
    if _lease_scheduler_runs_here; then
        _lease_scheduler_require STACK_USER DATA_DIR SERVICE_PASSWORD SERVICE_PROJECT_NAME SERVICE_DOMAIN_NAME \
            KEYSTONE_SERVICE_URI REGION_NAME LEASE_SCHEDULER_SERVICE_HOST
    fi
    if is_service_enabled nova; then
        _lease_scheduler_require NOVA_CONF
    fi
    if is_service_enabled placement-api; then
        _lease_scheduler_require PLACEMENT_CONF
    fi
    if is_service_enabled lease-scheduler-agent; then
        _lease_scheduler_require LEASE_SCHEDULER_AGENT_SECRET STACK_USER NOVA_CONF
    fi
}


# Installation
# ------------

# Another uWSGI in the virtual environment would be the one of all services, whose first folder in PATH that is: the one
# that DevStack has installed serves the API as well.
function install_lease_scheduler {
    if _lease_scheduler_installs_here; then
        if is_service_enabled lease-scheduler-agent; then
            setup_develop "$LEASE_SCHEDULER_DIR" agent
        else
            setup_develop "$LEASE_SCHEDULER_DIR"
        fi
    fi
}


# Configuration
# -------------

# Write the configuration of API and engine anew, so that nothing of an earlier run is left in it.
function configure_lease_scheduler {
    local conf=$LEASE_SCHEDULER_CONF
    # There are passwords in it.
    sudo install -d -o "$STACK_USER" -m 750 "$LEASE_SCHEDULER_CONF_DIR" "$LEASE_SCHEDULER_STATE_PATH"
    rm -f "$conf"

    iniset "$conf" DEFAULT debug "${ENABLE_DEBUG_LOG_LEVEL:-True}"
    iniset "$conf" DEFAULT use_syslog "${SYSLOG:-False}"
    setup_logging "$conf"
    iniset_rpc_backend lease-scheduler "$conf" DEFAULT
    iniset "$conf" database connection "$(database_connection_url "$LEASE_SCHEDULER_DATABASE")"

    configure_keystone_authtoken_middleware "$conf" "$LEASE_SCHEDULER_USER"
    # Application credentials may be restricted to some types of service.
    iniset "$conf" keystone_authtoken service_type reservation

    iniset "$conf" service cloud nova
    iniset "$conf" service state_path "$LEASE_SCHEDULER_STATE_PATH"
    if [[ -n "$LEASE_SCHEDULER_COORDINATION_URL" ]]; then
        iniset "$conf" service coordination_url "$LEASE_SCHEDULER_COORDINATION_URL"
    fi

    if [[ -n "$LEASE_SCHEDULER_AGENT_SECRET" ]]; then
        iniset "$conf" agent secret "$LEASE_SCHEDULER_AGENT_SECRET"
    fi

    iniset "$conf" nova auth_type password
    iniset "$conf" nova auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$conf" nova username "$LEASE_SCHEDULER_USER"
    iniset "$conf" nova password "$SERVICE_PASSWORD"
    iniset "$conf" nova user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$conf" nova project_name "$SERVICE_PROJECT_NAME"
    iniset "$conf" nova project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$conf" nova region_name "$REGION_NAME"
    # DevStack enters no others into the catalogue.
    iniset "$conf" nova interface public
    iniset "$conf" nova aggregate_freepool_name "$LEASE_SCHEDULER_FREEPOOL_NAME"
    if is_service_enabled tls-proxy; then
        iniset "$conf" nova cafile "$SSL_BUNDLE_FILE"
    fi
    if is_service_enabled tempest; then
        # The leases of blazar-tempest-plugin are of the year 2050.
        iniset "$conf" enforcement max_lead_time -1
    fi
}

# The agent has a file of its own: compute hosts need no password of the database.
function configure_lease_scheduler_agent {
    local conf=$LEASE_SCHEDULER_AGENT_CONF found
    sudo install -d -o "$STACK_USER" -m 750 "$LEASE_SCHEDULER_CONF_DIR"
    rm -f "$conf"

    iniset "$conf" DEFAULT debug "${ENABLE_DEBUG_LOG_LEVEL:-True}"
    iniset "$conf" DEFAULT use_syslog "${SYSLOG:-False}"
    setup_logging "$conf"
    iniset_rpc_backend lease-scheduler "$conf" DEFAULT
    iniset "$conf" agent secret "$LEASE_SCHEDULER_AGENT_SECRET"
    found=$(iniget "$NOVA_CONF" DEFAULT host)
    if [[ -n "$found" ]]; then
        iniset "$conf" agent host "$found"
    fi
}

# DevStack adds a line to the site each time, and leaves the file when it takes the site away.
function _lease_scheduler_remove_site {
    sudo rm -f "$(apache_site_config_for lease-scheduler-api)"
}

# The API in uWSGI, behind the web server that all of DevStack's services are behind.
function configure_lease_scheduler_api {
    _lease_scheduler_remove_site
    write_uwsgi_config "$LEASE_SCHEDULER_UWSGI_CONF" lease_scheduler.cmd.wsgi:application /reservation "" \
        lease-scheduler-api
    iniset "$LEASE_SCHEDULER_UWSGI_CONF" uwsgi env "LEASE_SCHEDULER_CONFIG=$LEASE_SCHEDULER_CONF"
}

# A list with a further word at its end, unless that is in it.
# _lease_scheduler_with list,with,commas word
function _lease_scheduler_with {
    local list=${1//[[:space:]]/}
    if [[ ",$list," != *",$2,"* ]]; then
        list+=,$2
    fi
    echo "$list"
}

# Filter and weigher are added to what is there: other plug-ins have theirs.
function configure_lease_scheduler_nova_scheduler {
    local found available
    found=$(iniget "$NOVA_CONF" filter_scheduler enabled_filters)
    found=${found:-$_LEASE_SCHEDULER_NOVA_FILTERS}
    iniset "$NOVA_CONF" filter_scheduler enabled_filters "$(_lease_scheduler_with "$found" LeaseFilter)"

    read -r -a available <<< "$(iniget_multiline "$NOVA_CONF" filter_scheduler available_filters)"
    if [[ ${#available[@]} -eq 0 ]]; then
        available=(nova.scheduler.filters.all_filters)
    fi
    if [[ " ${available[*]} " != *" $_LEASE_SCHEDULER_FILTER "* ]]; then
        available+=("$_LEASE_SCHEDULER_FILTER")
    fi
    iniset_multiline "$NOVA_CONF" filter_scheduler available_filters "${available[@]}"

    found=$(iniget "$NOVA_CONF" filter_scheduler weight_classes)
    found=${found:-nova.scheduler.weights.all_weighers}
    iniset "$NOVA_CONF" filter_scheduler weight_classes "$(_lease_scheduler_with "$found" "$_LEASE_SCHEDULER_WEIGHER")"

    iniset "$NOVA_CONF" lease_scheduler freepool "$LEASE_SCHEDULER_FREEPOOL_NAME"
    iniset "$NOVA_CONF" lease_scheduler allow_preemptibles "$LEASE_SCHEDULER_ALLOW_PREEMPTIBLES"
    if [[ -n "$LEASE_SCHEDULER_ON_DEMAND_HORIZON" ]]; then
        iniset "$NOVA_CONF" lease_scheduler on_demand_horizon "$LEASE_SCHEDULER_ON_DEMAND_HORIZON"
    fi
}

# The engine learns from these what happens to servers and hosts.
# _lease_scheduler_notify file
function _lease_scheduler_notify {
    local conf=$1
    case "$(iniget "$conf" notifications notification_format)" in
        versioned | both) ;;
        # Those who listen to the others go on to get them.
        *) iniset "$conf" notifications notification_format both ;;
    esac
    iniset "$conf" notifications notify_on_state_change vm_and_task_state
    case "$(iniget_multiline "$conf" oslo_messaging_notifications driver)" in
        "" | noop) iniset "$conf" oslo_messaging_notifications driver messagingv2 ;;
    esac
}

# Have a conductor of a cell send where all of Nova sends: it says that a host is new, and its own broker may be
# another one, or another virtual host.
# _lease_scheduler_notify_from_cell file
function _lease_scheduler_notify_from_cell {
    local conf=$1 url
    _lease_scheduler_notify "$conf"
    if [[ -z "$(iniget "$conf" oslo_messaging_notifications transport_url)" ]]; then
        url=$(iniget "$NOVA_CONF" oslo_messaging_notifications transport_url)
        url=${url:-$(iniget "$NOVA_CONF" DEFAULT transport_url)}
        if [[ -n "$url" ]]; then
            iniset "$conf" oslo_messaging_notifications transport_url "$url"
        fi
    fi
}

function configure_lease_scheduler_nova_notifications {
    local conf
    _lease_scheduler_notify "$NOVA_CONF"
    if is_service_enabled n-cond; then
        for conf in "${NOVA_CONF%/*}"/nova_cell[0-9]*.conf; do
            if [[ -f "$conf" ]]; then
                _lease_scheduler_notify_from_cell "$conf"
            fi
        done
    fi
}

# Who sends notifications makes a queue for each topic and level, whether anybody reads it or not; the engine has one of
# its own.
function limit_lease_scheduler_notifications {
    if [[ -n "$LEASE_SCHEDULER_NOTIFICATION_LIMIT" ]]; then
        sudo rabbitmqctl set_policy --apply-to queues "$_LEASE_SCHEDULER_POLICY" "$_LEASE_SCHEDULER_QUEUES" \
            "{\"max-length\": $LEASE_SCHEDULER_NOTIFICATION_LIMIT}"
    fi
}

# The folder with inventories for nova-compute; none if nova.conf names none.
function _lease_scheduler_provider_folder {
    if [[ -f "${NOVA_CONF:-}" ]]; then
        iniget "$NOVA_CONF" compute provider_config_location
    fi
}

function configure_lease_scheduler_nova_compute {
    local folder
    folder=$(_lease_scheduler_provider_folder)
    if [[ -z "$folder" ]]; then
        folder=$LEASE_SCHEDULER_PROVIDER_CONFIG_DIR
        iniset "$NOVA_CONF" compute provider_config_location "$folder"
    fi
    sudo install -D -m 644 "$LEASE_SCHEDULER_DIR/etc/nova/provider_config/$_LEASE_SCHEDULER_ANCHOR" \
        "$folder/$_LEASE_SCHEDULER_ANCHOR"
}

# DevStack starts Nova's services after this; nova-compute gets a copy of nova.conf.
function configure_lease_scheduler_nova {
    if [[ ! -f "$NOVA_CONF" ]]; then
        die $LINENO "lease-scheduler: there is no $NOVA_CONF to add to"
    fi
    # It may still write to the same files in the background.
    async_wait configure_neutron_nova
    configure_lease_scheduler_nova_notifications
    if is_service_enabled n-sch; then
        configure_lease_scheduler_nova_scheduler
    fi
    if is_service_enabled n-cpu; then
        configure_lease_scheduler_nova_compute
    fi
}

# DevStack starts Placement after this. A value that somebody has chosen stays.
function configure_lease_scheduler_placement {
    if [[ -z "$(iniget "$PLACEMENT_CONF" placement allocation_conflict_retry_count)" ]]; then
        iniset "$PLACEMENT_CONF" placement allocation_conflict_retry_count 1
    fi
}


# Start
# -----

# User               Project   Roles
# ------------------------------------------
# lease-scheduler    service   service, admin
function create_lease_scheduler_accounts {
    create_service_user "$LEASE_SCHEDULER_USER" admin
    get_or_create_service lease-scheduler reservation "OpenStack Reservation Service"
    # Blazar's clients take an address that ends in the version as it is.
    get_or_create_endpoint reservation "$REGION_NAME" "$(lease_scheduler_url)/v1"
}

# An empty database with all tables. It comes after DevStack has merged local.conf, which may name another one.
function init_lease_scheduler {
    recreate_database "$LEASE_SCHEDULER_DATABASE"
    "$(get_python_exec_prefix)/lease-scheduler-manage" --config-file "$LEASE_SCHEDULER_CONF" db sync
}

function start_lease_scheduler {
    local uwsgi
    run_process lease-scheduler-engine \
        "$(get_python_exec_prefix)/lease-scheduler-engine --config-file $LEASE_SCHEDULER_CONF"
    if is_service_enabled lease-scheduler-api; then
        uwsgi=$(type -P uwsgi) || die $LINENO "lease-scheduler-api needs uWSGI, which DevStack has not installed"
        run_process lease-scheduler-api \
            "$uwsgi --procname-prefix lease-scheduler-api --ini $LEASE_SCHEDULER_UWSGI_CONF"
        echo "Waiting for lease-scheduler-api to start..."
        if ! wait_for_service "${SERVICE_TIMEOUT:-60}" "$(lease_scheduler_url)/healthcheck"; then
            die $LINENO "lease-scheduler-api did not start"
        fi
    fi
}

function start_lease_scheduler_agent {
    run_process lease-scheduler-agent \
        "$(get_python_exec_prefix)/lease-scheduler-agent --config-file $LEASE_SCHEDULER_AGENT_CONF" "${LIBVIRT_GROUP:-libvirt}"
}

# The tests of blazar-tempest-plugin ask for it by that name.
function configure_lease_scheduler_tempest {
    iniset "$TEMPEST_CONFIG" service_available blazar True
}


# End
# ---

function stop_lease_scheduler {
    stop_process lease-scheduler-api
    stop_process lease-scheduler-engine
}

function stop_lease_scheduler_agent {
    stop_process lease-scheduler-agent
}

# The broker may be stopped already, or have no such policy.
function unlimit_lease_scheduler_notifications {
    sudo rabbitmqctl clear_policy "$_LEASE_SCHEDULER_POLICY" || true
}

# Remove what the plug-in has made. DevStack removes databases and nova.conf itself.
function cleanup_lease_scheduler {
    local folder
    if is_service_enabled lease-scheduler-api; then
        remove_uwsgi_config "$LEASE_SCHEDULER_UWSGI_CONF" lease-scheduler-api
        _lease_scheduler_remove_site
    fi
    if _lease_scheduler_runs_here; then
        sudo rm -rf "${LEASE_SCHEDULER_CONF_DIR:?}" "${LEASE_SCHEDULER_STATE_PATH:?}"
    fi
    if is_service_enabled lease-scheduler-agent; then
        sudo rm -f "$LEASE_SCHEDULER_AGENT_CONF"
    fi
    if is_service_enabled n-cpu; then
        folder=$(_lease_scheduler_provider_folder)
        sudo rm -f "${folder:-$LEASE_SCHEDULER_PROVIDER_CONFIG_DIR}/$_LEASE_SCHEDULER_ANCHOR"
    fi
}


# Dispatch
# --------

if _lease_scheduler_runs_here || is_service_enabled nova lease-scheduler-agent; then
    case "$1 ${2:-}" in
        "stack pre-install")
            echo_summary "Checking the settings of lease-scheduler"
            check_lease_scheduler
            ;;
        "stack install")
            echo_summary "Installing lease-scheduler"
            install_lease_scheduler
            ;;
        "stack post-config")
            echo_summary "Configuring lease-scheduler"
            # stack.sh may have set a variable anew since it was looked at.
            check_lease_scheduler
            if _lease_scheduler_runs_here; then
                configure_lease_scheduler
            fi
            if is_service_enabled lease-scheduler-api; then
                configure_lease_scheduler_api
            fi
            if is_service_enabled nova; then
                configure_lease_scheduler_nova
            fi
            if is_service_enabled placement-api; then
                configure_lease_scheduler_placement
            fi
            if is_service_enabled lease-scheduler-agent; then
                configure_lease_scheduler_agent
            fi
            if is_service_enabled rabbit; then
                limit_lease_scheduler_notifications
            fi
            ;;
        "stack extra")
            # The node with the API has the database and the catalogue; an engine may run elsewhere as well.
            if is_service_enabled lease-scheduler-api; then
                echo_summary "Initializing lease-scheduler"
                create_lease_scheduler_accounts
                init_lease_scheduler
            fi
            if _lease_scheduler_runs_here; then
                echo_summary "Starting lease-scheduler"
                start_lease_scheduler
            fi
            if is_service_enabled lease-scheduler-agent; then
                start_lease_scheduler_agent
            fi
            ;;
        "stack test-config")
            if is_service_enabled lease-scheduler-api && is_service_enabled tempest; then
                echo_summary "Configuring Tempest for lease-scheduler"
                configure_lease_scheduler_tempest
            fi
            ;;
        "unstack "*)
            if _lease_scheduler_runs_here; then
                echo_summary "Shutting down lease-scheduler"
                stop_lease_scheduler
            fi
            if is_service_enabled lease-scheduler-agent; then
                stop_lease_scheduler_agent
            fi
            if is_service_enabled rabbit; then
                unlimit_lease_scheduler_notifications
            fi
            ;;
        "clean "*)
            echo_summary "Cleaning lease-scheduler"
            cleanup_lease_scheduler
            ;;
    esac
fi

$_XTRACE_LEASE_SCHEDULER
