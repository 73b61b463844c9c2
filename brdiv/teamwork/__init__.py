"""Whoever sits in a seat, learned, scripted or learning, and one loop that lets them play."""

from brdiv.teamwork.beliefs import beliefs_about
from brdiv.teamwork.plastic import Learner, Plastic
from brdiv.teamwork.play import GAMMA, Episodes, Turn, all_pairs, cross_play, play, play_pairs, strategies
from brdiv.teamwork.policies import LearnedPolicies, RandomPolicies, SeveralPolicies, both_seats
from brdiv.teamwork.recording import Recorder

__all__ = [
    "GAMMA",
    "Episodes",
    "LearnedPolicies",
    "Learner",
    "Plastic",
    "RandomPolicies",
    "Recorder",
    "SeveralPolicies",
    "Turn",
    "all_pairs",
    "beliefs_about",
    "both_seats",
    "cross_play",
    "play",
    "play_pairs",
    "strategies",
]
