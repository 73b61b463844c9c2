"""Whoever sits in a seat, learned, scripted or learning, and one loop that lets them play."""

from brdiv.teamwork.beliefs import beliefs_about
from brdiv.teamwork.plastic import Learner, Plastic
from brdiv.teamwork.play import GAMMA, Episodes, Turn, all_pairs, cross_play, play, play_pairs
from brdiv.teamwork.policies import LearnedPolicies, NoisyPolicies, RandomPolicies, SeveralPolicies, both_seats
from brdiv.teamwork.recording import Recorder
from brdiv.teamwork.rotation import Candidate, Rotation
from brdiv.teamwork.strategies import TeamStrategy, team_strategies
from brdiv.teamwork.trained import TrainedLearner

__all__ = [
    "GAMMA",
    "Candidate",
    "Episodes",
    "LearnedPolicies",
    "Learner",
    "NoisyPolicies",
    "Plastic",
    "RandomPolicies",
    "Recorder",
    "Rotation",
    "SeveralPolicies",
    "TeamStrategy",
    "TrainedLearner",
    "Turn",
    "all_pairs",
    "beliefs_about",
    "both_seats",
    "cross_play",
    "play",
    "play_pairs",
    "team_strategies",
]
