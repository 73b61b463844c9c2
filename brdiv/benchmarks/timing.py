"""Seconds, taken carefully."""

import time
from collections.abc import Callable


def timed(run: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each of several calls, after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return times
