"""The games for Stable-Baselines3, with a teammate inside, and its policies in the learner's seat."""

from brdiv.doors.stable_baselines3 import TeammateVecEnv, TrainedLearner, vec_env

__all__ = ["TeammateVecEnv", "TrainedLearner", "vec_env"]
