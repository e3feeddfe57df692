"""Lanes of 16 bits: where they are taken, and that their bits are those of the C."""

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from tests.narrow_programs import Writer
from tests.programs import COUNT
from tests.sample import sampled

KERNEL = """
{element} a[8], b[8];
{result} r;
void k(void) {{
    {scratch} row[9] = {{0}}, best = {start};
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {{
            int up = row[j + 1], s = row[j] + (a[i] == b[j] ? {gain} : -2);
            if (up - 1 > s) s = up - 1;
            if (s < 0) s = 0;
            if (s > best) best = s;
            row[j + 1] = s;
        }}
    r = best;
}}
"""


def kernel(element="unsigned char", result="int", scratch="int", start=0, gain=3) -> str:
    return KERNEL.format(element=element, result=result, scratch=scratch, start=start, gain=gain)


def halved(text: str) -> bool:
    """Whether a kernel has lanes of 16 bits, whose results are those of native."""
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    rng = np.random.default_rng(1)
    read = [s for s in program.slots if s.reads]
    inputs = {s.name: rng.integers(0, 3, (70, *s.shape)).astype(s.dtype) for s in read}
    right = c2cu.bulk(text, inputs, backend="cpu", schedule="native")
    assert (program(inputs) == right).all()
    return program.plan.lanes == toolchain.vector_bytes() // 2


@pytest.mark.parametrize("case, taken", [
    ({}, True),
    ({"scratch": "short", "element": "short"}, True),
    ({"element": "int"}, False),  # comparisons of whole inputs
    ({"gain": 4000}, True),  # eight times that fits
    ({"gain": 5000}, False),
    ({"start": 40000}, False),
    ({"result": "long"}, False),
    ({"result": "float"}, False),
    ({"scratch": "float"}, False),
])  # fmt: skip
def test_lanes_are_halved_where_all_fits(case, taken):
    assert halved(kernel(**case)) == taken


LOOP = "unsigned char a[99]; int r; void k(void) {{ int s = 0; {before} for (int i = 0; i < 99; i++) {{ {body} }} r = s; }}"


@pytest.mark.parametrize("before, body", [
    ("double x = 0;", "s += a[i] * (int)x; x += 0.1;"),
    ("double w[2]; w[0] = 0.5; w[1] = 0.25;", "if (w[i & 1] > 0.3) s += a[i] * 200; else s += 1;"),
    ("float g = 1e30f;", "if (g > 1e38f) s += a[i] * 300; else s -= 1; g *= 1e3f;"),
    ("float best = __builtin_inff();", "if (best > i) s += a[i]; best = 50;"),
    ("unsigned big = 65537;", "if (a[i] + 1u == big) s++; big -= 700;"),
    ("short t[40010]; t[40003] = 1; t[(a[0] >> 8) + 40000] = 7;", "s = t[40000] + t[40003];"),
    ("static const int t[4] = {1, 2, 3, 4};", "if (i < 5 && a[i] > 300) s += t[i];"),
    ("int t[3] = {1, 2, 3};", "if (a[i] > 300) s += t[i % 3 - 1]; else s += t[i % 3];"),
])  # fmt: skip
def test_what_is_the_same_for_all_inputs(before, body):
    text = LOOP.format(before=before, body=body)
    a = np.full((40, 99), 255, np.uint8)
    ours, right = (c2cu.bulk(text, a, backend="cpu", schedule=s) for s in ("gang", "native"))
    assert (ours == right).all()


def test_a_bound_that_data_decides_is_no_case_for_them():
    text = kernel().replace("j < 8", "j < n").replace("r;", "r, n;")
    assert not halved(text)


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("seed", [*sampled(range(max(20, COUNT // 10)), 4), 54, 57, 1364, 3109, 3366])
def test_random_programs(seed):
    writer = Writer(seed)
    text = writer.text()
    program = c2cu.compile(text, backend="cpu", schedule="gang")
    read = {s.name for s in program.slots if s.reads}
    inputs = {n: a for n, a in writer.inputs(70).items() if n in read}
    if not inputs:
        return
    ours, right = program(inputs), c2cu.bulk(text, inputs, backend="cpu", schedule="native")
    for n in right if isinstance(right, dict) else ():
        assert ours[n].tobytes() == right[n].tobytes(), n
    assert isinstance(right, dict) or ours.tobytes() == right.tobytes()
