# make run: the app. make test: every check. make help: the rest.
PYTHON ?= python3
PORT ?= 8501
# Tests wait for servers and kernels as long as they compute: one worker more than cores keeps the cores at work.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# In the browser most of the time is waited: for a server to start, for a page to be painted.
BROWSER_WORKERS ?= $(shell $(PYTHON) -c "import os; print(2 * (os.cpu_count() or 1))")

VENV := .venv
PY := $(VENV)/bin/python
UV_COMPILE := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header
HASHED := $(UV_COMPILE) --generate-hashes
# torch comes as another file from each index (CPU only, CUDA), so the pins of its libraries have no hashes.
# A torch with CUDA names these itself, pinned; left out here, a CPU-only torch comes without them.
CUDA := cuda-|nvidia-|triton==

# A run starts hundreds of processes: what one compiled the others need not compile again.
export PYTHONDONTWRITEBYTECODE :=

PYTEST = $(PY) -m pytest -n $(WORKERS) --durations 20
# A browser test is given a second try, which the summary names: a page may be read in the instant it is drawn again.
BROWSER_TESTS = $(PY) -m pytest -n $(BROWSER_WORKERS) --durations 20 --dist loadfile --reruns 1 -r R
THOROUGH := --hypothesis-profile thorough
CHROMIUM = chromium=$$(tools/ensure_chromium.sh $(PY)) || exit 1; export CRANE_CHROMIUM="$$chromium"
DOCUMENTS := tests/house/test_docs.py tests/house/test_words.py

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup run ml test test-all test-more check lint format bench bench-check docs pins sbom licences clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(VENV)/.runtime $(VENV)/bin/crane ## make .venv and install what the app needs; .venv/bin/crane is the command

run: setup ## start the app on 127.0.0.1 (PORT=8501) and print its address
	@$(PY) -m crane_core app --port $(PORT)

ml: $(VENV)/.ml ## install torch, TensorFlow and others that some pairs of minibench need

# Left to `make test-all`: what needs minutes, an optional library, or proves again what a shorter test proves.
MORE := corpus or slow or needs_ml
# Not read either: every worker would import them to learn that they are left out.
ELSEWHERE := --ignore tests/browser --ignore tests/house
# Tests of documents, words, imports and packages look at files, not at behaviour: `make lint` runs them.
test: $(VENV)/.dev ## run the tests that need no optional library, in a real browser too (about 8 minutes)
	@$(CHROMIUM); failed=0; \
	$(PYTEST) --dist worksteal -m "not ($(MORE) or browser or house)" $(ELSEWHERE) || failed=1; \
	$(BROWSER_TESTS) -m "not ($(MORE))" tests/browser || failed=1; \
	exit $$failed

test-all: $(VENV)/.ml ## install the optional libraries and run every test, with all examples of each property
	@$(CHROMIUM); failed=0; \
	$(PYTEST) $(THOROUGH) --dist worksteal -m "not browser" || failed=1; \
	$(BROWSER_TESTS) tests/browser || failed=1; \
	exit $$failed

test-more: $(VENV)/.ml ## run what `make test` leaves to `make test-all`
	@$(CHROMIUM); failed=0; \
	$(PYTEST) $(THOROUGH) --dist worksteal -m "($(MORE) or hypothesis) and not browser" || failed=1; \
	$(BROWSER_TESTS) -m "$(MORE)" tests/browser || failed=1; \
	exit $$failed

check: $(VENV)/.dev ## run the quick checks of one folder of tests: WING=annotation, WING=docs for documents alone
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/lint-imports
	@$(PYTEST) --dist worksteal -m "not ($(MORE))" $(if $(filter docs,$(WING)),$(DOCUMENTS),tests/$(WING))

lint: $(VENV)/.dev ## check style, types, the floors of the house, documents, words, packages, and that no file holds a secret
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@$(PY) tools/secret_scan.py
	@$(PYTEST) --dist worksteal tests/house

format: $(VENV)/.dev ## let ruff format and fix what it can
	@$(VENV)/bin/ruff check --fix --quiet . || true
	@$(VENV)/bin/ruff format .

bench: $(VENV)/.dev ## measure what has a budget, print one table, add a line to benchmarks/history.jsonl
	@chromium=$$(tools/ensure_chromium.sh $(PY)) || exit 1; CRANE_CHROMIUM="$$chromium" $(PY) -m benchmarks

bench-check: $(VENV)/.dev ## the same; fail where a budget is not held (1) or could not be measured (3)
	@chromium=$$(tools/ensure_chromium.sh $(PY)) || exit 1; CRANE_CHROMIUM="$$chromium" $(PY) -m benchmarks --check

docs: $(VENV)/.dev ## build the documentation site, strictly and offline: crane_core/docs_site, and docs-site.zip of it
	@$(PY) -m tools.commands_page
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict
	@rm -f docs-site.zip
	@cd crane_core/docs_site && $(CURDIR)/$(PY) -m zipfile -c $(CURDIR)/docs-site.zip *
	@echo crane_core/docs_site/index.html docs-site.zip

pins: $(VENV)/.dev ## resolve requirements*.in again into the pinned requirements*.txt
	@$(HASHED) --upgrade requirements.in --output-file requirements.txt
	@$(HASHED) --upgrade --excludes tools/left_out.txt requirements-dev.in --output-file requirements-dev.txt
	@$(UV_COMPILE) --upgrade requirements-ml.in | grep -vE '^($(CUDA))' > requirements-ml.txt

sbom: $(VENV)/.dev ## write sbom.json (CycloneDX): what the app needs, with versions and hashes
	@$(VENV)/bin/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml \
		--mc-type application --output-reproducible --output-format JSON --output-file sbom.json
	@echo sbom.json

licences: $(VENV)/.dev ## write licences.md: the licence of everything that the app needs
	@$(PY) tools/licences.py requirements.txt > licences.md
	@echo licences.md

clean: ## remove .venv and caches; data is left alone
	@rm -rf $(VENV) crane_core/docs_site docs-site.zip .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@tools/make_venv.sh $(PYTHON) $(VENV)
	@touch $@

# An empty file in .venv says which pins are installed: pip is asked only when they changed.
$(VENV)/.runtime: requirements.txt $(VENV)/.made
	@$(PY) tools/install.py requirements.txt "the app needs"
	@touch $@

$(VENV)/bin/crane: tools/launcher.py $(VENV)/.runtime
	@$(PY) tools/launcher.py . $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	@$(PY) tools/install.py requirements-dev.txt "the checks need"
	@touch $@

$(VENV)/.ml: requirements-ml.txt $(VENV)/.dev
	@$(PY) tools/install.py requirements-ml.txt "the machine-learning pairs need"
	@$(PY) tools/fit_torchvision.py
	@touch $@
