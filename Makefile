# Two commands do everything: make demo, make test. Each sets up what it needs from python3 alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test check bench clean
help:
	@echo "make demo    see fernn at work on data it makes itself"
	@echo "make test    run the tests"
	@echo "make check   lint, types, and the direction of imports"
	@echo "make bench   measure speed beside other tools; writes docs/benchmarks.md"
	@echo "make clean   remove what the others made"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV) (a minute, once)"
	$(BIN)/pip install -q -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "setting up $(VENV) for the tests (a minute or two, once)"
	$(BIN)/pip install -q -e '.[io,test]'
	@touch $@

$(VENV)/.check: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q -e '.[io,test,check]'
	@touch $@

$(VENV)/.bench: pyproject.toml bench/requirements.txt | $(BIN)/python
	$(BIN)/pip install -q -e . -r bench/requirements.txt
	@touch $@

demo: $(VENV)/.demo
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# One thread a worker: two workers already fill two cores.
test: $(VENV)/.test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(ARGS)

check: $(VENV)/.check
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m bench $(ARGS)

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
