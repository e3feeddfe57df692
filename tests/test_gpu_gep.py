"""One large matrix on a CUDA device, under every variant. Skipped, visibly, where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import c2cu
from c2cu.runtime import cuda
from c2cu.schedule.gep.grid import VARIANTS
from tests.oracle import Original, same
from tests.test_gep_bits import OR, SPELLINGS, graphs, sized, variables_of
from tests.test_gep_grid import LEAST, PATHS, PROGRAMS, STAY, UPDATES, data

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not cuda.available(), reason="no CUDA device, or CuPy is missing")]


def check(text, variables, inputs, variant, **how):
    p = len(next(iter(inputs.values())))
    expected = Original(text, "f", variables).bulk(inputs, p)
    program = c2cu.compile(text, backend="cuda", schedule=f"gep:{variant}")
    for _ in range(2):  # a graph is captured, and then launched again
        result = program(inputs, **how)
        result = result if isinstance(result, dict) else {next(s.name for s in program.slots if s.writes): result}
        for name, array in result.items():
            assert same(np.asarray(array), expected[name]), name


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [2, 31, 64, 257, 640])
def test_paths(variant, n):
    variables = [("D", "f4", (n, n))]
    check(PATHS.format(n=n, t="float"), variables, data(variables, n, 3), variant)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("n", [95, 520])
def test_programs(name, n, variant):
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    inputs = data(variables, n, 2)
    if name in STAY or n < 100:  # what moves its own rows and columns is done again, step by step
        check(text, variables, inputs, variant)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [97, 300])
def test_negative_cycles(variant, n):
    variables = [("D", "i4", (n, n))]
    inputs = data(variables, n, 3)
    inputs["D"][1, 5, 7], inputs["D"][1, 7, 5] = -40, -3
    check(LEAST.format(n=n), variables, inputs, variant)


@pytest.mark.parametrize("name", UPDATES)
def test_any_order_of_reads(name):
    n = 150
    body = UPDATES[name]
    text = (
        f"#define N {n}\nunsigned A[N][N], B[N][N];\nvoid f(void) {{\n    for (int k = 1; k < N; k++)\n"
        f"        for (int i = 0; i < N; i++) {{\n            {body}\n        }}\n}}\n"
    )
    names = [x for x in "AB" if f"{x}[" in body]
    inputs = {x: np.random.default_rng(k).integers(0, 1 << 32, (2, n, n), np.uint32) for k, x in enumerate(names)}
    check(text, [(x, "u4", (n, n)) for x in "AB"], inputs, "staged")


def in_steps(d):
    """The result, a step after the other on the whole array."""
    import cupy

    d = cupy.asarray(d).astype(d.dtype if d.dtype.kind == "f" else "i4")
    for k in range(len(d)):
        via = d[:, k, None] + d[k]
        d = cupy.where(via < d, via, d)
    return d


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("t", "dtype"), [("unsigned char", "u1"), ("unsigned short", "u2"), ("short", "i2")])
def test_narrow_integers(t, dtype, variant):
    """By pairs, and one by one where an element takes 16 bits."""
    n = 1600
    D = data([("D", dtype, (n, n))], n, 2)["D"]
    most = np.iinfo(dtype).max
    D[1].flat[np.random.default_rng(3).integers(0, n * n, n * n // 2)] = most
    program = c2cu.compile(PATHS.format(n=n, t=t), backend="cuda", schedule=f"gep:{variant}")
    result = program(D)
    for a, d in zip(result, D):
        assert (a == in_steps(d).astype(dtype).get()).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("odd", [False, True])
def test_large_and_equal_to_array_operations(variant, odd):
    """n = 2085: large tiles, with a border. Odd: numbers of which the minimum is not the choice."""
    import cupy

    n = 2085
    d = data([("D", "f4", (n, n))], n, 1)["D"]
    if odd:
        rng = np.random.default_rng(5)
        for x in (-0.0, 0.0, np.inf, np.nan):
            d[0].flat[rng.integers(0, n * n, 9000)] = x
    expected = in_steps(d[0])
    program = c2cu.compile(PATHS.format(n=n, t="float"), backend="cuda", schedule=f"gep:{variant}")
    device = cupy.asarray(d)
    result = program(device)
    assert (result[0].view("u4") == expected.view("u4")).all()
    program(device, out=device)  # in place
    assert (device[0].view("u4") == expected.view("u4")).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_on_a_stream_of_the_users_and_in_groups(variant):
    import cupy

    n, p = 70, 5
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    d = data(variables, n, p)["D"]
    expected = Original(text, "f", variables).bulk({"D": d}, p)["D"]
    program = c2cu.compile(text, backend="cuda", schedule=f"gep:{variant}")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        matrices = cupy.asarray(d)
        result = program(matrices, stream=stream)
    stream.synchronize()
    assert same(result.get(), expected)
    assert same(np.concatenate(list(program.stream(d, group=2))), expected)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("n", [31, 257, 640])
def test_closure_on_bits(name, n):
    variables = variables_of(SPELLINGS[name], n)
    check(sized(SPELLINGS[name], n), variables, graphs(variables, n), "bits")


@pytest.mark.parametrize("name", [n for n in SPELLINGS if "_Bool" not in n])
def test_closure_of_other_elements(name):
    """Done again on the elements: those inputs, and no others."""
    n = 150
    variables = variables_of(SPELLINGS[name], n)
    inputs = graphs(variables, n)
    inputs["R"][1][inputs["R"][1] != 0] = np.random.default_rng(1).integers(2, 120, np.count_nonzero(inputs["R"][1]))
    check(sized(SPELLINGS[name], n), variables, inputs, "bits")


@pytest.mark.parametrize("n", [600, 2085, 3000, 8200])
def test_large_closures_equal_array_operations(n):
    """Every shape, with borders; a sparse graph whose components are neither one nor many, and a long path."""
    import cupy

    graph = np.zeros((2, n, n), np.uint8)
    rng, order = np.random.default_rng(n), np.random.default_rng(0).permutation(n)
    graph[0, rng.integers(0, n, 3 * n // 2), rng.integers(0, n, 3 * n // 2)] = 1
    graph[1, order[:-1], order[1:]] = 1
    expected = cupy.asarray(graph).astype(bool)
    for k in range(n):
        expected |= expected[:, :, k, None] & expected[:, None, k]
    program = c2cu.compile(sized(OR, n), backend="cuda", schedule="gep")
    device = cupy.asarray(graph)
    result = program(device)
    assert program.plan.schedule == "gep:bits"
    assert (result == expected).all() and 0.1 < float(expected[0].mean()) < 0.9
    program(device, out=device)  # in place
    assert (device == expected).all()
