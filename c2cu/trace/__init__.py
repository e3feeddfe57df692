"""The exact trace: what a program touches, found by running what does not depend on data (once, for all inputs)."""

from .faults import diagnosed, refuse_faults
from .run import BUDGET, Event, sequence, trace

__all__ = ["BUDGET", "Event", "diagnosed", "refuse_faults", "sequence", "trace"]
