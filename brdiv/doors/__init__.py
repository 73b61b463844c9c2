"""How others use what was learned: Gymnasium, PettingZoo, Stable-Baselines3, ONNX and Python.

One file per library, imported only by who asks for it: `import brdiv` comes through here.
"""
