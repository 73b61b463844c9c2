"""What a study's folder says of the study itself: what was asked for, and what it was made with."""

import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from brdiv.runs.whole import write_whole
from brdiv.study.cells import write_json
from brdiv.study.plan import Study
from brdiv.study.settings import Resolved
from brdiv.version import __version__

LIBRARIES = ("torch", "torchrl", "tensordict", "lightning", "numpy", "safetensors", "jsonargparse")


def record_study(study: Study, resolved: Mapping[str, Resolved], folder: Path) -> None:
    """Write `study.yaml`: the study as it was given, and what that comes to."""
    groups = [
        {
            "game": group.game,
            "method": group.method,
            "label": resolved[group.name].label,
            "configs": [str(path) for path in group.configs],
            "overrides": dict(group.overrides),
            "seeds": list(group.seeds),
            "steps": resolved[group.name].steps,
            "settings": f"cells/{group.name}/settings.yaml",
            "learners": [
                {
                    "learner": learner.name,
                    "label": resolved[f"{group.name}/{learner.name}"].label,
                    "config": str(learner.config),
                    "overrides": dict(learner.overrides),
                    "steps": resolved[f"{group.name}/{learner.name}"].steps,
                    "settings": f"learners/{group.name}/{learner.name}/settings.yaml",
                }
                for learner in group.learners
            ],
        }
        for group in study.groups
    ]
    found = {
        **study.given,
        "resolved": {
            "name": folder.name,
            "file": str(study.path),
            "cells": sum(len(group.seeds) * (1 + len(group.learners)) for group in study.groups),
            "threads": study.threads,
            "gpus": study.gpus,
            "evaluation": study.evaluation._asdict(),
            "groups": groups,
        },
    }
    write_whole(folder / "study.yaml", yaml.dump(found, Dumper=Plain, sort_keys=False, allow_unicode=True))


class Plain(yaml.SafeDumper):
    """Writes what is there twice, overrides, twice."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never refer to what stands elsewhere in the file."""
        return True


def record_versions(folder: Path, command: str) -> None:
    """Write `versions.json`: what the study was begun with; every later start of it is added below."""
    path = folder / "versions.json"
    start = {"started": datetime.now(UTC).isoformat(timespec="seconds"), "command": command, **versions()}
    begun = read_versions(path)
    if begun:
        begun.setdefault("resumed", []).append(start)
    write_json(path, begun or start)


def read_versions(path: Path) -> dict[str, Any]:
    """Read what an earlier start wrote; nothing where there was none."""
    import json

    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def versions() -> dict[str, Any]:
    """Versions of what computes, and the machine."""
    return {
        "python": platform.python_version(),
        "brdiv": __version__,
        **{name: importlib.metadata.version(name) for name in LIBRARIES},
        "machine": {
            "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
            "processor": processor(),
            "system": f"{platform.system()} {platform.release()}",
        },
    }


def processor() -> str:
    """Name the processor."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
