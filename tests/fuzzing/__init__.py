"""Mutated and hand-made hostile files for everything that brdiv loads: `python -m tests.fuzz`."""
