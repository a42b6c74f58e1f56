# Everything lives in .venv. The machine needs make and Python 3.11 or later; another one: make PYTHON=/path/to/python3
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Pictures are written to files, so no display is needed.
export MPLBACKEND ?= Agg
# Tests start programs some hundreds of times; each would compile our modules anew.
unexport PYTHONDONTWRITEBYTECODE

# The page of `make run` is at http://127.0.0.1:$(LEASE_SCHEDULER_PORT); DEMO=0 leaves out the workload. Another loopback
# address is ::1.
LEASE_SCHEDULER_HOST ?= 127.0.0.1
LEASE_SCHEDULER_PORT ?= 1234
DEMO ?= 1
STATE := var
# More than processors, because many tests wait for servers and clocks.
TEST_PROCESSES ?= 4

.PHONY: setup run run-sites simulate test lint types imports unit docs screenshot
.PHONY: notes sample-config sample-policy check-sample benchmark benchmark-check benchmark-ranges mutate experiment clean
.PHONY: lab lab-down servers world openstack collect kernels

setup: $(STAMP)

$(STAMP): requirements.txt test-requirements.txt doc/requirements.txt setup.cfg setup.py pyproject.toml tools/make-venv.sh
	tools/make-venv.sh "$(PYTHON)" "$(VENV)"
	touch $@

# What it knows stays in $(STATE)/, so the next start goes on from there. Silent, because Ctrl-C is how one ends it.
run: setup
	@$(BIN)/lease-scheduler-embedded --state-path $(STATE) --host $(LEASE_SCHEDULER_HOST) --port $(LEASE_SCHEDULER_PORT) \
		$(if $(filter-out 0,$(DEMO)),--demonstration,--fill-pool)

# Three simulated sites and a gateway in front of them, on four ports from $(LEASE_SCHEDULER_PORT) on.
run-sites: setup
	@$(BIN)/python -m tools.run_sites --folder $(STATE)/sites --port $(LEASE_SCHEDULER_PORT)

# A small OpenStack cloud with hypervisors that only pretend, to try the service on. LAB_OPTIONS="--hosts 8" and more:
# see python -m tools.lab up --help
# What cannot be installed the lab says itself, before it begins.
lab: setup
	@tools/install-test-servers.sh mariadb-server rabbitmq-server || true
	@$(BIN)/python -m tools.lab up --folder $(STATE)/lab $(LAB_OPTIONS)

lab-down: setup
	@$(BIN)/python -m tools.lab down --folder $(STATE)/lab

# One world of faults for each seed: make world SEED=7, or COUNT=20 for as many seeds. The same seed gives the same
# history.
SEED ?= 1
COUNT ?= 1
DAYS ?= 0.125
HOSTS ?= 4
TENANTS ?= 4
CLOUD ?= nova
world: setup
	@$(BIN)/lease-scheduler-manage rehearse --seed $(SEED) --count $(COUNT) --days $(DAYS) \
		--hosts $(HOSTS) --tenants $(TENANTS) --cloud $(CLOUD) $(if $(FAULTS),--faults $(FAULTS)) \
		$(if $(VERBS),--verbs $(VERBS)) $(if $(ACTS),--acts $(ACTS)) $(if $(FATES),--fates $(FATES)) \
		$(if $(CALM),--calm $(CALM)) $(if $(SHRINK),--shrink)

simulate: setup
	$(BIN)/lease-sim run blue1 --inject t20 --output output/blue1-t20

# The tests come last, so that their count is what one sees in the end; what comes before them needs one processor each.
test:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target setup openstack
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types imports notes check-sample docs benchmark-check servers collect kernels
	@$(MAKE) --no-print-directory unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

imports: setup
	$(BIN)/lint-imports
	$(BIN)/python -m tools.structure

# reno reads the notes out of the whole history, which an unpacked archive and a shallow clone do not have.
notes: setup
	@if [ "$$(git rev-parse --show-prefix --is-shallow-repository 2>/dev/null | tr -d '\n')" = false ]; \
	then echo $(BIN)/reno --quiet lint; $(BIN)/reno --quiet lint; \
	else echo 'Release notes are not checked: that needs the repository with its whole history.'; fi

