"""The passes of schedule ``gang``."""

from __future__ import annotations

from ...ir.passes import Pass
from ...transform.common import common
from ...transform.early import lanes_ended
from ...transform.narrow import narrow
from ...transform.propagate import propagate
from ...transform.scalarize import scalarize
from ...transform.sincos import sincos
from ...transform.unroll import unroll_by_profit
from .fours import fours
from .select import selects

#: What a kernel goes through before it is analysed once more and printed.
PASSES: tuple[Pass, ...] = (
    ("ends", lanes_ended),
    ("propagate", propagate),
    ("unroll", unroll_by_profit),
    ("scalarize", scalarize),
    ("select", selects),
    ("common", common),
    ("sincos", sincos),
    ("narrow", narrow),
    ("fours", fours),
)
