"""A matrix in bands of rows on CUDA devices: one that it does not fit, and several. Skipped, visibly, without them."""

from __future__ import annotations

import numpy as np
import pytest

import c2cu
from c2cu.runtime import cuda
from tests.oracle import Original, same
from tests.test_gep_grid import LEAST, PATHS, PROGRAMS, STAY, data

COUNT = cuda.device_count() if cuda.available() else 0
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not COUNT, reason="no CUDA device, or CuPy is missing")]
several = pytest.mark.skipif(COUNT < 2, reason="one CUDA device only")


def compiled(text: str, share: float | None, variables, **options):
    """In bands, on a device that has ``share`` of the matrices' bytes."""
    program = c2cu.compile(text, backend="cuda", schedule="gep:bands", **options)
    nbytes = sum(np.dtype(d).itemsize * int(np.prod(s)) for _, d, s in variables)
    program.loaded.limit = None if share is None else int(share * nbytes)
    return program


def named(result, program):
    return result if isinstance(result, dict) else {next(s.name for s in program.slots if s.writes): result}


@pytest.mark.parametrize("share", [0.6, 0.9, None])
@pytest.mark.parametrize("n", [257, 640, 1500])
def test_paths(n, share):
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 2)
    expected = Original(text, "f", variables).bulk(inputs, 2)["D"]
    program = compiled(text, share, variables)
    assert same(program(inputs), expected)
    assert program.plan.schedule == "gep:bands" and program.loaded.sizes.streamed == (share is not None)
    program(inputs["D"], out=inputs["D"])  # in place
    assert same(inputs["D"], expected) and not program.loaded.redone


@pytest.mark.parametrize("share", [0.8, None])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, share):
    n = 520 if name in STAY else 300
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    inputs = data(variables, n, 1)
    expected = Original(text, "f", variables).bulk(inputs, 1)
    program = compiled(text, share, variables)
    for key, array in named(program(inputs), program).items():
        assert same(array, expected[key]), key
    assert not program.loaded.redone or name not in STAY


def test_page_locked_arrays_are_copied_from_where_they_are(monkeypatch):
    import cupyx

    from c2cu.runtime import cuda_bands_host

    n = 1100
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 1)
    expected = Original(text, "f", variables).bulk(inputs, 1)["D"]
    matrices, out = cupyx.empty_pinned((1, n, n), "f4"), cupyx.empty_pinned((1, n, n), "f4")
    matrices[...] = inputs["D"]
    program = compiled(text, 0.7, variables)
    monkeypatch.setattr(cuda_bands_host.PINNED, "take", lambda n: pytest.fail("a detour"))
    program(matrices, out=out)
    assert same(out, expected) and same(matrices, inputs["D"])


@pytest.mark.parametrize("share", [0.8, None])
def test_negative_cycles_are_given_to_the_cpu(share):
    n = 300
    text, variables = LEAST.format(n=n), [("D", "i4", (n, n))]
    inputs = data(variables, n, 3)
    inputs["D"][1, 5, 270], inputs["D"][1, 270, 5] = -40, -3
    expected = Original(text, "f", variables).bulk(inputs, 3)["D"]
    program = compiled(text, share, variables)
    result = program(inputs)
    assert same(result, expected) and program.loaded.redone == 1


@pytest.mark.parametrize("kind", ["float", "int"])
def test_large_and_equal_to_what_fits(kind):
    """n = 4500: large tiles, with a border, in bands of several of them."""
    n = 4500
    text, variables = PATHS.format(n=n, t=kind), [("D", {"float": "f4", "int": "i4"}[kind], (n, n))]
    inputs = data(variables, n, 1)
    expected = c2cu.compile(text, backend="cuda", schedule="gep:streams")(inputs)
    program = compiled(text, 0.75, variables)
    for _ in range(2):
        assert same(program(inputs), expected)
    assert program.loaded.sizes.streamed and program.loaded.sizes.bands(program.loaded.bands) >= 4


def test_a_matrix_that_does_not_fit_is_taken_in_bands(monkeypatch):
    n = 700
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 1)
    expected = Original(text, "f", variables).bulk(inputs, 1)["D"]
    program = c2cu.compile(text, backend="cuda", schedule="gep")
    assert same(program(inputs), expected) and program.plan.schedule == "gep:graph"
    monkeypatch.setattr(cuda, "free_bytes", lambda: 2 << 20)
    assert same(program(inputs), expected) and program.plan.schedule == "gep:bands"


def test_from_file_to_file(tmp_path):
    n = 700
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 2)
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    np.save(source, inputs["D"])
    from c2cu.io.runs import RunOptions, run_files

    program = compiled(text, 0.8, variables)
    run_files(program, [str(source)], [str(target)], [], None, options=RunOptions(devices=(0,)))
    assert same(np.load(target), Original(text, "f", variables).bulk(inputs, 2)["D"])


@several
@pytest.mark.parametrize("share", [0.6, None])
@pytest.mark.parametrize("name", ["least", "via", "lu", "jordan", "window"])
def test_several_devices(name, share):
    n = 1000 if name in STAY else 300
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    inputs = data(variables, n, 1)
    expected = Original(text, "f", variables).bulk(inputs, 1)
    program = compiled(text, share, variables)
    for _ in range(2):
        for key, array in named(program(inputs, devices=range(COUNT)), program).items():
            assert same(array, expected[key]), key
    assert program.loaded.sizes.devices == COUNT and (not program.loaded.redone or name not in STAY)


@several
def test_several_devices_large():
    n = 6000
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 1)
    expected = c2cu.compile(text, backend="cuda", schedule="gep:streams")(inputs)
    program = c2cu.compile(text, backend="cuda", schedule="gep")
    assert same(program(inputs, devices=range(COUNT)), expected) and program.plan.schedule == "gep:bands"
    program.loaded.limit = 40 << 20
    assert same(program(inputs, devices=[1, 0]), expected) and program.loaded.sizes.streamed
