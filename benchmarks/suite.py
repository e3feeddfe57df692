"""The table of what is measured: workloads, how many inputs, and the targets on one NVIDIA H200."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.workloads import WORKLOADS, Workload, bitonic, lu, paths

K, M = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Case:
    """``quick``: p for a run that only tests. ``fps``: the values of fp=. ``peers``: names in `peers.PEERS`.

    Targets: ``ms`` by fp; ``share``: of the device's copy rate, at least; ``faster``: than a peer, so many times.
    ``tolerance``: what results may differ by where fp is not exact, as a share of the largest number; 0: not at all.
    """

    workload: Workload
    p: int
    quick: int = 40
    fps: tuple[str, ...] = ("exact", "fast")
    peers: tuple[str, ...] = ()
    ms: Mapping[str, float] = field(default_factory=dict)
    share: float = 0.0
    faster: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0

    @property
    def name(self) -> str:
        return self.workload.name


_BY_NAME = {w.name: w for w in WORKLOADS}
_SORTS = ("torch.sort", "numpy.sort")
_SUMS = ("torch.cumsum", "cupy.cumsum", "numpy.cumsum")
_FFTS = ("cupy.fft", "numpy.fft")
_CONVOLUTIONS = ("torch.conv1d", "numpy.windows")
_STEPS = ("jax.vmap", "torch.compile", "torch.compile(step)", "torch.steps", "numpy.steps")
_EXACT = ("exact",)  # of integers

CASES = (
    Case(
        _BY_NAME["bitonic-32"],
        4 * M,
        peers=("cupy.sort", *_SORTS),
        ms={"exact": 0.36, "fast": 0.33},
        faster={"torch.sort": 12},
    ),
    Case(_BY_NAME["bitonic-1024"], 128 * K, peers=_SORTS, ms={"fast": 1.2}, faster={"torch.sort": 3}),
    Case(bitonic(32768), 4 * K, quick=2, peers=_SORTS, ms={"fast": 4.0}),
    Case(_BY_NAME["montgomery-512"], 2 * M, fps=_EXACT, ms={"exact": 0.20}, share=0.60),
    Case(_BY_NAME["montgomery-512-shared"], 2 * M, fps=_EXACT, ms={"exact": 0.20}, share=0.60),
    Case(_BY_NAME["fw-16"], 128 * K, peers=_STEPS, ms={"exact": 0.11, "fast": 0.10}),
    Case(
        _BY_NAME["fw-64"],
        16 * K,
        peers=_STEPS,
        ms={"exact": 0.62, "fast": 0.40},
        faster={"jax.vmap": 20, "torch.compile": 20},
    ),
    Case(paths(256), K, quick=2, ms={"exact": 3.0, "fast": 1.8}),
    Case(lu(32), 64 * K, peers=("torch.lu",), faster={"torch.lu": 1}, tolerance=1e-5),
    Case(_BY_NAME["prefix-1024"], 128 * K, peers=_SUMS, share=0.5, tolerance=1e-5),
    Case(_BY_NAME["fft-64"], 64 * K, peers=_FFTS, tolerance=1e-5),
    Case(_BY_NAME["fft-1024"], 64 * K, peers=_FFTS, tolerance=1e-5),
    Case(_BY_NAME["fir-1024"], 64 * K, peers=_CONVOLUTIONS, tolerance=1e-5),
    Case(_BY_NAME["dct-8x8"], 1 * M, fps=_EXACT),
    Case(_BY_NAME["edit-32"], 1 * M, fps=_EXACT),
)
