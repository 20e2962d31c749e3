# make run            run the service, with an embedded PostgreSQL unless DATABASE_URL names a database
# make test           lint, types, layers and all tests
# make coverage       the tests with all examples, and how much of the code they reach
# make dist           wheels and sdists of service and testkit, and the npm package, reproducible, in dist/
# make dist-test      install the wheel as users do: with pip, pipx and uvx
# make docs           the guide, docs/ as pages with a search, in app/pages/guide; the service serves it at /docs/guide
# make image          both container images, and a list of what is in them (SBOM) in dist/
# make matrix         the tests on every version of Python
# make lock           ops/image and ops/venv anew: hashes of what the images and .venv install
# make sql            write tests/sql anew: every statement that the service sends
# make specification  write what is made from docs/specification.md anew: data, page, table of tests
# make conformance    the testkit against this service: every clause of the specification
# make adapters       the reference adapters, and all faults planted in one, against the scenarios for clients
# make clients-table  real clients and generators against the scenarios; writes docs/clients-table.md and .json
# make contract       third-party linters, generated requests and clients, SDKs and a browser against the service
# make page-test      of that only the pages in a browser: front door and sandbox
# make bench          compare the service with its peers on this machine
# make faults         kill, stop, starve and abuse the service; some minutes
# make attack         hostile requests of all kinds against a service of its own; prints a table
# make compose-test   docker-compose.yml on this machine's container engine: start, requests, outages, recovery
# make pooler-test    the service behind PgBouncer in transaction mode
# make plan-test      what each statement reads of 100, 10,000 and 300,000 resources, with any statistics; some minutes
# make release        check, build and tag the version of setup.cfg; ARGS=--dry-run makes no tag
#
# All of them create .venv with the versions of constraints.txt, checked by the hashes of ops/venv. The first two need only
# Python 3.11 or newer. All paths are relative, so the folder may have any name.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than there are cores, since many tests wait for processes and clocks most of their time.
TEST_PROCESSES = $(shell $(BIN)/python -c 'import os; print(1 + (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.PHONY: help run test coverage dist dist-test docs image matrix lock sql specification conformance adapters clients-table contract page-test bench faults attack compose-test pooler-test plan-test cluster-test install install-dev clean

help:
	@echo "make run            install, then serve on http://127.0.0.1:8000 (PORT, BIND, DATA_DIR, DATABASE_URL, ...)"
	@echo "make test           install the tools too, then run every check and test (ARGS are options of pytest)"
	@echo "make coverage       the tests with all generated examples, and how much of the code they reach; fails below 90 %"
	@echo "make dist           build wheels and sdists of service and testkit and the npm package into dist/, the same bytes each time"
	@echo "make dist-test      install the wheel as users do, with pip, pipx and uvx, and use it; downloads packages"
	@echo "make docs           build the guide, docs/ as pages with a search; the service serves it at /docs/guide"
	@echo "make image          build both container images, and list their packages in dist/*.cdx.json (needs Docker)"
	@echo "make matrix         run the tests on every version of Python (needs Docker; ARGS='--on python3.12': without)"
	@echo "make lock           write ops/image and ops/venv anew: versions and hashes of what the images and .venv install"
	@echo "make sql            write tests/sql/*.sql anew: every statement that the service sends (ARGS=--release: as released)"
	@echo "make specification  write what is made from docs/specification.md anew: data, page and table of tests"
	@echo "make conformance    every clause of the specification, on two workers and behind PgBouncer (ARGS='--only workers')"
	@echo "make adapters       reference adapters and planted faults against the scenarios for clients; some 40 minutes"
	@echo "make clients-table  measure real clients and generators, and write docs/clients-table.md and .json (needs npm, Java)"
	@echo "make contract       generated requests and clients, SDKs, linters and a browser (needs npm and Chromium)"
	@echo "make page-test      of that only the pages in a browser: front door and sandbox (needs npm and Chromium)"
	@echo "make bench          measure against peers, which it installs; needs wrk (ARGS='--only create --rounds 1')"
	@echo "make faults         kill, stop, starve and abuse the service, and see that it holds; some minutes"
	@echo "make attack         send hostile requests of all kinds to a service of its own, and print what held (ARGS='--only HTTP')"
	@echo "make compose-test   start docker-compose.yml, break it, watch it recover (needs Docker)"
	@echo "make pooler-test    the service behind PgBouncer (needs the program pgbouncer)"
	@echo "make plan-test      what each statement reads of up to 300,000 resources, with any statistics; some minutes"
	@echo "make cluster-test   the tests on a Citus cluster of yours (DATABASE_URL=..., an empty database of its coordinator)"
	@echo "make release        check, build and tag the version of setup.cfg (ARGS=--dry-run: no tag)"
	@echo "make clean          remove .venv and caches; the data in .data stay"

run: install
	@exec $(BIN)/python -m app.cli serve

test: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/fawltydeps --detailed
	$(BIN)/hadolint Dockerfile
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal $(ARGS)

# Not part of test: measuring takes a third of all processor time. Hypothesis tries more examples here.
coverage: install-dev
	HYPOTHESIS_EXAMPLES=all $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal --cov --cov-report=term-missing $(ARGS)

dist: install-dev
	@$(BIN)/python .ci/dist
	@$(BIN)/python .ci/dist --of testkit
	@$(BIN)/python .ci/dist --of testkit-js

# Not part of test, since it downloads all dependencies.
dist-test: install-dev
	$(BIN)/python -m pytest -v -s tests/installation/with_installers.py

docs: install-dev
	@$(BIN)/python .ci/guide

# What an image is made from. Labels of the command and not of Dockerfile, in which they would change all layers behind them.
# The source is where this checkout comes from, if that is an address for everybody; without the name and password in it.
oci = --label org.opencontainers.image
source = $(shell git config --get remote.origin.url | sed -n 's,^https://\([^@/]*@\)\?,https://,p')
labels = --build-arg SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct) $(if $(source),$(oci).source=$(source)) \
	$(oci).version=$(shell sed -n 's/^version = //p' setup.cfg) \
	$(oci).revision=$(shell git rev-parse HEAD) $(oci).created=$(shell git log -1 --format=%cI)

