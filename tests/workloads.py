"""The examples and the benchmarks' programs with inputs: what every schedule is compared on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import c2cu
from tests.oracle import Original, with_defines

EXAMPLES = Path(__file__).parent.parent / "examples"
PROGRAMS = Path(__file__).parent.parent / "benchmarks" / "programs"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Workload:
    """A C file at one size. ``variables``, ``params``: (name, dtype, shape) of the globals and of the kernel's array
    parameters; ``returns``: the dtype of what it returns. ``shared``: names of which there is one copy for all."""

    name: str
    file: str
    fn: str
    defines: dict
    variables: tuple
    outputs: tuple
    params: tuple = ()
    returns: str = ""
    shared: tuple = ()

    @property
    def path(self) -> Path:
        return next(folder / self.file for folder in (EXAMPLES, PROGRAMS) if (folder / self.file).exists())

    @property
    def text(self) -> str:
        return with_defines(self.path.read_text(), self.defines)

    def compile(self, **options: Any) -> c2cu.Program:
        return c2cu.compile(self.path, defines=self.defines, shared=self.shared, **options)

    def random(self, p: int, seed: int = 0) -> Arrays:
        """Random inputs for p runs, without special values; a shared one has no dimension p."""
        rng = np.random.default_rng(seed)
        match self.file:
            case "montgomery.c":
                arrays = numbers(rng, p, self.defines["BITS"])
            case "fft.c":
                arrays = {"re": signal(rng, (p, self.defines["N"])), "im": signal(rng, (p, self.defines["N"]))}
                return {**arrays, **roots(self.defines["N"])}
            case "fir.c":
                return {n: signal(rng, (p, *shape) if n == "x" else shape) for n, _, shape in self.params if n != "y"}
            case "dct.c":
                arrays = {"block": rng.integers(-128, 128, (p, 64), dtype=np.int16)}
            case "edit_distance.c":
                arrays = {n: rng.integers(97, 101, (p, *shape), dtype=np.uint8) for n, _, shape in self.params}
            case "lu.c":
                n = self.defines["N"]
                arrays = {"A": signal(rng, (p, n, n)) + n * np.eye(n, dtype=np.float32)}
            case "stretch.c":
                arrays = {"key": rng.integers(0, 1 << 32, (p, 4), dtype=np.uint32)}
            case _:
                name, dtype, shape = self.variables[0]
                arrays = {name: rng.random((p, *shape), dtype=dtype)}
        return {n: a[0].copy() if n in self.shared else a for n, a in arrays.items()}

    def inputs(self, p: int, seed: int = 0) -> Arrays:
        """Random inputs for p runs; floats with duplicates, infinities, subnormals and zeros of both signs."""
        if self.file not in ("bitonic_sort.c", "floyd_warshall.c", "prefix_sums.c"):
            return self.random(p, seed)
        rng = np.random.default_rng(seed)
        name, dtype, shape = self.variables[0]
        a = rng.normal(size=(p, *shape)).astype(dtype)
        flat = a.reshape(-1)
        if flat.size:
            flat[rng.integers(0, flat.size, flat.size // 8)] = 0.5  # duplicates
            flat[rng.integers(0, flat.size, flat.size // 16)] = np.inf
            flat[rng.integers(0, flat.size, flat.size // 16)] *= np.float32(1e-40)  # subnormal
            flat[rng.integers(0, flat.size, flat.size // 16)] = -0.0
            flat[rng.integers(0, flat.size, flat.size // 16)] = 0.0
        return {name: np.abs(a) if self.file == "floyd_warshall.c" else a}

    def first(self, inputs: Arrays, p: int) -> Arrays:
        """The inputs of the first p runs."""
        return {n: a if n in self.shared else a[:p] for n, a in inputs.items()}

    def results(self, result: Any) -> dict[str, Any]:
        """What a program returned, by name."""
        return result if isinstance(result, dict) else {self.outputs[0]: result}

    def expected(self, inputs: Arrays, p: int) -> Arrays:
        """The outputs of gcc's build."""
        original = Original(self.text, self.fn, list(self.variables), list(self.params), self.returns)
        everything = original.bulk(
            {n: np.broadcast_to(a, (p, *a.shape)) if n in self.shared else a for n, a in inputs.items()}, p
        )
        return {n: everything[n] for n in self.outputs}


