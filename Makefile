# make demo    compile and simulate the examples through both front ends
# make test    lit tests, unit tests, linters, types, layers
# make public  the published kernels of a clone of the public samples, SAMPLES=PATH
# make lit     the lit tests alone, each tool as a process, as `lit test` runs them
# make clean   remove all that these made
#
# The environment in .venv is made once. Its stamps carry a checksum of pyproject.toml, so that a change there, and
# nothing else, installs again; everything works offline afterwards.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
KEY := $(shell cksum < pyproject.toml | cut -d ' ' -f 1)
INSTALLED := $(VENV)/installed-$(KEY)
TEST_INSTALLED := $(VENV)/test-installed-$(KEY)

.PHONY: bytecode demo test public lit clean

demo: bytecode
	$(PY) examples/demo.py

test: $(TEST_INSTALLED) bytecode
	$(PY) -m pytest
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/basedpyright --pythonpath $(PY)
	$(VENV)/bin/lint-imports

public: $(TEST_INSTALLED)
	NKI_SAMPLES='$(SAMPLES)' $(PY) -m pytest -rs test/kernels/test_public.py

lit: $(TEST_INSTALLED) bytecode
	$(VENV)/bin/lit -q test

# Where Python may not write bytecode (PYTHONDONTWRITEBYTECODE), each start of a tool would compile what it imports,
# which takes half as long again.
bytecode: $(INSTALLED)
	$(PY) -m compileall -q nki_mlir

# Building in the environment itself, not in an isolated one, is what lets a later installation do without a network.
$(VENV)/ready:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install 'hatchling>=1.24' editables
	touch $@

$(INSTALLED): | $(VENV)/ready
	$(PIP) install --no-build-isolation --editable .
	touch $@

$(TEST_INSTALLED): | $(INSTALLED)
	$(PIP) install --no-build-isolation --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build dist .hypothesis .pytest_cache .ruff_cache .import_linter_cache *.egg-info
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