# ARGS are options of `docker build`, such as --network=host.
image:
	docker build $(labels) --target lean --tag sample-resource:lean $(ARGS) .
	docker build $(labels) --target all-in-one --tag sample-resource:all-in-one $(ARGS) .
	docker build $(labels) --target sbom --tag sample-resource:sbom $(ARGS) .
	mkdir -p dist
	docker run --rm sample-resource:sbom > dist/sample-resource-all-in-one.cdx.json

matrix:
	@.ci/matrix $(ARGS)

# Versions are those of constraints.txt; hashes are those of all files of a version, for every machine. colorama and pywin32
# are for Windows alone, where the service does not run.
lock_of = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --constraints constraints.txt --generate-hashes \
	--no-config --no-emit-index-url --no-annotate --custom-compile-command 'make lock'
lock: install-dev
	$(lock_of) setup.cfg --extra otel --extra sandbox --output-file ops/image/lean.txt
	$(lock_of) setup.cfg --extra otel --extra embedded --extra sandbox --output-file ops/image/all-in-one.txt
	printf 'setuptools\nzensical\n' | $(lock_of) - --output-file ops/image/build.txt
	printf 'cyclonedx-bom\ndebsbom[cdx]\n' | $(lock_of) - --output-file ops/image/sbom.txt
	printf 'pip\nsetuptools\n' | $(lock_of) - setup.cfg --extra embedded --extra sandbox --output-file ops/venv/run.txt
	echo pip | $(lock_of) - setup.cfg testkit/pyproject.toml --extra dev --extra docs --extra embedded --extra otel --extra sandbox --extra pytest \
		--no-emit-package colorama --no-emit-package pywin32 --output-file ops/venv/dev.txt

# The tests compare these files, so that a change of SQL shows in its review.
sql: install-dev
	@$(BIN)/python -m tests.sql $(ARGS)

# The tests compare these files with the document.
specification: install-dev
	@$(BIN)/python -m tests.specification

# Not part of test as a whole: it takes minutes, and needs PgBouncer.
conformance: install-dev
	@$(BIN)/python -m tests.conformance $(ARGS)
	@$(if $(ARGS),,$(BIN)/python -m pytest -n auto testkit/tests/with_near_clauses.py)

# Not part of test: the scenarios are run once for each fault.
adapters: install-dev
	@$(BIN)/python -m pytest -n 2 testkit/tests/with_all_faults.py $(ARGS)

clients-table: install-dev
	@$(BIN)/python -m tests.clients.measured $(ARGS)

contract: docs
	@$(BIN)/python -m tests.clients
	@$(BIN)/python -m pytest tests/fuzzing/with_schemathesis.py tests/clients/with_testkit_js.py tests/clients/with_recipes.py

# A part of contract.
page-test: docs
	@$(BIN)/python -m tests.clients --page

# Not part of test, since it needs a container engine and the images of docker-compose.yml with all profiles.
compose-test: install-dev
	$(BIN)/python -m pytest -v -rP tests/compose/all_in_one.py tests/compose/stack.py \
		tests/compose/proxy.py tests/compose/recovery.py tests/compose/monitoring.py tests/compose/cluster.py \
		tests/clients/with_recipes.py

pooler-test: install-dev
	$(BIN)/python -m pytest -v tests/pooler/behind_pgbouncer.py

