"""The help of `brdiv fit`, to be read from the top: our own settings first, Lightning's after them, no markup."""

import re
from argparse import SUPPRESS, Action
from typing import Any

from jsonargparse import DefaultHelpFormatter
from jsonargparse._link_arguments import ActionLink

TITLES = {
    "ckpt_path": "resuming",
    "teammates": "teammates: who is played with",
    "data": "data: what is played, and how much of it",
    "model": "model: the networks, and how they learn",
    "progress": "progress: what is shown while a run trains",
    "cross_play": "cross_play: the matrix of all pairs, measured now and then and at the end",
    "plastic": "plastic: a learner with the game's heuristics, measured now and then and at the end",
    "evaluation": "evaluation: the learner with each of its teammates, measured now and then and at the end",
    "rewards": "rewards: a warning if they never vary",
    "checkpoints": "checkpoints: what a run resumes from",
    "trainer": "trainer: Lightning's own settings",
    "optimizer": "optimizer: one of torch's",
    "lr_scheduler": "lr_scheduler: one of torch's",
}
"""What each group of settings is about, in the order in which they are read; any others come before the last three."""

HELP = {
    "config": "Config file, or the name of a shipped one. Of several, later ones win.",
    "print_config": "Print every setting as a config, and exit.",
    "seed_everything": "Seed of the run.",
    "ckpt_path": "Checkpoint to resume from: a file, or `last` for the newest whole one of the run's folder.",
    "weights_only": SUPPRESS,
}
"""Help texts that are Lightning's, or a parser's, and say too much or too little here."""

MARKUP = (
    (r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1"),
    (r"``", "`"),
    (r"(\. Default: `[^`]*`)+\. \(", ". ("),
    (r"<class '(?:[\w.]*\.)?(\w+)'>", r"\1"),
    (r"\b(?:brdiv|lightning|torch)\.(?:\w+\.)*(?=[A-Z])", ""),
    (r"(known subclasses: )(?:Playable|Objective|PPO), ", r"\1"),
    (r"\b(?:Optional\[(\w+)\])", r"\1 | null"),
)
"""What stands in docstrings for other readers than those of a terminal, and what is left of it."""


class PlainHelp(DefaultHelpFormatter):
    """Help texts without markup and import paths."""

    def _expand_help(self, action: Action) -> str:
        text: str = super()._expand_help(action)
        for pattern, plain in MARKUP:
            text = re.sub(pattern, plain, text)
        return text


def tidy(parser: Any) -> None:
    """Put the groups of a parser's options in order, name them, and leave out what nobody needs to read."""
    order = list(TITLES)
    last = order.index("trainer")

    def place(group: Any) -> float:
        name = group_name(group)
        return order.index(name) if name in TITLES else -1 if group.title in {None, "options"} else last - 0.5

    parser.formatter_class = PlainHelp
    # What is set by another setting can't be given.
    parser._action_groups = [group for group in parser._action_groups if not is_linked(group)]
    for group in parser._action_groups:
        group.title = TITLES.get(group_name(group), group.title)
        for action in group._group_actions:
            action.help = HELP.get(action.dest, action.help)
            if action.option_strings == [f"--{group_name(group)}"] and action.metavar == "CONFIG":
                action.help = SUPPRESS
    parser._action_groups.sort(key=place)


def is_linked(group: Any) -> bool:
    """Whether a group has only settings that follow from others."""
    return bool(group._group_actions) and all(isinstance(action, ActionLink) for action in group._group_actions)


def group_name(group: Any) -> str:
    """Name a group after the key that its settings stand under."""
    return str(group._group_actions[0].dest).partition(".")[0] if group._group_actions else ""
