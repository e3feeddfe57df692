"""The passes of schedule ``gang``."""

from __future__ import annotations

from ...base import toolchain
from ...codegen.division import is_by_constant
from ...ir.nodes import Kernel
from ...ir.passes import Pass
from ...ir.simplify import unread
from ...transform.common import common
from ...transform.early import lanes_ended
from ...transform.narrow import narrow
from ...transform.pairs import pairs
from ...transform.propagate import propagate
from ...transform.scalarize import scalarize
from ...transform.unroll import unroll_by_profit
from ..deferred import repeatable
from .fours import fours
from .select import selects
from .text import FEW_DIVISIONS, by_products


def divided(kernel: Kernel) -> Kernel:
    """What divides by constants as it can be done twice, where that is done by products."""
    by = by_products(toolchain.vector_bytes())
    return repeatable(kernel, is_by_constant, FEW_DIVISIONS, calls=False) if by else kernel


#: What a kernel goes through before it is analysed once more and printed.
PASSES: tuple[Pass, ...] = (
    ("ends", lanes_ended),
    ("unread", unread),
    ("propagate", propagate),
    ("unroll", unroll_by_profit),
    ("scalarize", scalarize),
    ("select", selects),
    ("common", common),
    ("pairs", pairs),
    ("narrow", narrow),
    ("fours", fours),
    ("repeatable", divided),
)
