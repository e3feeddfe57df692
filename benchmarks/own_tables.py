"""Programs that compute what is the same for all inputs: tables that they fill when first needed, calls of math.h that
no input decides. On one core, beside gcc's own loop, which fills such a table once; see data_ended.py.

    python benchmarks/own_tables.py [--json FILE] [--quick]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.data_ended import measured, show
from benchmarks.measure import cpu_name, options, save


def cases(rng: np.random.Generator, quick: bool) -> Iterator[tuple[str, str, dict[str, np.ndarray], tuple[str, ...]]]:
    """(title, program, inputs, outputs)"""
    p = 320 if quick else 65_536
    text = rng.integers(0, 256, (p, 64)).astype(np.uint8)
    yield "CRC-32, a table under a flag", "crc32_filled", {"text": text}, ("crc",)
    yield "Reed-Solomon, logarithms filled once", "reed_solomon", {"message": text[:, :48].copy()}, ("check",)
    x = rng.standard_normal((p, 64)).astype(np.float32)
    yield "energy under a Hann window", "window", {"x": x}, ("energy",)
    p = p // 16
    yield "cosine transform, as in textbooks", "dct_textbook", {"sample": x[:p].reshape(p, 8, 8)}, ("coefficient",)
    z = rng.standard_normal((2, p, 32))
    yield "Fourier transform, by its definition", "dft", {"re": z[0], "im": z[1]}, ("out_re", "out_im")


def main(arguments: Sequence[str] | None = None) -> None:
    args = options(__doc__, arguments)
    rows = [measured(*case, 1 if args.quick else 15) for case in cases(np.random.default_rng(0), args.quick)]
    show(rows)
    save(args.json, rows, machine=cpu_name())


if __name__ == "__main__":
    main()
