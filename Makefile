# `make demo` and `make test` each do all of their own set-up on a machine with Python >= 3.11.
# The environment lives in $(VENV); `make test VENV=/some/where` uses another.

VENV ?= .venv
OUT ?= out
JOBS ?= auto
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; \
	done; echo python3)

BIN := $(VENV)/bin
DEMO_READY := $(VENV)/.installed-demo
TEST_READY := $(VENV)/.installed-test
BENCH_READY := $(VENV)/.installed-bench

# One thread: the workers of pytest-xdist already fill the cores; and the demo's matrices are so small
# that two threads wait for each other longer than they work, if another program wants a core.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO_READY) ## train XOR, the tense classifier and MiniGPT; curves, graphs, results: out/
	$(ONE_THREAD) $(BIN)/minitorch demo --out $(OUT)
	$(ONE_THREAD) $(BIN)/minitorch run examples/minigpt/train.py --out $(OUT)

test: $(TEST_READY) ## the whole test suite, with PyTorch as the oracle
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS)

check: $(TEST_READY) ## formatting, lint, types, import contracts and a quick subset of the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) -q --quick

format: $(TEST_READY) ## rewrite the sources as ruff wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(BENCH_READY) ## measure against PyTorch and micrograd, then operation by operation
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/ops.py

clean: ## remove the environment, the demo's output and the caches
	rm -rf $(VENV) $(OUT) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "minitorch needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)."; \
	  echo "Install a newer one, or name it: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; } >&2
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments (its venv or ensurepip module is missing)."; \
	  echo "On Debian or Ubuntu: apt-get install python3-venv"; exit 1; } >&2
	$(PYTHON) -m venv $(VENV)

# A stamp is touched only after pip succeeded, so that an interrupted install is tried again.
$(DEMO_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[viz]'
	@touch $@

$(TEST_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[test,viz]'
	@touch $(DEMO_READY) $@

$(BENCH_READY): pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	@touch $@
