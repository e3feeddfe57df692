"""Long kernels, which gang prints as several functions: the bits are those of the C, whatever crosses from one to the next."""

import random

import numpy as np
import pytest

import c2cu
from c2cu.schedule.gang import parts

P = 19
LENGTH = 60


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(parts, "LENGTH", LENGTH)


def row(rng: random.Random, k: int) -> str:
    """A statement of the kernel; its operands are mostly of the statements around, some from far away."""

    def number() -> str:
        near = max(0, k - rng.choice([3, 40, k]))
        return rng.choice([f"d[{rng.randrange(8)}]", f"v{rng.randint(near, max(near, k - 1))}", "0.75"])

    match rng.randrange(8):
        case 0:
            return f"double v{k} = {number()} > {number()} ? {number()} : -{number()};"
        case 1:
            return (
                f"double v{k} = {number()}; if (c[{rng.randrange(8)}] & 1) v{k} = {number()} * 0.5; else e[3] += v{k};"
            )
        case 2:
            return f"n = (n * 5 + {k}) % 8; double v{k} = d[n] - {number()};"
        case 3:
            return f"t[n] = {k}; double v{k} = t[{rng.randrange(8)}] + {number()};"
        case 4:
            return f"u[c[{rng.randrange(8)}] & 7] = {number()}; double v{k} = u[{rng.randrange(8)}];"
        case 5:
            return f"int i{k} = c[{rng.randrange(8)}] * {k}, *p{k} = &i{k}; double v{k} = *p{k} / 8 + {number()};"
    return f"double v{k} = {number()} {rng.choice('+-*')} {number()}; e[{rng.randrange(8)}] = v{k} * 0.25;"


def kernel(count: int, seed: int, loop: str = "") -> str:
    rng = random.Random(seed)
    rows = "\n    ".join(["double v0 = d[0];", *(row(rng, k) for k in range(1, count))])
    return f"""double d[8]; int c[8]; double e[8];
void k(void) {{
    int n = 1, t[8] = {{0}};
    double u[8] = {{0}};
    {rows}
    {loop}
    e[7] = v{count - 1} + n + t[3];
}}
"""


def same(text: str) -> str:
    """The text of a kernel that gang does as native does."""
    rng = np.random.default_rng(0)
    inputs = {
        "d": rng.uniform(-1, 1, (P, 8)),
        "c": rng.integers(-100, 100, (P, 8)).astype(np.int32),
        "e": rng.normal(size=(P, 8)),
    }
    program = c2cu.compile(text, backend="cpu", schedule="gang", verify=False)
    ours, right = program(inputs), c2cu.bulk(text, inputs, backend="cpu", schedule="native")
    assert ours.tobytes() == right.tobytes()
    assert program(inputs).tobytes() == right.tobytes()  # what parts share is not new
    return program.source


@pytest.mark.parametrize("seed", range(4))
def test_parts(seed):
    text = same(kernel(3 * LENGTH, seed))
    assert "part_1(g);" in text and "part_3(g);" in text and "struct common" in text


def test_a_loop_that_data_ends_is_in_a_part():
    loop = f"for (int j = 0; j < (c[1] & 15); j++) {{ if (v{LENGTH} * j > v7) break; e[j & 7] += v{LENGTH - 3} * j; }}"
    assert "part_3(g);" in same(kernel(3 * LENGTH, 5, loop))


def test_short_kernels_are_one_function():
    assert "part_1" not in same(kernel(LENGTH // 2, 1))
