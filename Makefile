# `make` lists the targets. They create .venv with the versions of constraints.txt, checked by the hashes of ops/venv; `run` and
# `test` need only Python 3.11 or newer. All paths are relative, so the folder may have any name.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One more than there are cores, since many tests wait for processes and clocks most of their time.
TEST_PROCESSES = $(shell $(BIN)/python -c 'import os; print(1 + (os.cpu_count() or 1))')

.DEFAULT_GOAL := help
.PHONY: help run test test-slow coverage conformance generate bench dist image release clean install install-dev

help:
	@awk -F ' ## ' '/^[a-z-]+:.* ## / {split($$1, target, ":"); printf "make %-12s %s\n", target[1], $$2}' $(MAKEFILE_LIST)

run: install ## serve on http://127.0.0.1:8000, with an embedded PostgreSQL unless DATABASE_URL names one
	@exec $(BIN)/python -m app.cli serve

test: install-dev ## every check and test, in some minutes (ARGS are options of pytest; PYTHON=python3.14 VENV=.venv-3.14)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/basedpyright --pythonpath $(BIN)/python --project pyright-tests.json
	$(BIN)/lint-imports
	$(BIN)/fawltydeps --detailed --pyenv $(VENV)
	$(BIN)/hadolint Dockerfile
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal $(ARGS)

test-slow: install-dev ## suites that take minutes: ARGS=-mfaults or adapters, compose, contract, installers, pages, plans
	$(BIN)/python -m pytest -m slow $(ARGS)

# Not part of test: measuring takes a third of all processor time. Hypothesis tries more examples here.
coverage: install-dev ## the tests with all generated examples, and how much of the code they reach; fails below 90 %
	HYPOTHESIS_EXAMPLES=all $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal --cov --cov-report=term-missing $(ARGS)

dist: install-dist ## wheels and sdists of service, sandbox and testkit, and the npm package, the same bytes each time
	@for of in service sandbox testkit testkit-js; do $(BIN)/python ops/make/dist.py --of $$of || exit 1; done

# What an image is made from. Labels of the command and not of Dockerfile, in which they would change all layers behind them.
# The source is where this checkout comes from, if that is an address for everybody; without the name and password in it.
oci = --label org.opencontainers.image
source = $(shell git config --get remote.origin.url | sed -n 's,^https://\([^@/]*@\)\?,https://,p')
labels = --build-arg SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct) $(if $(source),$(oci).source=$(source)) \
	$(oci).version=$(shell sed -n 's/^version = //p' setup.cfg) \
	$(oci).revision=$(shell git rev-parse HEAD) $(oci).created=$(shell git log -1 --format=%cI)

image: ## both container images, and a list of what is in them (SBOM) in dist/ (needs Docker; ARGS are options of its build)
	docker build $(labels) --target lean --tag sample-resource:lean $(ARGS) .
	docker build $(labels) --target all-in-one --tag sample-resource:all-in-one $(ARGS) .
	docker build $(labels) --target sbom --tag sample-resource:sbom $(ARGS) .
	mkdir -p dist
	docker run --rm sample-resource:sbom > dist/sample-resource-all-in-one.cdx.json

# Tests compare each file with its source, so that a change of it shows in a review.
generate: $(addprefix generate-,$(or $(ARGS),sql specification)) ## write generated files anew; ARGS=sql, specification (with openapi), sql-of-release, lock, clients-table

generate-sql: install-dev
	@$(BIN)/python -m tests.sql
	@PYTHONPATH=. $(BIN)/python workbench/sandbox/tests/write_sql.py

generate-sql-of-release: install-dev
	@$(BIN)/python -m tests.sql --release

# What is made of the specification names the operations of the document.
generate-specification: generate-openapi
	@$(BIN)/python -m tests.specification

generate-openapi: install-dev
	$(BIN)/sample-resource openapi > docs/openapi.json

# Measures real clients and generators; needs npm and Java.
generate-clients-table: install-dev
	@PYTHONPATH=workbench/testkit/tests $(BIN)/python -m clients.measured

# Versions are those of constraints.txt; hashes are those of all files of a version, for every machine. colorama and pywin32
# are for Windows alone, where the service does not run.
lock_of = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --constraints constraints.txt --generate-hashes \
	--no-config --no-emit-index-url --no-annotate --custom-compile-command 'make generate ARGS=lock'
generate-lock: install-dev
	$(lock_of) setup.cfg --output-file ops/image/lean.txt
	$(lock_of) setup.cfg --extra embedded --output-file ops/image/all-in-one.txt
	echo setuptools | $(lock_of) - --output-file ops/image/build.txt
	printf 'cyclonedx-bom\ndebsbom[cdx]\n' | $(lock_of) - --output-file ops/image/sbom.txt
	printf 'pip\nsetuptools\n' | $(lock_of) - setup.cfg --extra embedded --output-file ops/venv/run.txt
	printf 'build\nnodejs-wheel-binaries\npip\nsetuptools\n' | $(lock_of) - --no-emit-package colorama --output-file ops/venv/dist.txt
	echo pip | $(lock_of) - setup.cfg workbench/testkit/pyproject.toml --extra dev --extra embedded --extra pytest \
		--no-emit-package colorama --no-emit-package pywin32 --output-file ops/venv/dev.txt

conformance: install-dev ## the testkit against this service, with the sandbox and on two workers (ARGS='--only workers')
	@PYTHONPATH=workbench/testkit/tests $(BIN)/python -m service_conformance $(ARGS)

bench: install ## compare the service with its peers on this machine (needs wrk; ARGS="--only create --rounds 1")
	@$(BIN)/python -m benchmarks.bench $(ARGS)
	@$(if $(ARGS),,$(BIN)/python -m benchmarks.fairness)

release: install-dev ## check, build and tag the version of setup.cfg (ARGS=--dry-run: no tag)
	@$(BIN)/python ops/make/release.py $(ARGS)

install:
	@$(call ensure,run,-e . -e ./workbench/sandbox)

install-dev:
	@$(call ensure,dev,-e . -e ./workbench/sandbox -e ./workbench/testkit)

install-dist:
	@$(call ensure,dist)

clean: ## remove .venv and caches; the data in .data stay
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
	rm -rf workbench/testkit/tests/clients/.work workbench/testkit/tests/clients/node_modules benchmarks/.peers workbench/*/build workbench/*/src/*.egg-info

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

# $(call ensure,WHAT,OURS): install what the list WHAT of ops/venv has, by hash, and then OURS, which need nothing more, unless
# the stamp shows that the same was installed in this folder before. The lists are complete, so pip need not look for what a
# package requires. They have pip and setuptools too: Python's own are as old as that Python, and would stay.
# The stamp is written last, so an interrupted installation is repeated. The stamp of install-dev counts for all.
# On a terminal the seconds are counted, until the stamp is there or this shell is not.
# A *.egg-info that an earlier build has left would hide what the new installation says of entry points.
# A .venv that was moved is created again, since its scripts contain the old path.
# Debian's Python may lack ensurepip; then a pip outside of .venv installs into it.
define ensure
wanted="$$(cat setup.cfg pyproject.toml workbench/*/pyproject.toml ops/venv/*.txt | cksum) $$(pwd -P)"; \
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
rm -rf $(VENV)/installed-$(1) *.egg-info workbench/*/src/*.egg-info; \
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
	$(if $(2),&& PYTHONWARNINGS=ignore "$$@" --no-deps --no-build-isolation $(2)) || exit 1; \
echo "$$wanted" >$(VENV)/installed-$(1); \
printf '\rInstalled in %s s.\n' $$(($$(date +%s) - began)) >&2
endef
