# The index of commands: `make help`. Needs make and Python 3.11 or newer; everything else goes into $(VENV).
#
#   make PYTHON=python3.12 VENV=/tmp/env test      another interpreter, another folder for the environment
#   make WORKERS=8 test                            more processes for scenarios and tests

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV ?= .venv
LOCAL_MODEL_VENV ?= $(VENV)-local-model
WORKERS ?= 2
PACKAGES := tabular_bench domains harness judges

# The first interpreter that is new enough; a shim that exists but cannot run is passed over.
IS_SUPPORTED := import sys; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for name in python3 python3.13 python3.12 python3.11; do \
	"$$name" -c '$(IS_SUPPORTED)' 2>/dev/null && echo "$$name" && break; done)
endif

BIN := $(VENV)/bin
PIP_INSTALL := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet
FRAUDBENCH := $(BIN)/fraudbench

# Stamps: an environment is brought up to date only when its lock or the project's metadata changed.
BASE := $(VENV)/.installed-base
DEV := $(VENV)/.installed-dev
BENCH := $(VENV)/.installed-bench
LOCAL_MODEL := $(LOCAL_MODEL_VENV)/.installed

.PHONY: help demo test test-local-model check format bench lock clean

help: ## print this index
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
		| while IFS='|' read -r target text; do printf '  make %-16s %s\n' "$$target" "$$text"; done

demo: $(BASE) ## set up the base install and let the four reference agents run the whole suite
	@$(FRAUDBENCH) demo

test: check ## the gate: lint, types, scenarios, corpus, then every test
	$(FRAUDBENCH) tasks check --workers $(WORKERS)
	$(FRAUDBENCH) corpus check
	$(BIN)/python -m pytest -n $(WORKERS)

# The server has an environment of its own: it is another program, and what it needs does not agree with our pins.
test-local-model: $(DEV) $(LOCAL_MODEL) ## let a small real model play caller, agent and judge (compiles its server first)
	FRAUDBENCH_LOCAL_MODEL_PYTHON=$(abspath $(LOCAL_MODEL_VENV)/bin/python) \
		$(BIN)/python -m pytest -m local_model -p no:xdist --durations=0 tests/local_model

check: $(DEV) ## lint and types only
	$(BIN)/python -m ruff check --quiet
	$(BIN)/python -m ruff format --check --quiet
	$(BIN)/python -m mypy

format: $(DEV) ## let ruff sort imports and lay the code out
	$(BIN)/python -m ruff check --quiet --fix --exit-zero
	$(BIN)/python -m ruff format

bench: $(BENCH) ## time and measure what the project promises; prints a table
	$(BIN)/python -m pytest tests/benchmarks -o python_files='bench_*.py' -p no:xdist -q -s

# Compiled with the oldest supported Python, so that nothing in the lock is too new for it.
lock: ## pin every dependency anew, with hashes, into requirements/
	@PYTHON='$(PYTHON)' sh requirements/compile.sh

clean: ## remove the environments, caches and build products; runs/ stays
	rm -rf $(VENV) $(LOCAL_MODEL_VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@if [ -z '$(PYTHON)' ]; then \
		echo 'fraudbench needs Python 3.11 or newer; found no such python3 on the path.' >&2; \
		echo 'Install one, or name it: make PYTHON=/path/to/python3.12 ...' >&2; exit 1; fi
	@if ! '$(PYTHON)' -c '$(IS_SUPPORTED)'; then \
		echo "fraudbench needs Python 3.11 or newer; $(PYTHON) is: $$('$(PYTHON)' --version 2>&1)" >&2; exit 1; fi
	@echo 'creating the environment $(VENV) with '"$$('$(PYTHON)' --version)"
	@'$(PYTHON)' -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# hatchling comes from build.lock, so that the build, too, uses pinned and hashed packages only.
$(BASE): requirements/base.lock requirements/build.lock pyproject.toml | $(BIN)/python
	@echo 'installing the base packages of requirements/base.lock into $(VENV)'
	@$(PIP_INSTALL) --require-hashes -r requirements/base.lock -r requirements/build.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# requirements/torch.txt says why torch is installed alone. A build that cannot be imported is taken out again, so that
# the next attempt looks for another.
$(DEV): requirements/dev.lock requirements/tabular.lock requirements/torch.txt pyproject.toml | $(BIN)/python
	@echo 'installing the development and tabular packages of requirements/ into $(VENV)'
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.lock -r requirements/tabular.lock
	@echo "installing $$(grep '^torch==' requirements/torch.txt): some 200 MB to fetch if pip finds the build for CPUs"
	@$(PIP_INSTALL) --no-deps -r requirements/torch.txt
	@failure=$$($(BIN)/python -c 'import torch' 2>&1) || { \
		$(BIN)/python -m pip uninstall --quiet --yes torch; \
		echo "the build of torch that pip found cannot be imported: $$(printf '%s\n' "$$failure" | tail -n 1)" >&2; \
		echo 'requirements/torch.txt says how to get one that can.' >&2; exit 1; }
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(BASE)

# The attack libraries that the benchmarks compare with; the gate does without them.
$(BENCH): requirements/bench.lock $(DEV)
	@echo 'installing the rivals of requirements/bench.lock into $(VENV)'
	@$(PIP_INSTALL) --require-hashes -r requirements/bench.lock
	@touch $@

# Compiled here by tools that are pinned as well: the library alone, and not for this processor in particular, for which
# it may be compiled wrongly (AMX) and answers differently. Hence no wheel of another build from a cache either.
# CMAKE_BUILD_PARALLEL_LEVEL=1 in the environment leaves the other processors alone.
LOCAL_MODEL_PIP_INSTALL := PIP_DISABLE_PIP_VERSION_CHECK=1 $(LOCAL_MODEL_VENV)/bin/python -m pip install --quiet
LLAMA_ARGS := -DLLAVA_BUILD=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF \
	-DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_CURL=OFF -DGGML_NATIVE=OFF

$(LOCAL_MODEL): requirements/local-model-build.lock requirements/local-model.lock | $(BIN)/python
	@echo 'compiling the server of the small model into $(LOCAL_MODEL_VENV): this takes minutes'
	@$(BIN)/python -m venv --clear $(LOCAL_MODEL_VENV)
	@$(LOCAL_MODEL_PIP_INSTALL) --require-hashes -r requirements/local-model-build.lock
	@CMAKE_ARGS='$(LLAMA_ARGS)' $(LOCAL_MODEL_PIP_INSTALL) --no-cache-dir --require-hashes --no-build-isolation \
		-r requirements/local-model.lock
	@touch $@
