# `make run` trains four teammates; `make test` checks everything. Both set themselves up in .venv first.
PYTHON ?= python3
VENV ?= .venv
# On Linux without a GPU, PIP_FLAGS="--extra-index-url https://download.pytorch.org/whl/cpu" fetches the small CPU torch.
PIP_FLAGS ?=
BIN := $(VENV)/bin
SEEDS ?= 0-9
PAIRS ?= 20
FAULTS ?= 30

.PHONY: run test lint seeds methods headline paper learners bounds faults study-faults fuzz memory clean

run: $(VENV)/installed
	$(BIN)/brdiv fit --config configs/reaching.yaml

test: lint
	$(BIN)/pytest

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Trains the shipped Cooperative Reaching config with ten seeds, two at a time, and prints a table of the results.
seeds: $(VENV)/installed
	$(BIN)/brdiv seeds --config configs/reaching.yaml --seeds $(SEEDS)

# Every method on Cooperative Reaching, three seeds each: the table of docs/methods.md. About half an hour on 2 cores.
methods: $(VENV)/installed
	$(BIN)/brdiv compare --config configs/reaching.yaml --seeds 0-2 --methods base independent trajedi0 trajedi025 \
		trajedi05 trajedi075 trajedi1 anyplay_reaching lbrdiv lipo

# BRDiv against Independent with strangers, five seeds each: the headline of docs/evaluation.md. About 10 minutes.
headline: $(VENV)/installed
	$(BIN)/brdiv compare --config configs/reaching.yaml --seeds 500-504 --methods base independent
	$(BIN)/brdiv evaluate runs/compare-reaching/base runs/compare-reaching/independent --out runs/headline

# The paper's methods on its three games, five seeds each, and their evaluation. Interrupted, it resumes.
paper: $(VENV)/installed
	$(BIN)/brdiv study paper

# Learners that are trained with BRDiv's teams, and with Independent's, five seeds each: the tables of docs/learners.md.
# Interrupted, it resumes.
learners: $(VENV)/installed
	$(BIN)/brdiv study learners

# What is possible with every heuristic, and how many best responses the same populations need. Interrupted, it resumes.
bounds: learners
	$(BIN)/brdiv bounds Reaching LBF Cooking --episodes 1024 --out runs/bounds
	$(BIN)/brdiv bounds runs/learners/cells/reaching --threads 1 --out runs/bounds/reaching-teams
	$(BIN)/brdiv bounds runs/learners/cells/lbf --threads 1 --out runs/bounds/lbf-teams

# Resumes a run in two processes at once twenty times, kills, stops and freezes it thirty times, and compares its end with
# one that was left alone; then freezes one of two processes that train together.
faults: $(VENV)/installed
	$(BIN)/python -m tests.fault_injection --pairs $(PAIRS) --faults $(FAULTS)
	$(BIN)/python -m tests.frozen_partner

# Gives every loader more than 500 damaged and hostile files: none may end in a traceback, hang, or fill the memory.
fuzz: $(VENV)/installed
	$(BIN)/python -m tests.fuzz

# Kills a whole study ten times, runs it again each time, and compares it with one that was left alone.
study-faults: $(VENV)/installed
	$(BIN)/python -m tests.study_faults

# Trains a million steps of LBF and says by how much memory grew.
memory: $(VENV)/installed
	$(BIN)/python -m tests.memory_growth

.DELETE_ON_ERROR:

# Made anew only when what is to be installed changes.
$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
