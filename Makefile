# Every target sets itself up: nothing needs to be typed before it.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HARM = $(or $(HARM_CACHE),$(HOME)/.cache/interlock/harm)
STAMP := $(VENV)/.ready
SCREEN_PACKAGES := xvfb openbox xdotool scrot xterm dbus-daemon at-spi2-core tesseract-ocr sway grim
TERMINAL_PACKAGES := tmux less gcc libc6-dev openssl bubblewrap faketime
EDITOR_PACKAGES := chromium zenity build-essential libkrb5-dev pkg-config
LIGHT_EXTRAS := hub notify model otel gui
FRAMEWORKS := langchain openai-agents claude-agent-sdk pydantic-ai mini-swe-agent smolagents
# The oldest Python that pyproject.toml allows: Debian 12 has 3.11.2.
LOCK_STYLE := --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
BROWSER_PACKAGES := chromium

.DEFAULT_GOAL := help

.PHONY: help setup demo web test test-gui test-agents check bench bench-detect bench-harm bench-loop torture mutants docs lock cli dist clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP) ## make .venv with everything for development

$(STAMP): requirements/dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "interlock needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Set PYTHON=/path/to/python3.11." >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -qq -y python3-venv; \
	  else echo "Python's venv module is missing: install Debian's python3-venv." >&2; exit 2; fi; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a minute or two the first time, about 700 MB) ..."
	@set -o pipefail; $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check --require-hashes \
	  -r requirements/dev.lock 2> >(grep -v 'Location.*is ignored' >&2) | scripts/pip-progress requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . 2> >(grep -v 'Location.*is ignored' >&2)
	@$(BIN)/python -m compileall -q src || true
	@echo "  $$(du -sh $(VENV) | cut -f1) in $(VENV)"
	@touch $@

demo: setup ## one supervised run that goes wrong in several ways, in under a minute
	@$(BIN)/interlock demo
	@echo 'Next: export PATH="$$PWD/$(BIN):$$PATH"; interlock demo --keep; interlock web'

test: setup ## all tests that install in a few minutes
	@scripts/debian-packages $(SCREEN_PACKAGES) $(TERMINAL_PACKAGES) $(BROWSER_PACKAGES)
	@$(BIN)/python -m compileall -q src || true
	$(BIN)/python -m pytest -n $(or $(WORKERS),4) --dist loadfile --no-loadscope-reorder -p tests.coverage_floors

test-gui: setup ## with a real VS Code, installed once and cached
	@scripts/debian-packages $(SCREEN_PACKAGES) $(EDITOR_PACKAGES)
	@$(BIN)/python -m interlock.gui.editor.install
	$(BIN)/python -m pytest tests/gui_editor -m editor -v

test-agents: setup ## the real agent clients, offline (AGENT=name: one of them)
	@scripts/debian-packages $(TERMINAL_PACKAGES)
	@$(BIN)/python scripts/install-agents >/dev/null
	@$(BIN)/python scripts/install-frameworks $(AGENT) >/dev/null
	@# A home below a temporary folder would be writable under guard.
	$(BIN)/python -m pytest -m agents --basetemp=$$(mktemp -du -p $(HOME) .interlock-test-XXXXXX) -n $(or $(WORKERS),2) --dist loadfile $(if $(AGENT),-k "$(AGENT)") tests/agents

web: setup ## build the dashboard's front end (installs Node from PyPI once)
	$(BIN)/python scripts/web_build.py

check: setup ## lint, types, layers, built files, lines of code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	$(BIN)/lint-imports
	$(BIN)/python scripts/interfaces.py
	$(BIN)/python scripts/opens_and_starts.py
	$(BIN)/python scripts/one_reader.py
	$(BIN)/python scripts/web_build.py --check
	$(BIN)/python scripts/cli_reference.py --check
	$(BIN)/python scripts/count_lines.py --check
	$(BIN)/python scripts/patterns.py --check

cli: setup ## write docs/cli.md and the man page from the commands
	$(BIN)/python scripts/cli_reference.py

dist: setup ## wheels and sdist in dist/, reproducible, checked and tried
	$(BIN)/python scripts/dist.py

bench: setup ## measure, and write bench/RESULTS.md
	@scripts/debian-packages $(SCREEN_PACKAGES) zenity
	$(BIN)/python bench/run.py

bench-detect: setup ## detection on recorded traces (TRACES=DIR), writes bench/DETECTION.md
	$(BIN)/python bench/detection.py $(if $(TRACES),--traces $(TRACES))

bench-harm: setup ## what lasts after an agent did it for real, as root; writes bench/HARM.md (CASES=regex, LEVELS=a,b)
	test -d $(HARM)/peers || $(BIN)/python bench/harm/fetch.py
	$(BIN)/python bench/harm/template.py .
	$(BIN)/python bench/harm/measure.py --out $(HARM)/results.jsonl --again $(if $(LEVELS),--levels $(LEVELS)) --cases '$(CASES)'
	$(BIN)/python bench/harm/measure.py --page $(HARM)/results.jsonl

bench-loop: setup ## the ladder against scripted agents (ONLY=name: one of them), writes bench/CLOSED_LOOP.md
	$(BIN)/python bench/closed_loop.py $(if $(ONLY),--only $(ONLY))

torture: setup ## the long versions: crashes, simulations, properties
	@scripts/debian-packages $(TERMINAL_PACKAGES)
	$(BIN)/python -m pytest -n $(or $(WORKERS),2) -m torture --timeout 7200

mutants: setup ## change the code of decide, detect and control in 600 places, and see whether a test fails
	$(BIN)/python scripts/mutants.py --workers $(or $(WORKERS),2)

docs: setup ## build the documentation into site/; a warning is an error
	@$(BIN)/python scripts/docs_site.py

lock: setup ## write the locks in requirements anew
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile -q pyproject.toml $(LIGHT_EXTRAS:%=--extra %) --group dev $(LOCK_STYLE) -o requirements/dev.lock
	@for name in $(FRAMEWORKS); do \
	  $(BIN)/uv pip compile -q pyproject.toml requirements/agents/$$name.in --extra $$name $(LOCK_STYLE) -o requirements/agents/$$name.lock; done

clean: ## remove what setup made
	rm -rf $(VENV) site dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