docs: setup
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html doc/source doc/build/html

# Needs Chromium with its driver; takes three minutes or more, until the demonstration has all kinds of lease in sight.
screenshot: setup
	$(BIN)/python -m tools.screenshot doc/source/_static

sample-config: setup
	$(BIN)/oslo-config-generator --config-file etc/config-generator.conf
	$(BIN)/oslo-config-generator --config-file etc/config-generator-nova.conf
	$(BIN)/oslo-config-generator --config-file etc/config-generator-guest.conf

sample-policy: setup
	$(BIN)/oslopolicy-sample-generator --config-file etc/policy-generator.conf

check-sample: setup
	$(BIN)/oslo-config-generator --config-file etc/config-generator.conf --output-file $(VENV)/sample.conf
	diff --unified etc/lease-scheduler.conf.sample $(VENV)/sample.conf || { echo 'Out of date: run make sample-config' >&2; exit 1; }
	$(BIN)/oslo-config-generator --config-file etc/config-generator-nova.conf --output-file $(VENV)/nova.conf
	diff --unified etc/nova/lease-scheduler.conf.sample $(VENV)/nova.conf || { echo 'Out of date: run make sample-config' >&2; exit 1; }
	$(BIN)/oslo-config-generator --config-file etc/config-generator-guest.conf --output-file $(VENV)/guest.conf
	diff --unified etc/lease-scheduler-guest.conf.sample $(VENV)/guest.conf || { echo 'Out of date: run make sample-config' >&2; exit 1; }
	$(BIN)/oslopolicy-sample-generator --config-file etc/policy-generator.conf --output-file $(VENV)/policy.yaml
	diff --unified etc/policy.yaml.sample $(VENV)/policy.yaml || { echo 'Out of date: run make sample-policy' >&2; exit 1; }

# MariaDB, PostgreSQL, RabbitMQ, Slurm and Chromium, which tests start for themselves.
servers:
	@tools/install-test-servers.sh || echo 'Tests that need what is missing are skipped.' >&2

# The tests install it where this could not, for example because Python cannot make environments yet.
openstack:
	@$(PYTHON) -m tests.servers.openstack.environment .pytest_cache/d/openstack || true

# Python compiles the tests once, and not in four processes at the same time.
collect: setup
	@$(BIN)/pytest --quiet --quiet --collect-only >$(VENV)/collected.txt || { cat $(VENV)/collected.txt; exit 1; }

# numba compiles the inner loops once, and not in each process that is the first to use them.
kernels: setup
	@PYTHONPATH=. $(BIN)/python tests/unit/fractional/kernel_results.py compiled >$(VENV)/kernels.txt

unit: setup
	$(BIN)/pytest --quiet --numprocesses $(TEST_PROCESSES) --dist worksteal -m 'not slow'

benchmark: setup
	$(BIN)/python -m benchmarks

# Compares counted work, such as calls of the planner and statements of the store, with benchmarks/counted_work/ranges.json.
benchmark-check: setup
	$(BIN)/python -m benchmarks.counted_work

# For a change that is meant to do more work, or that has found a way to do less.
benchmark-ranges: setup
	$(BIN)/python -m benchmarks.counted_work --update

# Takes minutes to learn which tests meet which function, then about a second for each mutant. Its tool is needed for
# nothing else. MUTATE_OPTIONS="--only 'lease_scheduler.plan.*'" and more: see python -m tools.mutate --help
mutate: setup
	$(BIN)/pip install --quiet --disable-pip-version-check 'mutmut>=3.8,<3.9'
	$(BIN)/python -m tools.mutate $(MUTATE_OPTIONS)

experiment: setup
	$(BIN)/lease-sim experiment haizea-5 --output output/haizea-5

clean:
	rm -rf $(VENV) .tox build dist doc/build mutants output var *.egg-info
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
