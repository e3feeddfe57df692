"""What every schedule ``gep`` wants: the type."""

from __future__ import annotations

from ...base.diagnostics import UnsupportedError
from ...gep import Gep, NotGep
from ...ir.nodes import Kernel

CODE = "C2CU038"


def required(kernel: Kernel, found: Gep | NotGep | None) -> Gep:
    """Raises UnsupportedError for a kernel that is not of the type, with what stands in the way."""
    if found is None:
        raise UnsupportedError(CODE, "it has no three loops in one another that write a matrix", kernel.loc)
    if isinstance(found, NotGep):
        raise UnsupportedError(CODE, f"not of Gaussian-elimination type: {found.message}", found.loc)
    return found
