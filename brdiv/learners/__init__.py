"""Learners that are trained: recurrent PPO, and what methods add to it, with any mix of frozen teammates."""

from brdiv.learners.data import LearnerData
from brdiv.learners.liam import LIAM
from brdiv.learners.methods import PPO, LearnerSizes
from brdiv.learners.module import LearnerModule

__all__ = ["LIAM", "PPO", "LearnerData", "LearnerModule", "LearnerSizes"]
