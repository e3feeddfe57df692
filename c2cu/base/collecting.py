"""Python's collector of cycles, and when it does not run."""

from __future__ import annotations

import gc
from collections.abc import Callable

from .setting import Setting


def _stopped() -> Callable[[], None]:
    was_on = gc.isenabled()
    gc.disable()
    return gc.enable if was_on else lambda: None


#: While trees of a program are built: they have no cycles to collect, and looking at every node of a large program
#: again and again takes a fifth of the time.
no_collection = Setting(_stopped).changed
