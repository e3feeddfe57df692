"""How text calls a matrix, always behind a prefix: ``x_D``."""

from __future__ import annotations

import re

from ...codegen.cuda import region_name
from ...ir.nodes import Region

# The ends of `region_name`, and of what `codegen.cuda.variable_name` calls variables.
_TAKEN = re.compile(r"(_at(\d+(x\d+)*)?|_u?\d+)$")


def matrix_name(r: Region) -> str:
    """A region's name as in C, unless that could be another's name too."""
    return region_name(r) if "." in r.name or _TAKEN.search(r.name) else r.name
