"""What a user would call instead, on the same arrays: sorts, transforms, sums, factors of NumPy, CuPy, PyTorch.

A peer is prepared with a workload's inputs, outside of the clock, and returns what is timed; `read` turns what that
returned into outputs by the C's names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


class Missing(Exception):
    """The peer is not installed here."""


@dataclass(frozen=True)
class Peer:
    """``prepare``: (array module, inputs) -> the call to time. ``read``: (array module, its result) -> outputs."""

    backend: str
    prepare: Callable[[Any, Mapping[str, Any]], Callable[[], Any]]
    read: Callable[[Any, Any], dict[str, Any]]


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise Missing("no torch") from None
    if not torch.cuda.is_available():
        raise Missing("torch sees no device")
    torch.backends.cudnn.allow_tf32 = False  # as precise as the C
    return torch


def _torch_sort(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    a = torch.from_dlpack(inputs["a"])
    return lambda: torch.sort(a, dim=1).values


def _torch_cumsum(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    b = torch.from_dlpack(inputs["b"])
    return lambda: torch.cumsum(b, dim=1)


def _torch_conv1d(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    x = torch.from_dlpack(inputs["x"])[:, None, :]
    h = torch.from_dlpack(xp.ascontiguousarray(inputs["h"][::-1]))[None, None, :]
    return lambda: torch.nn.functional.conv1d(x, h)[:, 0, :]


def _torch_lu(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    a = torch.from_dlpack(inputs["A"])
    return lambda: torch.linalg.lu_factor_ex(a, pivot=False).LU


def _sort(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: xp.sort(inputs["a"], axis=1)


def _cumsum(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: xp.cumsum(inputs["b"], axis=1)


def _fft(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    z = inputs["re"] + inputs["im"] * xp.complex64(1j)
    return lambda: xp.fft.fft(z, axis=1)


def _windows(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    windows = np.lib.stride_tricks.sliding_window_view(inputs["x"], len(inputs["h"]), axis=1)
    return lambda: windows @ inputs["h"][::-1]


def _named(name: str) -> Callable[[Any, Any], dict[str, Any]]:
    """Reads an array, or a tensor of PyTorch."""
    return lambda xp, a: {name: a if isinstance(a, xp.ndarray) else xp.from_dlpack(a)}


def _complex(xp: Any, z: Any) -> dict[str, Any]:
    return {n: xp.ascontiguousarray(a).astype(np.float32) for n, a in (("re", z.real), ("im", z.imag))}


PEERS = {
    "torch.sort": Peer("cuda", _torch_sort, _named("a")),
    "cupy.sort": Peer("cuda", _sort, _named("a")),
    "numpy.sort": Peer("cpu", _sort, _named("a")),
    "torch.cumsum": Peer("cuda", _torch_cumsum, _named("b")),
    "cupy.cumsum": Peer("cuda", _cumsum, _named("b")),
    "numpy.cumsum": Peer("cpu", _cumsum, _named("b")),
    "cupy.fft": Peer("cuda", _fft, _complex),
    "numpy.fft": Peer("cpu", _fft, _complex),
    "torch.lu": Peer("cuda", _torch_lu, _named("A")),
    "torch.conv1d": Peer("cuda", _torch_conv1d, _named("y")),
    "numpy.windows": Peer("cpu", _windows, _named("y")),
}
