"""The examples with inputs: what every schedule is compared on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.oracle import Original, with_defines

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True)
class Workload:
    name: str
    file: str
    fn: str
    defines: dict
    variables: tuple
    outputs: tuple

    @property
    def path(self) -> Path:
        return EXAMPLES / self.file

    @property
    def text(self) -> str:
        return with_defines(self.path.read_text(), self.defines)

    def inputs(self, p: int, seed: int = 0) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        if self.file == "montgomery.c":
            return numbers(rng, p, self.defines["BITS"])
        name, dtype, shape = self.variables[0]
        a = rng.normal(size=(p, *shape)).astype(dtype)
        flat = a.reshape(-1)
        if flat.size:
            flat[rng.integers(0, flat.size, flat.size // 8)] = 0.5  # duplicates
            flat[rng.integers(0, flat.size, flat.size // 16)] = np.inf
            flat[rng.integers(0, flat.size, flat.size // 16)] = -0.0
            flat[rng.integers(0, flat.size, flat.size // 16)] = 0.0
        return {name: np.abs(a) if self.file == "floyd_warshall.c" else a}

    def expected(self, inputs: dict[str, np.ndarray], p: int) -> dict[str, np.ndarray]:
        everything = Original(self.text, self.fn, list(self.variables)).bulk(inputs, p)
        return {n: everything[n] for n in self.outputs}


def numbers(rng: np.random.Generator, p: int, bits: int) -> dict[str, np.ndarray]:
    """Montgomery operands: odd moduli with the top bit set, x and y below them."""
    m = rng.integers(0, 2**32, (p, bits // 32), dtype=np.uint32)
    m[:, 0] |= 1
    m[:, -1] |= 1 << 31
    x, y = (rng.integers(0, 2**32, m.shape, dtype=np.uint32) for _ in range(2))
    x[:, -1] &= 0x7FFFFFFF
    y[:, -1] &= 0x7FFFFFFF
    return {"x": x, "y": y, "m": m}


def _sorted(n: int) -> Workload:
    return Workload(f"bitonic-{n}", "bitonic_sort.c", "bitonic_sort", {"N": n}, (("a", "float32", (n,)),), ("a",))


def _paths(n: int) -> Workload:
    return Workload(f"fw-{n}", "floyd_warshall.c", "floyd_warshall", {"N": n}, (("D", "float32", (n, n)),), ("D",))


def _product(bits: int) -> Workload:
    limbs = tuple((v, "uint32", (bits // 32,)) for v in "xymr")
    return Workload(f"montgomery-{bits}", "montgomery.c", "montgomery", {"BITS": bits}, limbs, ("r",))


WORKLOADS = [
    _paths(16),
    _paths(64),
    _sorted(32),
    _sorted(1024),
    _product(512),
    _product(2048),
    Workload("prefix-1024", "prefix_sums.c", "prefix_sums", {}, (("b", "float32", (1024,)),), ("b",)),
]
SIZES = (1, 31, 32, 33, 1000)
