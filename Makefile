# `make run` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-gpu lint bench errors clean

run: $(VENV)/ready
	$(BIN)/python examples/graph_atlas.py

test: $(VENV)/tools lint
	$(BIN)/python -m pytest -q -n auto --dist worksteal

test-gpu: ; $(PYTHON) -m pytest -q -m gpu -rs

lint: $(VENV)/tools
	$(BIN)/ruff check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python

errors: $(VENV)/tools
	$(BIN)/python -m tests.error_examples > docs/errors.md

bench: $(VENV)/tools
	$(BIN)/python benchmarks/cpu.py

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e '.[examples]'
	touch $@

$(VENV)/tools: $(VENV)/ready
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@

clean: ; rm -rf $(VENV) build dist
