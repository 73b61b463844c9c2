"""Hostile files of text that people write or pass on: studies, recorded episodes, bounds of games."""

import copy
import json
import os
import random
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import yaml

from brdiv.evaluation.bounds import FOLDER
from brdiv.games import Reaching
from brdiv.runs import PlayedEpisode
from tests.fuzzing import Accept
from tests.fuzzing.configs import LAUGHS
from tests.fuzzing.mutations import mutate_bytes, mutate_value
from tests.fuzzing.worker import Ended
from tests.study.small_study import TINY


class TextFiles:
    """Files made from one value, and what may come of them."""

    name = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / self.name
        self.value = self.whole()

    @abstractmethod
    def whole(self) -> Any:
        """The value of a file as it should be."""

    @abstractmethod
    def text(self, value: Any) -> str:
        """The file of a value."""

    @abstractmethod
    def command(self) -> list[str]:
        """What loads it."""

    @abstractmethod
    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""

    def cases(self, luck: random.Random, number: int) -> Iterator[tuple[str, Accept]]:
        """Write hand-made files, then mutated ones; any of these may be accepted that says something sensible."""
        os.mkfifo(self.path)
        yield "a pipe", Accept.NONE
        self.path.unlink()
        self.path.symlink_to("/dev/zero")
        yield "a device", Accept.NONE
        self.path.unlink()
        for name, text in self.hand_made().items():
            self.path.write_text(text, encoding="utf-8", errors="surrogatepass")
            yield name, Accept.NONE
        text = self.text(self.value).encode()
        for _ in range(number):
            if luck.random() < 0.3:
                self.path.write_bytes(mutate_bytes(text, luck))
                yield "bytes", Accept.ANY
            else:
                changed, name = mutate_value(self.value, luck)
                self.path.write_text(self.text(changed), encoding="utf-8", errors="surrogatepass")
                yield name, Accept.ANY

    def changed(self, ended: Ended) -> bool:
        """Text has no checksum."""
        return False


class StudyFiles(TextFiles):
    """Studies: everything is checked, and nothing trained."""

    name = "case.yaml"

    def whole(self) -> Any:
        """A study of two methods on a game, and one of another."""
        return {
            "games": ["reaching"],
            "methods": ["base", "independent"],
            "seeds": "0-1",
            "overrides": TINY,
            "also": [{"games": "configs/reaching.yaml", "methods": "lipo", "seeds": [3, 4]}],
            "threads": 1,
            "gpus": 0,
            "evaluation": {"episodes": 2, "generated_episodes": 2, "cross_play_episodes": 4, "seed": 0},
        }

    def text(self, value: Any) -> str:
        """The file of a value."""
        return yaml.safe_dump(value)

    def command(self) -> list[str]:
        """Check it."""
        return ["check study", str(self.path), str(self.folder / "study")]

    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""

        def other(**changes: object) -> str:
            return yaml.safe_dump({**self.value, **changes})

        return {
            "empty": "",
            "a million laughs": LAUGHS,
            "an alias to itself": "games: &a [*a]\n",
            "overrides in themselves": "games: reaching\nmethods: base\noverrides: &a {data: *a}\n",
            "deep lists": "games: " + "[" * 5000 + "]" * 5000,
            "a list": "[1, 2]",
            "code": "games: !!python/object/apply:os._exit [3]\n",
            "no games": other(games=[]),
            "a game that is a number": other(games=[3]),
            "a game that is a page": other(games=["x" * 5000]),
            "a game of long folders": other(games=["x/" * 5000]),
            "a game with a null byte": other(games=["a\0b"]),
            "a game that is a folder": other(games=["/"]),
            "a game that is a device": other(games=["/dev/zero"]),
            "a game outside of the folder": other(games=["../../etc/passwd"]),
            "a method with an escape": other(methods=["\x1b[31mred"]),
            "a billion seeds": other(seeds="0-1000000000"),
            "a seed of 400 digits": other(seeds=10**400),
            "a seed of more digits than Python reads": other(seeds="many").replace("many", "9" * 5000),
            "threads of more digits than Python writes": other(threads="many").replace("many", f"0x{'f' * 5000}"),
            "a large seed": other(seeds=2**32),
            "a negative seed": other(seeds=[-1]),
            "seeds backwards": other(seeds="9-1"),
            "seeds that are a page": other(seeds="1," * 5000),
            "seeds of a page": other(seeds=["x" * 5000]),
            "overrides that are false": other(overrides=False),
            "overrides that are a list": other(overrides=[1]),
            "overrides of a number": other(overrides={3: 4}),
            "overrides of null": other(overrides={None: {None: 1}}),
            "overrides of what is none": other(overrides={"trainer": 5}),
            "no threads": other(threads=0),
            "a billion threads": other(threads=10**9),
            "threads that are no number": other(threads=float("nan")),
            "gpus that are no number": other(gpus=float("nan")),
            "endless gpus": other(gpus=float("inf")),
            "gpus of 400 digits": other(gpus=10**400),
            "blocks that are null": other(also=[None]),
            "a block that is a page": other(also=["x" * 5000]),
            "a setting that is a page": other(**{"x" * 5000: 1}),
            "episodes of 400 digits": other(evaluation={"episodes": 10**400}),
            "episodes larger than memory": other(evaluation={"episodes": 10**12}),
            "a measure that is a page": other(evaluation="x" * 5000),
            "a budget without end": other(overrides={"data": {"steps": 10**30}}),
            "more checkpoints than a disk has room for": other(overrides={"checkpoints": {"keep": 10**12}}),
        }


