"""Kernels of the kinds that people bring, on one core: alignment, decoding, ciphers, hashes, tables, automata, search.

Beside each time: the same C compiled by `cc -O3 -march=native` and called in a loop over the same inputs, in the same
process and in turn, both by the processor's time. Medians, and the median of the ratios; all bits are compared.

    python benchmarks/real_work.py [--json FILE] [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.data_ended import measured  # sets the number of threads
from benchmarks.measure import cpu_name, options, save

Case = tuple[str, str, dict[str, np.ndarray], tuple[str, ...]]


def cases(rng: np.random.Generator, quick: bool) -> Iterator[Case]:
    """(title, program, inputs, outputs)"""
    p = 256 if quick else 65536

    def of_bytes(*shape: int, low: int = 0, high: int = 256) -> np.ndarray:
        return rng.integers(low, high, (p, *shape)).astype(np.uint8)

    def words(*shape: int) -> np.ndarray:
        return rng.integers(0, 1 << 32, (p, *shape), dtype=np.uint32)

    letters = of_bytes(48, high=4).astype(np.int8), of_bytes(48, high=4).astype(np.int8)
    yield "Needleman-Wunsch, signed char", "needleman_wunsch", {"x": letters[0], "y": letters[1]}, ("score",)
    yield "Smith-Waterman", "smith_waterman", {"q": of_bytes(48, high=4), "d": of_bytes(48, high=4)}, ("best",)
    texts = {"a": of_bytes(64, low=97, high=101), "b": of_bytes(64, low=97, high=101)}
    lengths = {n: rng.integers(20, 65, p).astype(np.int32) for n in ("la", "lb")}
    yield "Levenshtein with lengths", "levenshtein", {**texts, **lengths}, ("dist",)
    model = {"trans": rng.normal(size=(p, 8, 8)), "emit": rng.normal(size=(p, 8, 4))}
    seen = rng.integers(0, 4, (p, 32)).astype(np.int32)
    model = {n: a.astype(np.float32) for n, a in model.items()}
    yield "Viterbi, 8 states", "viterbi", {"obs": seen, **model}, ("path", "best")
    yield "game of life, 16 x 16, 8 turns", "life", {"g": of_bytes(16, 16, high=2)}, ("g",)
    yield "ChaCha20", "chacha20", {"key": words(8), "nonce": words(3)}, ("dst",)
    yield "SHA-256", "sha256", {"msg": of_bytes(64)}, ("h",)
    yield "AES-128 by an S-box", "aes", {"key": of_bytes(16), "src": of_bytes(16)}, ("dst",)
    yield "base64", "base64", {"src": of_bytes(48)}, ("dst",)
    yield "Mersenne twister", "mersenne_twister", {"seed": words()}, ("dst",)
    yield from of_the_library(rng, p)
    p = p // 64
    yield "queens with blocked squares", "queens", {"blocked": of_bytes(8, high=4)}, ("found",)


def of_the_library(rng: np.random.Generator, p: int) -> Iterator[Case]:
    """Kernels that call functions of math.h."""
    market = {"spot": (50, 150), "strike": (50, 150), "years": (0.1, 2), "rate": (0, 0.1), "volatility": (0.1, 0.6)}
    option = {name: rng.uniform(low, high, p) for name, (low, high) in market.items()}
    yield "Black-Scholes", "black_scholes", option, ("call", "put")
    yield "double pendulum, 20 steps of RK4", "pendulum", {"state": rng.uniform(-2, 2, (p, 4))}, ("state",)
    orbit = {"M": rng.uniform(0, np.pi, p), "e": rng.uniform(0, 0.95, p)}
    yield "Kepler's equation, the library's sine", "kepler_library", orbit, ("E",)
    gas = {"temperature": rng.uniform(800, 2500, p), "mole": rng.uniform(0, 1, (p, 8))}
    yield "reaction rates, 16 by Arrhenius", "arrhenius", gas, ("rate",)
    arm = {"angle": rng.uniform(-2, 2, (p, 7)), "length": rng.uniform(0.2, 1, (p, 7))}
    arm = {name: a.astype(np.float32) for name, a in arm.items()}
    yield "Jacobian of an arm of 7, float", "arm_jacobian", arm, ("jacobian", "tip")


def main(arguments: Sequence[str] | None = None) -> None:
    args = options(__doc__, arguments)
    rng = np.random.default_rng(0)
    print(f"{cpu_name()}; one core; microseconds an input, medians")
    print(f"{'workload':38} {'p':>7} {'schedule':8} {'c2cu':>9} {'gcc loop':>9} {'times':>6}")
    rows = []
    for case in cases(rng, args.quick):
        r = measured(*case, 1 if args.quick else 7)
        rows.append(r)
        print(
            f"{r['workload']:38} {r['p']:7} {r['schedule']:8} {r['c2cu_us']:9.4f} {r['gcc_us']:9.4f} {r['ratio']:6.2f}"
        )
    save(args.json, rows, cpu=cpu_name())


if __name__ == "__main__":
    main()
