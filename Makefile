# `make run` and `make test` set up everything they need in .venv: where there is no C compiler also ziglang, and where
# there is an NVIDIA driver also CuPy for its version of CUDA.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A test that hangs is named, and the others go on.
PYTEST = $(BIN)/python -m pytest -q -n auto --dist worksteal --timeout 600 --timeout-method thread
COMPILER = $(shell command -v "$$CC" || command -v cc || command -v gcc || command -v clang)
EXTRAS = examples$(if $(COMPILER),,$(comma)zig)
CUDA = $(shell $(PYTHON) -I c2cu/base/driver.py)
comma := ,
# Tests start hundreds of processes of Python: what it compiles is kept, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-all test-gpu lint bench errors api clean

run: $(VENV)/ready
	$(BIN)/python examples/graph_atlas.py

# What each of the two finds is said in CONTRIBUTING.md.
test: $(VENV)/tools
	$(BIN)/ruff check .
	$(PYTEST)

test-all: export C2CU_PROGRAMS ?= 20000
test-all: $(VENV)/all lint
	$(PYTEST) --all $(if $(MINUTES),--minutes $(MINUTES))

test-gpu: ; $(PYTHON) -m pytest -q -m gpu -rs

lint: $(VENV)/tools
	$(BIN)/ruff check .
	$(BIN)/basedpyright --pythonpath $(BIN)/python

errors: $(VENV)/tools
	$(BIN)/python -m tests.error_examples > docs/errors.md

api: $(VENV)/tools
	$(BIN)/python docs/print_api.py > docs/api.md

bench: $(VENV)/tools
	$(BIN)/python benchmarks/cpu.py

# $(1): extras beside those for the examples.
define install
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --no-compile -e '.[$(EXTRAS)$(1)]'
	$(call install_cuda,$(CUDA))
endef

# $(1): the extra for the driver, or nothing. What cannot be installed is no reason to stop: the CPU is still there.
install_cuda = $(if $(1),$(BIN)/python -m pip install -q -e '.[$(1)]' || \
	echo "'.[$(1)]' could not be installed: c2cu runs on the CPU; 'c2cu doctor' says what is missing" >&2)

$(VENV)/ready: pyproject.toml
	$(call install)
	touch $@

$(VENV)/tools: pyproject.toml
	$(call install,$(comma)test)
	touch $(VENV)/ready $@

$(VENV)/all: pyproject.toml
	$(call install,$(comma)test$(comma)test-all)
	touch $(VENV)/ready $(VENV)/tools $@

clean: ; rm -rf $(VENV) build dist