class EpisodeFiles(TextFiles):
    """Episodes that people played, to be shown again."""

    name = "case.jsonl"

    def whole(self) -> Any:
        """A short episode."""
        generator = torch.Generator().manual_seed(0)
        game = Reaching(horizon=6)
        state = game.initial(1, generator)
        views, actions, rewards = [game.view(state)[0].tolist()], [], []
        for _ in range(6):
            action = torch.randint(game.n_actions, (1, 2), generator=generator)
            state, reward, _ = game.step(state, action)
            views.append(game.view(state)[0].tolist())
            actions.append(action[0].tolist())
            rewards.append(float(reward))
        return json.loads(PlayedEpisode(game, ("H1", "person"), views, actions, rewards, False).to_line())

    def text(self, value: Any) -> str:
        """The file of a value."""
        return json.dumps(value)

    def command(self) -> list[str]:
        """Show it."""
        return ["play", "--replay", str(self.path)]

    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""

        def other(**changes: object) -> str:
            return json.dumps({**self.value, **changes})

        def game(name: str = "Reaching", module: str = "brdiv.games", /, **settings: object) -> str:
            return other(game={"name": name, "module": module, "settings": settings})

        huge = copy.deepcopy(self.value["views"])
        huge[0][0][0] = 2**70
        return {
            "empty": "",
            "a lone half of a sign": "\ud800",
            "deep lists": "[" * 100_000,
            "deep views": other(views=0)[:-1].replace('"views": 0', '"views": ' + "[" * 5000 + "]" * 5000) + "}",
            "a number of a million digits": '{"format": ' + "9" * 10**6 + "}",
            "a format that is true": other(format=True),
            "a format of none": other(format=float("nan")),
            "a line without end": '{"format": 1, "seats": "' + "x" * 11_000_000 + '"}',
            "a grid larger than memory": game(size=500),
            "an episode without end": game(horizon=10**15),
            "a field of a thousand": game("LBF", size=1000, foods=1),
            "a game of another module": game("Popen", "subprocess"),
            "an external environment": game("PettingZoo", "brdiv.rollouts", module="antigravity"),
            "an abstract game": game("Game"),
            "a game with an escape": game("\x1b[31mred"),
            "views of the wrong place": other(views=[[[-1] * 8] * 2] * 7),
            "views that are no numbers": other(views=[[[float("nan")] * 8] * 2] * 7),
            "views of 70 bits": other(views=huge),
            "views that are null": other(views=None),
            "ragged views": other(views=[*self.value["views"][:-1], [[1]]]),
            "actions that are true": other(actions=[[True, False]] * 6),
            "actions of halves": other(actions=[[0.5, 0.5]] * 6),
            "actions of 70 bits": other(actions=[[2**70, 0]] * 6),
            "rewards that are no numbers": other(rewards=[float("nan")] * 6),
            "endless rewards": other(rewards=[float("inf")] * 6),
            "rewards that are text": other(rewards=["0"] * 6),
            "a hundred seats": other(seats=["x"] * 100),
            "seats that are lists": other(seats=[[], {}]),
            "an end that is a number": other(won=0),
        }


class BoundsFiles(TextFiles):
    """Bounds of a game, as `brdiv bounds` writes them."""

    name = "reaching.json"

    def whole(self) -> Any:
        """The bounds that are shipped."""
        return json.loads((FOLDER / self.name).read_text())

    def text(self, value: Any) -> str:
        """The file of a value."""
        return json.dumps(value)

    def command(self) -> list[str]:
        """Read it."""
        return ["read bounds", str(self.folder)]

    def hand_made(self) -> dict[str, str]:
        """Files that someone thought about."""

        def other(**changes: object) -> str:
            return json.dumps({**self.value, **changes})

        def bound(value: object) -> str:
            return other(bounds={"H1": {"mean_return": value}})

        return {
            "empty": "",
            "a list": "[]",
            "deep lists": "[" * 100_000,
            "a number of a million digits": '{"game": ' + "9" * 10**6 + "}",
            "a file without end": " " * (8 << 20),
            "no game": json.dumps({"bounds": {}}),
            "a game that is null": other(game=None),
            "no bounds": json.dumps({"game": self.value["game"]}),
            "bounds that are a list": other(bounds=[1]),
            "a bound that is a number": other(bounds={"H1": 1.0}),
            "a bound without a return": other(bounds={"H1": {}}),
            "a return that is null": bound(None),
            "a return that is text": bound("0.5"),
            "a return that is true": bound(True),
            "a return that is no number": bound(float("nan")),
            "an endless return": bound(float("inf")),
            "a return of 400 digits": bound(10**400),
        }
