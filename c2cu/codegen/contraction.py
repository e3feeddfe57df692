"""Whether the compiler of device text may contract a product and a sum into one operation, rounded once.

c2cu compiles its kernels with --fmad=false. A whole program is compiled by its user, and nvcc contracts unless it is
told otherwise: products are calls of CUDA's there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_called: ContextVar[bool] = ContextVar("c2cu_called_products", default=False)


def plain_products() -> bool:
    """Whether a product of floats is printed as a plain ``*``."""
    return not _called.get()


@contextmanager
def called_products(called: bool = True) -> Iterator[None]:
    """While this lasts, text that is printed has calls for products of floats, which no compiler contracts."""
    token = _called.set(called)
    try:
        yield
    finally:
        _called.reset(token)
