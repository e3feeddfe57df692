"""The loop of Gaussian-elimination type that each schedule ``gep`` needs, or an error that says why there is none."""

from __future__ import annotations

from ...base import catalogue
from ...gep import Gep, NotGep
from ...ir.nodes import Kernel


def required(kernel: Kernel, found: Gep | NotGep | None) -> Gep:
    """Raises UnsupportedError for a kernel that is not of the type, with what stands in the way."""
    if found is None:
        raise catalogue.NO_GEP_LOOPS.error(kernel.loc)
    if isinstance(found, NotGep):
        raise catalogue.NOT_GEP.error(found.loc, reason=found.message)
    return found
