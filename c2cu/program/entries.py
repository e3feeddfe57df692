"""Entries of the cache that hold objects of this package."""

from __future__ import annotations

import io
import pickle
from typing import Any

from ..base.cache import Cache

SUFFIX = ".kept"


class _Unpickler(pickle.Unpickler):
    """It makes what `keep` writes, and nothing that could act."""

    def find_class(self, module: str, name: str) -> type:
        if module.partition(".")[0] in ("c2cu", "pathlib", "builtins"):
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{module}.{name}")


def recalled(name: str) -> Any:
    """What was kept by that name, None if nothing was."""
    try:
        content = Cache().get(name, SUFFIX)
        return _Unpickler(io.BytesIO(content)).load() if content is not None else None
    except Exception:  # of another version of Python, or of a library
        return None


def keep(name: str, value: Any) -> None:
    """Keep a value, if it can be written down and there is room."""
    try:
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:  # it has what belongs to this process
        return
    Cache().store(name, SUFFIX, content)
