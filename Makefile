# Two commands are enough: `make demo` and `make test`. Each installs what it needs.
VENV := .venv
BIN := $(VENV)/bin
UV := .uv/bin/uv
PYTHON ?= python3

.PHONY: setup demo test check wheel clean

setup: $(BIN)/.installed ## install into .venv, exactly what uv.lock names

$(BIN)/.installed: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3"; exit 2; }
	@test -x $(UV) || { { $(PYTHON) -m venv .uv || { echo 'python3 cannot make a virtual environment; on Debian: apt-get install python3-venv'; exit 2; }; } && .uv/bin/pip install --quiet 'uv>=0.11,<1'; }
	@UV_PYTHON_DOWNLOADS=never $(UV) sync --frozen --quiet --compile-bytecode --python $(PYTHON)
	@$(BIN)/python -m compileall -q copilot connectors policies
	@touch $@

demo: setup ## run the main job on bundled logs and tickets
	$(BIN)/copilot demo

test: setup ## all tests; nothing leaves this machine
	$(BIN)/pytest -n 2

check: setup ## style, types, floors, honest dependencies, dead code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/deptry .
	$(BIN)/vulture

wheel: setup ## build the wheel and the source archive into dist/
	$(UV) build

clean:
	rm -rf $(VENV) .uv dist
