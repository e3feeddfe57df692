"""The loop of Gaussian-elimination type that each schedule ``gep`` needs, or an error that says why there is none."""

from __future__ import annotations

from ...base import catalogue
from ...gep import Gep, NotGep
from ...ir.nodes import Kernel


def require_gep(kernel: Kernel, recognised: Gep | NotGep | None) -> Gep:
    """``recognised``, the result of `c2cu.gep.recognise`, where that is such a loop. Raises UnsupportedError with the
    reason for any other kernel."""
    if recognised is None:
        raise catalogue.NO_GEP_LOOPS.error(kernel.loc)
    if isinstance(recognised, NotGep):
        raise catalogue.NOT_GEP.error(recognised.loc, reason=recognised.message)
    return recognised
