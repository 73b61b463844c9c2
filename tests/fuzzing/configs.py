"""Hostile configs."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.fuzzing import Accept
from tests.fuzzing.mutations import mutate_bytes, mutate_value
from tests.fuzzing.worker import Ended
from tests.small_runs import train

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefghi", "bcdefghij", strict=True)
)


class ConfigFiles:
    """Configs made from that of a small run, all settings in it; one update is tried with each that is accepted."""

    program = "fit"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "case.yaml"
        self.run = folder / "run"
        whole = self.train(folder / "whole", "--trainer.enable_progress_bar", "false")
        config = yaml.safe_load((whole / "config.yaml").read_text())
        del config["ckpt_path"], config["run"], config["weights_only"]
        # How long it may take is not what is asked here.
        config["trainer"]["fast_dev_run"] = True
        for group in config.values():
            if isinstance(group, dict):
                group.update(dict.fromkeys(group.keys() & {"final_episodes", "episodes"}, 1))
        self.config = config

    @staticmethod
    def train(run: Path, *options: str) -> Path:
        """Train the small run."""
        return train(run, *options, steps=2 * 128)

    def command(self) -> list[str]:
        """Try it; a case that sets the Trainer's own settings aside trains the few steps that it says."""
        shutil.rmtree(self.run, ignore_errors=True)
        return [self.program, "--config", str(self.path), "--run", str(self.run)]

    def cases(self, luck: random.Random, number: int) -> Iterator[tuple[str, Accept]]:
        """Write hand-made files, then mutated ones; any of these may be accepted that says something sensible."""
        os.mkfifo(self.path)
        yield "a pipe", Accept.NONE
        self.path.unlink()
        for name, text in self.hand_made().items():
            self.path.write_text(text)
            yield name, Accept.NONE
        text = yaml.safe_dump(self.config).encode()
        for _ in range(number):
            if luck.random() < 0.2:
                self.path.write_bytes(mutate_bytes(text, luck))
                yield "bytes", Accept.ANY
            else:
                changed, name = mutate_value(self.config, luck)
                self.path.write_text(yaml.safe_dump(changed))
                yield name, Accept.ANY

    def other(self, **changes: object) -> str:
        """The config, with some settings changed."""
        groups = {name: {**self.config[name], **inner} for name, inner in changes.items() if isinstance(inner, dict)}
        return yaml.safe_dump({**self.config, **changes, **groups})

    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""
        return {**self.no_configs(), **self.of_every_kind(), **self.of_populations()}

    def no_configs(self) -> dict[str, str]:
        """Files that are none."""
        return {
            "a million laughs": LAUGHS,
            "an alias to itself": "a: &a [*a]\n",
            "deep lists": "a: " + "[" * 5000 + "]" * 5000,
            "digits beyond reading": f"seed_everything: {'9' * 5000}\n",
            "digits beyond writing": f"seed_everything: 0x{'f' * 5000}\n",
            "a list": "[1, 2]",
            "a word": "hello",
            "an open quote": 'a: "b',
            "code": "seed_everything: !!python/object/apply:os._exit [3]\n",
        }

    def of_every_kind(self) -> dict[str, str]:
        """Settings that all training has."""
        other = self.other
        return {
            "another trainer": other(trainer=5),
            "another model": other(model=[]),
            "no budget": other(data={"steps": None}),
            "never log": other(trainer={"log_every_n_steps": 0}),
            "log backwards": other(trainer={"log_every_n_steps": -3}),
            "a negative seed": other(seed_everything=-1),
            "a large seed": other(seed_everything=2**32),
            "a seed that is true": other(seed_everything=True),
            "doubles": other(trainer={"precision": "64-true"}),
            "infinite payoff": other(
                data={"game": {"class_path": "Reaching", "init_args": {"payoffs": [1e39, 1, 1, 1]}}}
            ),
            "a grid larger than memory": other(data={"game": {"class_path": "Reaching", "init_args": {"size": 500}}}),
            "a field larger than memory": other(data={"game": {"class_path": "LBF", "init_args": {"size": 3000}}}),
            "a window larger than memory": other(data={"window": 10**9, "steps": 10**15}),
            "neurons larger than memory": other(model={"hidden": [10**6, 10**6]}),
            "entropy that is no number": other(model={"final_entropy_weight": float("nan")}),
            "negative entropy": other(model={"final_entropy_weight": -1.0}),
            "a list where a name is": other(lr_scheduler=[0] * 1000),
            "a size that is a list": other(data={"game": {"class_path": "LBF", "init_args": {"size": [0] * 1000}}}),
            "fewer than no machines": other(trainer={"num_nodes": -(2**63)}),
            "more batches than numbers": other(trainer={"overfit_batches": 1e308}),
            "less than a batch": other(trainer={"overfit_batches": 1e-46}),
            "a game without a name": other(data={"game": {}}),
            "a goal that is a page": other(
                data={"game": {"class_path": "Reaching", "init_args": {"goals": [[0, 0], "x" * 5000]}}}
            ),
            "four billion devices": other(trainer={"devices": 2**32}),
            "a strategy that is a page": other(trainer={"strategy": "x" * 5000}),
        }  # fmt: skip

    def of_populations(self) -> dict[str, str]:
        """Settings of populations alone."""
        other = self.other
        return {
            "no number of types": other(model={"n_types": None}),
            "no rows": other(data={"self_play_rows": None}),
            "rows larger than memory": other(data={"self_play_rows": 10**10}, ),
            "types larger than memory": other(model={"n_types": 10**6}),
            "a method without a number": other(
                model={"objective": {"class_path": "BRDiv", "init_args": {"rise": None}}}
            ),
            "a method with an endless one": other(
                model={"objective": {"class_path": "BRDiv", "init_args": {"patience": float("inf")}}}
            ),
            "episodes beyond all bounds": other(plastic={"episodes": 1e308}),
            "episodes of 400 digits": other(plastic={"episodes": 10**400}),
            "episodes larger than memory": other(cross_play={"episodes": 10**12}),
            "a limit beyond float32": other(trainer={"gradient_clip_val": 1e308}),
            "a return of nothing": other(
                model={"objective": {"class_path": "BRDiv", "init_args": {"full_return": 1e-46}}}
            ),
            "a weight beyond float32": other(model={"actor_weight": 1e39}),
            "a callable": other(model={"objective": "os.system"}),
        }  # fmt: skip

    def changed(self, ended: Ended) -> bool:
        """Configs have no checksum."""
        return False
