"""A study as one page: what its files say, in figures, tables and verdicts on the paper's claims."""

from brdiv.report.page import write_report

__all__ = ["write_report"]