plan-test: install-dev
	$(BIN)/python -m pytest -v tests/sql/many_resources.py

# Tests that start a database of their own do so here too; they add nothing, so only the rooms that send SQL are run.
cluster-test: install-dev
	@test -n "$(DATABASE_URL)" || { echo "DATABASE_URL is missing: an empty database of the coordinator."; exit 2; }
	TEST_DATABASE_URL="$(DATABASE_URL)" TEST_CLUSTER=1 $(BIN)/python -m pytest -n 2 \
		tests/resource tests/query tests/identity tests/http tests/routes

bench: install
	@$(BIN)/python -m benchmarks.bench $(ARGS)
	@$(if $(ARGS),,$(BIN)/python -m benchmarks.fairness)

.PHONY: release
release: install-dev
	@$(BIN)/python .ci/release $(ARGS)

faults: install-dev
	$(BIN)/python -m pytest -o python_files='check_*.py' tests/faults

attack: install-dev
	@$(BIN)/python -m tests.attack $(ARGS)

install:
	@$(call ensure,run,-e .)

install-dev:
	@$(call ensure,dev,-e . -e ./testkit)

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
	rm -rf tests/clients/.work tests/clients/node_modules benchmarks/.peers testkit/build testkit/src/*.egg-info

# Finds the first Python that is new enough: PYTHON, or one of the usual names if PYTHON has its default.
candidates := "$(PYTHON)" $(if $(filter file default,$(origin PYTHON)),python3.13 python3.12 python3.11 python3.14)
define find_python
python=; \
for candidate in $(candidates); do \
	if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$candidate; break; fi; \
done; \
if [ -z "$$python" ]; then \
	echo "Python 3.11 or newer is needed, and $(PYTHON) is $$("$(PYTHON)" --version 2>&1 || echo missing)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2; \
	exit 1; \
fi
endef

# $(call ensure,WHAT,OURS): install what the list WHAT of ops/venv has, by hash, and then OURS, which needs nothing more, unless
# the stamp shows that the same was installed in this folder before. The lists are complete, so pip need not look for what a
# package requires. They have pip and setuptools too: Python's own are as old as that Python, and would stay.
# The stamp is written last, so an interrupted installation is repeated. `run` accepts the stamp of install-dev too.
# On a terminal the seconds are counted, until the stamp is there or this shell is not.
# A .venv that was moved is created again, since its scripts contain the old path.
# Debian's Python may lack ensurepip; then a pip outside of .venv installs into it.
define ensure
wanted="$$(cat setup.cfg pyproject.toml testkit/pyproject.toml ops/venv/*.txt | cksum) $$(pwd -P)"; \
for stamp in $(VENV)/installed-$(1) $(VENV)/installed-dev; do \
	if [ -f "$$stamp" ] && [ "$$(cat "$$stamp")" = "$$wanted" ] && $(BIN)/python -I -S -c '' 2>/dev/null; then exit 0; fi; \
done; \
$(find_python); \
began=$$(date +%s); \
echo "Installing into $(VENV) (once) ..." >&2; \
if [ -t 2 ]; then \
	(while sleep 1 && kill -0 $$$$ 2>/dev/null && [ ! -f $(VENV)/installed-$(1) ]; do \
		printf '\r%s s ' $$(($$(date +%s) - began)) >&2; \
	done) & \
fi; \
rm -f $(VENV)/installed-*; \
if ! $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	|| ! grep -qF "$$(pwd -P)/$(VENV)" $(BIN)/activate 2>/dev/null; then rm -rf $(VENV); fi; \
if ! $(BIN)/python -m pip --version >/dev/null 2>&1 && ! "$$python" -m venv $(VENV) >/dev/null 2>&1; then \
	rm -rf $(VENV); \
	if ! "$$python" -m venv --without-pip $(VENV); then echo "$$python cannot make a virtual environment." >&2; exit 1; fi; \
fi; \
if $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	set -- $(BIN)/python -m pip; \
elif "$$python" -m pip --version >/dev/null 2>&1; then \
	set -- "$$python" -m pip --python $(BIN)/python; \
else \
	echo "$$python has neither ensurepip nor pip: install its venv or pip package (Debian: python3-venv)." >&2; \
	exit 1; \
fi; \
set -- "$$@" install --quiet --disable-pip-version-check --root-user-action=ignore; \
"$$@" --require-hashes --no-deps -r ops/venv/$(1).txt \
	&& PYTHONWARNINGS=ignore "$$@" --no-deps --no-build-isolation $(2) || exit 1; \
echo "$$wanted" >$(VENV)/installed-$(1); \
printf '\rInstalled in %s s.\n' $$(($$(date +%s) - began)) >&2
endef
