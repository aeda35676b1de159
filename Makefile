# toolgate: `make serve` runs the demo gateway, `make test` runs everything CI runs. Needs Python 3.11+; nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)
COMPILE := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url

.DEFAULT_GOAL := help
.PHONY: help serve test check fix bench bench-peers docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: $(VENV)/.runtime ## Serve the demo gateway of this folder (ARGS="--port 9000")
	$(BIN)/toolgate serve $(ARGS)

test: $(VENV)/.dev ## Lint, type-check and test with the coverage gate: exactly what CI runs
	@status=0; failed=; \
	$(MAKE) --no-print-directory check || { status=1; failed="$$failed check"; }; \
	$(BIN)/python -m pytest --cov $(ARGS) || { status=1; failed="$$failed pytest"; }; \
	[ -z "$$failed" ] || echo "failed:$$failed (see above)" >&2; \
	exit $$status

check: $(VENV)/.dev ## Lint, type-check, and compare generated files with their sources
	@status=0; \
	$(BIN)/ruff format --check . || status=1; \
	$(BIN)/ruff check . || status=1; \
	$(BIN)/mypy || status=1; \
	$(BIN)/python docs/generate.py --check || status=1; \
	exit $$status

fix: $(VENV)/.dev ## Format, and repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev ## Measure toolgate alone (ROUNDS=5)
	$(BIN)/python -m benchmarks own $(if $(ROUNDS),--rounds $(ROUNDS))

bench-peers: $(VENV)/.dev ## Measure toolgate beside its peers, each in its own environment (ROUNDS=5)
	$(BIN)/python -m benchmarks peers $(if $(ROUNDS),--rounds $(ROUNDS))

docs: $(VENV)/.dev ## Write the generated files: schemas/ and src/toolgate/__init__.pyi
	$(BIN)/python docs/generate.py

lock: $(VENV)/.dev ## Re-resolve the lock files, keeping pins that still fit (UPGRADE=1 moves all to the newest)
	$(COMPILE) $(if $(UPGRADE),--upgrade) pyproject.toml --group build -o requirements.lock
	$(COMPILE) $(if $(UPGRADE),--upgrade) pyproject.toml --group dev -c requirements.lock -o requirements-dev.lock

clean: ## Remove everything the other targets made, environments too
	rm -rf $(VENV) benchmarks/.venvs dist .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "toolgate needs Python 3.11 or newer, and '$(PYTHON)' is not. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(if $(UV),$(UV) venv --quiet --seed --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV)) || { rm -rf $(VENV); \
		echo "'$(PYTHON) -m venv' failed: install your system's python3-venv package, or uv." >&2; exit 1; }

# The stamps: an environment is brought up to date only when its lock file or pyproject.toml changed.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.runtime
