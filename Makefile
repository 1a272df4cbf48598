# poise: everything a developer runs. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COVERAGE_FLOOR ?= 92
FUZZ_SECONDS ?= 600

# A lock names every package, so pip is told to look for no others: its resolver would otherwise ask for the newest
# version of a package with an extra, such as coverage[toml], whose hash the lock does not have.
LOCKED := --quiet --disable-pip-version-check --require-hashes --no-deps

# The stamp carries a checksum of both files, so an edit of either installs again and a fresh checkout does not.
STAMP := $(VENV)/.setup-$(shell cat pyproject.toml requirements.lock | cksum | tr ' ' '-')

# Peers to measure live apart from poise: they need older versions of what the tests need.
BENCH_VENV := .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.setup-$(shell cat requirements-bench.lock | cksum | tr ' ' '-')
# Blender as a Python module, which is under the GPL and large: in no lock, in an environment of its own.
BLENDER ?= 5.2.0
BLENDER_PYTHON ?= python3.13
BLENDER_VENV := .venv-blender-$(BLENDER)

LOCK = $(BIN)/uv pip compile --upgrade --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-header --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup studio test test-blender blender test-numba golden lint format coverage coverage-kernels bench wheel docs site site-open fuzz lock clean

help: ## List the targets.
	@echo "make setup PYTHON=python3.12 chooses an interpreter; every target below sets up by itself."
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## Create .venv, install the pinned packages and poise, compile the kernels once.
	@$(BIN)/poise compile
	@echo "poise is ready in $(VENV). Try: make studio"

$(STAMP):
	@test -x $(BIN)/pip || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "poise needs Python 3.11 or newer, and $(PYTHON) is" \
			"$$($(PYTHON) --version 2>/dev/null || echo not installed); try: make setup PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/pip || { echo "Creating $(VENV) with $$($(PYTHON) --version) ..."; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the packages of requirements.lock (a minute or two the first time) ..."
	@$(BIN)/python -m pip install $(LOCKED) -r requirements.lock
	@echo "Installing poise itself, editable ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@rm -f $(VENV)/.setup-*
	@touch $@

studio: $(STAMP) ## Open the studio in the browser; the first time, kernels are compiled while it is in use.
	$(BIN)/poise studio

test: $(STAMP) ## Run every test but the slow ones.
	@$(BIN)/poise compile
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

golden: $(STAMP) ## Compare a thousand answers with those recorded, byte for byte.
	@$(BIN)/poise compile
	$(BIN)/python -m pytest -m slow tests/golden

lint: $(STAMP) ## Check style, formatting, types and the direction of imports.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## Format the code and apply the safe fixes.
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

UNIT_TESTS := -n 2 -m "not slow and not browser" --cov --cov-report=

coverage: $(STAMP) ## Measure the unit tests' coverage of all but the kernels, which are compiled and leave no trace.
	$(BIN)/python -m pytest $(UNIT_TESTS) tests/unit --ignore tests/unit/test_examples.py --ignore tests/unit/test_documents.py
	$(BIN)/coverage report --omit "*/kernels/*" --fail-under=$(COVERAGE_FLOOR)

coverage-kernels: $(STAMP) ## Measure the coverage of the kernels, run as plain Python: takes most of an hour.
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(UNIT_TESTS) tests/unit/kernels tests/unit/chains tests/unit/figure
	$(BIN)/coverage report --include "*/kernels/*"

NUMBA_VENV = .venv-numba-$(VERSION)

blender: $(BLENDER_VENV)/.ready ## Build the Blender add-on in dist/, with Blender's own command.
	@mkdir -p dist
	$(BLENDER_VENV)/bin/python $$(find $(BLENDER_VENV) -path '*bl_pkg/cli/blender_ext.py') build --source-dir blender --output-dir dist

test-blender: $(STAMP) $(BLENDER_VENV)/.ready ## Test the add-on in headless Blender (400 MB the first time). Also: BLENDER=4.5.15 BLENDER_PYTHON=python3.11
	@POISE=$(CURDIR)/$(BIN)/poise POISE_PYTHON=$(CURDIR)/$(BIN)/python \
		$(BLENDER_VENV)/bin/python -m pytest -c blender/tests/pytest.ini blender/tests

