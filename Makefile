# The only entry points a newcomer needs. Every target sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test soak laws mutants fuzz lab lint bench site site-check release clean

demo: $(STAMP)
	$(BIN)/numalign admit pods/announcement.yaml --machine figure-1 --policy single-numa-node || test $$? -eq 1

# Where PYTHONDONTWRITEBYTECODE is set every process of the tests would compile them, and what they import, anew.
test: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal

soak: $(STAMP)
	$(BIN)/python -m pytest -m soak

laws: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist worksteal -m hypothesis --hypothesis-profile deep

# make mutants MUTANTS=100 SEED=1 PARTS="kubelet dra.cel"
MUTANTS ?= 50
PARTS ?= kubelet dra scheduler analysis
mutants: $(STAMP)
	$(BIN)/python -m tests.mutants --mutants $(MUTANTS) --seed $(SEED) --jobs $(JOBS) $(PARTS)

# make fuzz SECONDS_TO_RUN=600 JOBS=2 SEED=1
SECONDS_TO_RUN ?= 60
JOBS ?= 2
SEED ?= 0
fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz.farm --seconds $(SECONDS_TO_RUN) --jobs $(JOBS) --seed $(SEED)

# Guests with several NUMA nodes: as root, with QEMU. make lab SHAPES=two-nodes KEEP=DIR
lab: $(STAMP)
	$(BIN)/python -m tests.lab $(SHAPES) $(if $(KEEP),--keep $(KEEP))

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

site: $(STAMP)
	$(BIN)/python -m manual docs
	$(BIN)/python -m manual.site site
	$(BIN)/python -m manual.playground site
	$(BIN)/python -m manual.links site
	$(BIN)/python -m manual.weight site

# Needs a Chromium; where there is none it says so, and nothing is tried.
site-check: site
	@if test -x /usr/bin/chromium; then \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[site]' && $(BIN)/python -m pytest -m site tests/browser; \
	else echo "site-check: nothing tried: /usr/bin/chromium is not there (apt install chromium)"; fi

release: $(STAMP)
	.ci/release

bench: $(STAMP)
	$(BIN)/python -m benchmarks

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	# Where PYTHONDONTWRITEBYTECODE is set every start would compile the package anew.
	$(BIN)/python -m compileall -q numalign
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist site *.egg-info
