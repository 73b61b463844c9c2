"""How a weight changes over a run."""


def linear(start: float, end: float, hold: float, progress: float) -> float:
    """Keep ``start`` for the share ``hold`` of a run, then go to ``end`` in a line; ``progress`` runs from 0 to 1.

    >>> [linear(1.0, 0.0, 0.5, progress) for progress in (0.0, 0.5, 0.75, 1.0)]
    [1.0, 1.0, 0.5, 0.0]
    """
    moved = min(max((progress - hold) / (1.0 - hold), 0.0), 1.0) if hold < 1.0 else 0.0
    return start + (end - start) * moved