$(BLENDER_VENV)/.ready:
	@$(BLENDER_PYTHON) -m venv $(BLENDER_VENV)
	@echo "Installing Blender $(BLENDER) as a Python module ..."
	@$(BLENDER_VENV)/bin/python -m pip install --quiet --disable-pip-version-check bpy==$(BLENDER) numpy$(if $(filter 4.%,$(BLENDER)),'<2',) pytest
	@touch $@

test-numba: $(STAMP) ## Run the kernels' tests with another numba: make test-numba VERSION=0.69.0 (compiles everything).
	@test -n "$(VERSION)" || { echo "which numba? make test-numba VERSION=0.69.0"; exit 1; }
	@test -x $(NUMBA_VENV)/bin/pip || $(PYTHON) -m venv $(NUMBA_VENV)
	@$(NUMBA_VENV)/bin/python -m pip install $(LOCKED) -r requirements.lock
	@$(NUMBA_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@$(NUMBA_VENV)/bin/python -m pip install --quiet --disable-pip-version-check "numba==$(VERSION)"
	POISE_CACHE_DIR=$(CURDIR)/$(NUMBA_VENV)/cache $(NUMBA_VENV)/bin/python -m pytest -n 2 -m "not slow" \
		tests/unit/kernels tests/unit/engine tests/unit/chains tests/unit/expressive
	POISE_CACHE_DIR=$(CURDIR)/$(NUMBA_VENV)/cache $(NUMBA_VENV)/bin/python -m pytest -m slow tests/golden

bench: $(STAMP) $(BENCH_STAMP) ## Run the benchmarks that have no results of this commit, hours in all; ONLY="reach human" some, AGAIN=1 once more.
	@$(BIN)/poise compile
	$(BIN)/python benchmarks/run.py $(ONLY) $(if $(AGAIN),--again)

$(BENCH_STAMP): | $(STAMP)
	@test -x $(BENCH_VENV)/bin/pip || $(BIN)/python -m venv $(BENCH_VENV)
	@echo "Installing the peers of requirements-bench.lock in $(BENCH_VENV) (a minute or two the first time) ..."
	@$(BENCH_VENV)/bin/python -m pip install $(LOCKED) -r requirements-bench.lock
	@rm -f $(BENCH_VENV)/.setup-*
	@touch $@

wheel: ## Build a wheel with compiled kernels for PYTHON in dist/, in an environment of its own (compiles everything).
	@$(PYTHON) scripts/build_wheel.py

docs: $(STAMP) ## Draw the pictures of the documentation again.
	$(BIN)/python docs/make_pictures.py

site: $(STAMP) ## Build the documentation site in site/, without the network: runs every example and tutorial, a warning is an error.
	@$(BIN)/poise compile
	$(BIN)/sphinx-build -W --keep-going -q -b html docs site
	@echo "The site is in site/index.html; make site-open serves it."

site-open: site ## Serve the site on this machine and open it in the browser.
	$(BIN)/python docs/open_site.py

fuzz: $(STAMP) ## Feed garbage to every reader, FUZZ_SECONDS each; nothing but a FormatError may come out.
	$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

lock: ## Pin the newest allowed versions in requirements.lock, requirements-cuda.lock and requirements-bench.lock.
	@test -x $(BIN)/uv || { echo "make lock needs uv in $(VENV): run make setup first"; exit 1; }
	@$(call pin,Every package poise is developed and tested with,requirements.lock,pyproject.toml --extra all --group dev)
	@$(call pin,What poise needs on a machine with an NVIDIA GPU,requirements-cuda.lock,pyproject.toml --extra cuda --constraint requirements.lock)
	@$(call pin,The peers that benchmarks measure,requirements-bench.lock,--group bench)
	@echo "The locks are fresh; make setup and make bench install requirements.lock and requirements-bench.lock."

# $(call pin,what it holds,file,what to resolve)
define pin
{ echo "# $(1), pinned with hashes."; \
  echo "# Written by \`make lock\`; edit pyproject.toml and run that instead of editing this file."; \
  $(LOCK) $(3); } > $(2).new && mv $(2).new $(2) || { rm -f $(2).new; exit 1; }
endef

clean: ## Remove caches and build output; .venv stays.
	rm -rf build dist site docs/generated htmlcov .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests examples docs benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