def numbers(rng: np.random.Generator, p: int, bits: int) -> Arrays:
    """Montgomery operands: odd moduli with the top bit set, x and y below them."""
    m = rng.integers(0, 2**32, (p, bits // 32), dtype=np.uint32)
    m[:, 0] |= 1
    m[:, -1] |= 1 << 31
    x, y = (rng.integers(0, 2**32, m.shape, dtype=np.uint32) for _ in range(2))
    x[:, -1] &= 0x7FFFFFFF
    y[:, -1] &= 0x7FFFFFFF
    return {"x": x, "y": y, "m": m}


def signal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Samples between -1 and 1."""
    a = rng.random(shape, dtype=np.float32)
    a *= 2
    a -= 1
    return a


def roots(n: int) -> Arrays:
    """The table that fft.c wants: cosine and sine of -2 pi k / n for k < n / 2."""
    w = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return {"wr": w.real.astype(np.float32), "wi": w.imag.astype(np.float32)}


def bitonic(n: int) -> Workload:
    return Workload(f"bitonic-{n}", "bitonic_sort.c", "bitonic_sort", {"N": n}, (("a", "float32", (n,)),), ("a",))


def paths(n: int) -> Workload:
    return Workload(f"fw-{n}", "floyd_warshall.c", "floyd_warshall", {"N": n}, (("D", "float32", (n, n)),), ("D",))


def lu(n: int) -> Workload:
    return Workload(f"lu-{n}", "lu.c", "lu", {"N": n}, (("A", "float32", (n, n)),), ("A",))


def product(bits: int, shared: tuple = ()) -> Workload:
    limbs = tuple((v, "uint32", (bits // 32,)) for v in "xymr")
    name = f"montgomery-{bits}" + "-shared" * bool(shared)
    return Workload(name, "montgomery.c", "montgomery", {"BITS": bits}, limbs, ("r",), shared=shared)


def fft(n: int) -> Workload:
    params = tuple((v, "float32", (n if v in ("re", "im") else n // 2,)) for v in ("re", "im", "wr", "wi"))
    return Workload(f"fft-{n}", "fft.c", "fft", {"N": n}, (), ("re", "im"), params, shared=("wr", "wi"))


def fir(n: int, taps: int) -> Workload:
    params = tuple((v, "float32", (length,)) for v, length in (("x", n + taps - 1), ("h", taps), ("y", n)))
    return Workload(f"fir-{n}", "fir.c", "fir", {"N": n, "TAPS": taps}, (), ("y",), params, shared=("h",))


def edit(n: int) -> Workload:
    params = tuple((v, "uint8", (n,)) for v in "ab")
    return Workload(f"edit-{n}", "edit_distance.c", "edit_distance", {"N": n}, (), ("return",), params, "int32")


def stretch(rounds: int) -> Workload:
    return Workload(
        f"stretch-{rounds}", "stretch.c", "stretch", {"ROUNDS": rounds}, (("key", "uint32", (4,)),), ("key",)
    )


WORKLOADS = [
    paths(16),
    paths(64),
    bitonic(32),
    bitonic(1024),
    product(512),
    product(2048),
    Workload("prefix-1024", "prefix_sums.c", "prefix_sums", {}, (("b", "float32", (1024,)),), ("b",)),
    product(512, shared=("m",)),
    fft(64),
    fft(1024),
    fir(1024, 64),
    Workload("dct-8x8", "dct.c", "dct", {}, (("block", "int16", (64,)),), ("block",)),
    edit(32),
    stretch(100),
]
CONSTANT_TIME = ("montgomery.c", "stretch.c", "prefix_sums.c", "fft.c", "fir.c", "dct.c")
SIZES = (1, 31, 32, 33, 1000)
