"""How many threads are worth having: which cores this process may use, and how busy the machine is.

Needs no torch, because what it says of waiting must be said before torch is imported.
"""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


def wait_passively() -> None:
    """Let threads that have nothing to do sleep, unless the user has said how they should wait.

    OpenMP's threads wait for their next piece of work in a busy loop. That takes the core from whoever has that work
    as soon as there are more threads than free cores.
    """
    if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"


def is_crowded() -> bool:
    """Whether others leave no more than a core: then threads that wait in a busy loop stand in each other's way.

    On a quiet machine sleeping costs much: Cooperative Reaching on 2 threads trains at 0.63 of the speed.
    """
    return busy_elsewhere() >= (os.cpu_count() or 1) - 1


def usable_cores(proc: Path = PROC, cgroups: Path = CGROUPS) -> int:
    """Count the cores that this process may use: by affinity, and by the quota of its container."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([affinity, *(math.ceil(quota) for quota in quotas(proc, cgroups))]))


def quotas(proc: Path, cgroups: Path) -> Iterator[float]:
    """Find every limit, in cores, on the control groups (versions 1 and 2) around this process."""
    for line in read(proc / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root = cgroups
        elif "cpu" in controllers.split(","):
            root = cgroups / "cpu"
        else:
            continue
        # In a container the path may be one of the host that can't be seen: what is not there limits nothing.
        inside = root / path.strip("/")
        for folder in (inside, *inside.parents):
            yield from quota_of(folder)
            if folder == root:
                break


def quota_of(group: Path) -> list[float]:
    """Read how many cores a control group may keep busy, if it has such a limit."""
    text = read(group / "cpu.max") or f"{read(group / 'cpu.cfs_quota_us')} {read(group / 'cpu.cfs_period_us')}"
    match text.split():
        case [quota, period] if quota.isdecimal() and period.isdecimal() and int(period):
            return [int(quota) / int(period)]
    return []


def busy_elsewhere(proc: Path = PROC) -> float:
    """Estimate how many cores of the machine others keep busy; 0 where it can't be known.

    The average of the last minute may remember what is over, and this moment may be an odd one: both must say so.
    """
    match read(proc / "loadavg").split():
        case [minute, _, _, running, *_]:
            return min(float(minute), int(running.partition("/")[0]) - 1.0)  # less this process
    return 0.0


def use_threads(wanted: int, name: str = "threads") -> int:
    """Return how many threads, or whatever takes a core each, to have: no more than cores; says if those are fewer."""
    cores = usable_cores()
    if wanted > cores:
        may_use = f"{cores} core{'s' * (cores > 1)}"
        print(f"brdiv: {name} is {wanted}: this process may use {may_use}, so it is {cores}", file=sys.stderr)
    return min(wanted, cores)


def warn_if_crowded(threads: int) -> None:
    """Say so where others leave clearly fewer cores than there are threads."""
    busy, cores = busy_elsewhere(), os.cpu_count() or 1
    if busy + threads >= cores + 2:
        print(
            f"brdiv: the machine is crowded: others keep about {busy:.0f} of its {cores} cores busy, so this will be "
            "slow; fewer threads may be faster",
            file=sys.stderr,
        )


def read(path: Path) -> str:
    """Read a small file; empty where it can't be."""
    try:
        return path.read_text()
    except OSError:
        return ""
