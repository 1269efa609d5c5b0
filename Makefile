# Every target installs what it needs: `make demo` and `make test` work on a fresh machine.
.PHONY: setup demo test test-quick test-venv test-audit test-long chaos check bench clean
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
BIN := $(VENV)/bin
STAMP := $(VENV)/.synced
# Most tests wait for processes, so three files at a time keep two cores busy. A file's tests
# share what they start, so a file stays together.
AT_ONCE := -n 3 --dist loadfile --no-loadscope-reorder

help:
	@echo "make demo        install everything, then the tour: a real small model on an example"
	@echo "make test        all tests but those of test-venv, test-audit, test-long and chaos"
	@echo "make test-quick  the tests that take seconds"
	@echo "make test-venv   tests with venvs of their own: other verifiers, reasoning-gym"
	@echo "make test-audit  probes on whole environments: sound, hostile, with tools, with turns"
	@echo "make test-long   what quicker tests say, in the other dialect"
	@echo "make chaos       workers that are killed, a provider that sends away, a database that restarts"
	@echo "make check       format, lint, types, imports, docs"
	@echo "make bench       speed, as ratios in one run"

$(STAMP): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python >= 3.11 is needed, $(PYTHON) is older. hint: make PYTHON=python3.12 …" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(UV) || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) sync --frozen --quiet --compile-bytecode
	@$(BIN)/python -m compileall -q src
	@touch $@

.PHONY: sandbox
sandbox:
	@sh tools/ensure-bubblewrap

setup: $(STAMP) sandbox

demo: setup
	$(BIN)/envwright demo

test: setup
	$(BIN)/python -m pytest $(AT_ONCE) -m "not chaos and not venv and not audit and not long"

test-quick: setup
	$(BIN)/python -m pytest $(AT_ONCE) -m "not slow and not chaos and not venv and not audit and not long"

test-venv: setup
	$(BIN)/python -m pytest -m venv

test-audit: setup
	$(BIN)/python -m pytest -m audit

test-long: setup
	$(BIN)/python -m pytest -m long

chaos: setup
	$(BIN)/python -m pytest -m chaos

check: $(STAMP)
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/docs.py --check

bench: setup
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) .envwright .pytest_cache .ruff_cache
