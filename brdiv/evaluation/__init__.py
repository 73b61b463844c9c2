"""Learners with strangers: loading runs, evaluating them, statistics over seeds, and tables."""
