"""What a user would call instead, on the same arrays: sorts, transforms, sums, factors of NumPy, CuPy, PyTorch; and
what they would write in array operations, PyTorch and JAX to compile them.

A peer is prepared with a workload's inputs, outside of the clock, and returns what is timed; `read` turns what that
returned into outputs by the C's names. JAX runs on streams of its own, which CuPy's events do not see: it gets the
device's arrays by DLPack, and its time is the host's clock until the last of several calls is ready, by call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


class Missing(Exception):
    """The peer is not installed here."""


@dataclass(frozen=True)
class Peer:
    """``prepare``: (array module, inputs) -> the call to time. ``read``: (array module, its result) -> outputs.
    ``wait``: until a result is there, for a library that has streams of its own."""

    backend: str
    prepare: Callable[[Any, Mapping[str, Any]], Callable[[], Any]]
    read: Callable[[Any, Any], dict[str, Any]]
    wait: Callable[[Any], object] | None = None


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise Missing("no torch") from None
    if not torch.cuda.is_available():
        raise Missing("torch sees no device")
    torch.backends.cudnn.allow_tf32 = False  # as precise as the C
    return torch


def _jax() -> Any:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else it takes most of the device's memory
    try:
        import jax
    except ImportError:
        raise Missing("no jax") from None
    if jax.default_backend() != "gpu":
        raise Missing("jax sees no device")
    return jax


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


def step(minimum: Callable[[Any, Any], Any], d: Any, k: int) -> Any:
    """Step k of Floyd-Warshall on (p, n, n) distances."""
    return minimum(d, d[:, :, k, None] + d[:, k, None, :])


def steps(minimum: Callable[[Any, Any], Any], d: Any) -> Any:
    """One after the other on whole arrays."""
    for k in range(d.shape[-1]):
        d = step(minimum, d, k)
    return d


def _paths(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: steps(xp.minimum, inputs["D"])


def _torch_paths(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    d = torch.from_dlpack(inputs["D"])
    return lambda: steps(torch.minimum, d)


def _torch_compiled_paths(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    d = torch.from_dlpack(inputs["D"])
    compiled = torch.compile(lambda d: steps(torch.minimum, d), dynamic=False)  # the loop is written out
    return lambda: compiled(d)


def _torch_compiled_step(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    torch = _torch()
    d = torch.from_dlpack(inputs["D"])
    ks = [torch.tensor([k], device=d.device) for k in range(d.shape[-1])]  # each number would be compiled for itself
    compiled = torch.compile(lambda d, k: torch.minimum(d, d.index_select(2, k) + d.index_select(1, k)), dynamic=False)

    def call() -> Any:
        result = d
        for k in ks:
            result = compiled(result, k)
        return result

    return call


def _jax_paths(xp: Any, inputs: Mapping[str, Any]) -> Callable[[], Any]:
    jax = _jax()
    lax, d = jax.lax, jax.dlpack.from_dlpack(inputs["D"])
    n = d.shape[-1]

    def step(k: Any, d: Any) -> Any:
        return lax.min(d, lax.dynamic_slice(d, (0, k), (n, 1)) + lax.dynamic_slice(d, (k, 0), (1, n)))

    compiled = jax.jit(jax.vmap(lambda d: lax.fori_loop(0, n, step, d)))
    return lambda: compiled(d)


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
    """Reads an array, or one of PyTorch or JAX."""
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
    "jax.vmap": Peer("cuda", _jax_paths, _named("D"), lambda a: a.block_until_ready()),
    "torch.compile": Peer("cuda", _torch_compiled_paths, _named("D")),
    "torch.compile(step)": Peer("cuda", _torch_compiled_step, _named("D")),
    "torch.steps": Peer("cuda", _torch_paths, _named("D")),
    "numpy.steps": Peer("cpu", _paths, _named("D")),
}
