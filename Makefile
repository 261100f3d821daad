# Two commands do everything: make demo, make test. Each sets up what it needs from python3 alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test test-slow test-all check bench bench-fernn bench-exact bench-methods bench-belief bench-report bench-classes bench-scale bench-resume bench-ucr bench-signals reproduce screenshots aeon fuzz forge bounds index clean
help:
	@echo "make demo    see fernn at work on data it makes itself"
	@echo "make test    run the tests that everyone runs (minutes)"
	@echo "make test-all      run them and the slow ones: browsers, clusters, kills, long sweeps"
	@echo "make check   lint, types, the direction of imports, and counts of what a stranger would trip over"
	@echo "make bench   measure speed beside other tools; writes docs/benchmarks.md"
	@echo "make bench-fernn   measure how well and how fast FERNN learns; writes docs/fernn.md"
	@echo "make bench-exact   measure how fast and how well the exact search works; writes docs/exact.md"
	@echo "make bench-methods compare the methods on the same splits; writes docs/methods.md"
	@echo "make bench-belief  measure whether promises about rules are kept; writes docs/promises.md"
	@echo "make bench-report  measure how soon a report, an edited formula and a large file are seen"
	@echo "make bench-classes measure rules for classes on aeon's series; writes the table in docs/classes.md"
	@echo "make bench-scale   measure how cost grows with size and workers; writes docs/scale.md"
	@echo "make bench-resume  kill runs and workers at random moments; exits with 1 where a result differs (an hour)"
	@echo "make bench-ucr     measure short rules on a folder of UCR sets (ARGS=\"--folder DIR\")"
	@echo "make bench-signals measure whether planted rules that read expressions are found"
	@echo "make reproduce     make the paper's comparison again; writes reproduction/ (an hour; ARGS=--quick: minutes)"
	@echo "make screenshots   take the pictures of docs/images with chromium"
	@echo "make aeon    run what needs aeon: its own checks on the wrapper, MiniRocket"
	@echo "make fuzz    feed damaged inputs to all readers (ARGS=\"--seconds 600 --seed 1\"); crashes go to tests/fuzz/crashes"
	@echo "make forge   edit true certificates 10,000 times; none that claims more than is true may pass"
	@echo "make bounds  run a part of the tests with the lowest and with the newest versions of the dependencies"
	@echo "make index   write docs/files.md: every file of the package with the first line of its docstring"
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

$(VENV)/.bench-fernn: pyproject.toml bench/fernn/requirements.txt | $(BIN)/python
	$(BIN)/pip install -q -e . -r bench/fernn/requirements.txt
	@touch $@

$(VENV)/.bench-exact: pyproject.toml bench/exact/requirements.txt | $(BIN)/python
	$(BIN)/pip install -q -e . -r bench/exact/requirements.txt
	@touch $@

demo: $(VENV)/.demo
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# One thread a worker: two workers already fill two cores.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test: $(VENV)/.test
	$(PYTEST) -m "not slow" $(ARGS)

test-slow: $(VENV)/.test
	$(PYTEST) -m slow $(ARGS)

test-all: test test-slow

check: $(VENV)/.check
	$(BIN)/ruff check src tests bench reproduction
	$(BIN)/ruff format --check src tests bench reproduction
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/test_house.py

bench: $(VENV)/.bench
	$(BIN)/python -m bench $(ARGS)
	$(BIN)/python -m bench.functions

# The paper's data are read from the folder that FERNN_DATA names; what is not there is left out.
bench-fernn: $(VENV)/.bench-fernn
	$(BIN)/python -m bench.fernn $(ARGS)

bench-exact: $(VENV)/.bench-exact
	$(BIN)/python -m bench.exact $(ARGS)

bench-methods: $(VENV)/.demo
	$(BIN)/python -m bench.methods $(ARGS)

bench-belief: $(VENV)/.demo
	$(BIN)/python -m bench.belief $(ARGS)

bench-report: $(VENV)/.test
	$(BIN)/python -m bench.report
	$(BIN)/python -m bench.studio
	$(BIN)/python -m bench.large

bench-scale: $(VENV)/.test
	$(BIN)/python -m bench.scale $(ARGS)
	$(BIN)/python -m bench --page

# With distributed installed (fernn[dask]); ARGS="--dask 0 --calm 0" does without.
bench-resume: $(VENV)/.test
	$(BIN)/python -m bench.resume $(ARGS)

bench-ucr: $(VENV)/.demo
	$(BIN)/python -m bench.ucr $(ARGS)

bench-signals: $(VENV)/.demo
	$(BIN)/python -m bench.signals $(ARGS)

$(VENV)/.plot: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q -e '.[plot]'
	@touch $@

# With FERNN_DATA on the paper's recordings, without it on the simulated train. Goes on where it was interrupted.
reproduce: $(VENV)/.plot
	$(BIN)/python -m reproduction $(ARGS)

# Real pages in chromium, which has to be there.
screenshots: $(VENV)/.test
	$(BIN)/python docs/screenshots.py

# aeon holds numba back, so what needs it is tested in an environment of its own.
$(VENV)/aeon/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)/aeon
	$(VENV)/aeon/bin/pip install -q -e '.[aeon]' pytest
	@touch $@

# By themselves: nothing else of tests/ is on the path.
aeon: $(VENV)/aeon/.done
	NUMBA_CACHE_DIR=$(VENV)/aeon/numba $(VENV)/aeon/bin/python -m pytest --noconftest --import-mode=importlib \
		tests/learners/adapters/test_aeon.py tests/learners/adapters/test_demos.py tests/learners/test_baselines.py

bench-classes: $(VENV)/aeon/.done
	NUMBA_CACHE_DIR=$(VENV)/aeon/numba $(VENV)/aeon/bin/python -m bench.classes $(ARGS)

# One thread: polars and numba would start their own for every process.
fuzz: $(VENV)/.test
	cd tests && POLARS_MAX_THREADS=1 NUMBA_NUM_THREADS=1 ../$(BIN)/python -m fuzz $(ARGS)

forge: $(VENV)/.test
	FERNN_FORGERIES=10000 $(BIN)/python -m pytest -s tests/learners/enumerative/test_forged_certificates.py

# Two environments of their own, without what is optional but for polars.
BOUNDED := tests/formula/test_text.py tests/data tests/semantics/test_robustness.py tests/runs/test_run.py \
	tests/cli/test_commands.py tests/learners/test_prior.py

$(VENV)/%/.bounds: pyproject.toml bench/bounds.py
	$(PYTHON) -m venv $(VENV)/$*
	$(PYTHON) bench/bounds.py $* > $(VENV)/$*/requirements.txt
	$(VENV)/$*/bin/pip install -q -r $(VENV)/$*/requirements.txt
	$(VENV)/$*/bin/pip install -q --no-deps -e .
	@touch $@

bounds: $(VENV)/lowest/.bounds $(VENV)/newest/.bounds
	for which in lowest newest; do \
		echo "$$which: $$($(VENV)/$$which/bin/pip list --format freeze | grep -iE '^(numpy|numba|scikit-learn|typer|polars)==' | tr '\n' ' ')"; \
		NUMBA_CACHE_DIR=$(VENV)/$$which/numba $(VENV)/$$which/bin/python -m pytest $(BOUNDED) $(ARGS) || exit 1; \
	done

index:
	$(PYTHON) docs/make_index.py

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
