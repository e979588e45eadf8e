"""The main job: train on real input, report beside baselines, draw what happened.

Here: everything `make demo` does. `tense_classifier.py` is the page to read; `run.py` strings the
parts together, `plots.py`, `report.py`, `progress.py` and `files.py` are the parts.
"""

from minitorch.demo.run import Settings, run_demo
from minitorch.demo.tense_classifier import TenseRun, train_tense

__all__ = ["Settings", "TenseRun", "run_demo", "train_tense"]
