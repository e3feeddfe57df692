"""How a call, a stream or a run of files comes to work at a matrix in bands, on a device that only says what it has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import c2cu
from c2cu import backends
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.io.runs import RunOptions, run_files
from c2cu.pipeline import understand
from c2cu.report import explain
from c2cu.runtime import arrays, cpu
from c2cu.schedule.artifact import CudaBandsArtifact
from c2cu.schedule.estimate import USUAL
from c2cu.verdict import report_of
from tests.oracle import Original, same
from tests.sample import sampled
from tests.test_gep_grid import PATHS, data

N = 520
TEXT = PATHS.format(n=N, t="float")
VARIABLES = [("D", "f4", (N, N))]


class Loaded:
    """A program on a device, which has the CPU do it. ``calls``: what was asked for."""

    drawback, calls, room = "", [], 1 << 40

    def __init__(self, artifact):
        self.artifact = artifact

    def fits(self, nbytes):
        return nbytes <= Loaded.room

    def run(self, inputs, outputs, p, devices=None):
        assert isinstance(self.artifact, CudaBandsArtifact), "it is too large"
        Loaded.calls.append((p, devices, outputs[0]))
        cpu.load(self.artifact.otherwise).run(inputs, outputs, p)


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.setattr(backends, "loader", lambda backend: Loaded)
    monkeypatch.setattr(backends, "device", lambda backend: USUAL)
    monkeypatch.setattr(backends, "ordinals", lambda devices: [0, 1, 2] if devices is None else list(devices))
    monkeypatch.setattr(Loaded, "calls", [])
    monkeypatch.setattr(Loaded, "room", 1 << 20)


def expected(inputs):
    return Original(TEXT, "f", VARIABLES).bulk(inputs, len(inputs["D"]))["D"]


@pytest.mark.parametrize("schedule", sampled(["auto", "gep", "gep:bands"], 2))
def test_a_matrix_that_does_not_fit_is_taken_in_bands(schedule):
    inputs = data(VARIABLES, N, 2)
    program = c2cu.compile(TEXT, backend="cuda", schedule=schedule)
    assert same(program(inputs), expected(inputs))
    assert program.plan.schedule == "gep:bands" and [c[:2] for c in Loaded.calls] == [(2, None)]
    out = np.empty_like(inputs["D"])
    assert program(inputs, out=out, devices=[2, 0]) is out and same(out, expected(inputs))
    assert Loaded.calls[1][1] == [2, 0] and np.shares_memory(Loaded.calls[1][2], out)


def test_one_that_fits_is_not_unless_several_devices_are_to_do_it(monkeypatch):
    monkeypatch.setattr(Loaded, "room", 1 << 30)
    program = c2cu.compile(TEXT, backend="cuda", schedule="gep")
    names = frozenset()
    assert program.built_for(data(VARIABLES, N, 1), names).plan.schedule == "gep:graph"
    assert program.built_for(data(VARIABLES, N, 1), names, together=True).plan.schedule == "gep:bands"
    assert program.takes_bands(data(VARIABLES, N, 1), names, 1, True)
    assert not program.takes_bands(data(VARIABLES, N, 1), names, 1, False)


def test_arrays_on_a_device_fit_it(monkeypatch):
    program = c2cu.compile(TEXT, backend="cuda", schedule="gep")
    inputs = data(VARIABLES, N, 1)
    monkeypatch.setattr(arrays, "on_device", lambda a: True)
    assert program.built_for(inputs, frozenset()).plan.schedule == "gep:graph"
    with pytest.raises(c2cu.InputError, match="host"):
        c2cu.compile(TEXT, backend="cuda", schedule="gep:bands")(inputs)


def test_what_cannot_be_wanted():
    inputs = data(VARIABLES, N, 1)
    with pytest.raises(c2cu.InputError, match="C2CU209"):
        c2cu.compile(TEXT, backend="cuda", schedule="gep:staged")(inputs, devices=[0, 1])
    with pytest.raises(c2cu.InputError, match="devices are GPUs"):
        c2cu.bulk(TEXT, inputs, backend="cpu", devices=[0, 1])
    with pytest.raises(c2cu.InputError, match="C2CU206"):
        c2cu.compile(TEXT, backend="cuda", schedule="gep:bands")(inputs, stream=SimpleNamespace())
    with pytest.raises(c2cu.UnsupportedError, match="three nested loops"):
        c2cu.bulk("int a[4];\nvoid f(void) { a[1] = a[0]; }\n", np.zeros((1, 4), "i4"), backend="cuda", devices=[0])


def test_explain_says_how_it_goes():
    front = understand(read_source(TEXT), options_of())
    said = explain.explanation(front, "cuda", "gep:bands", None, "exact", "a GPU")
    assert said["schedule"] == "gep:bands" and said["launches"] is None
    assert "in bands of rows, in blocks of 256 threads" in explain.text(said, report_of(front))


def test_a_stream_has_all_devices_at_each_matrix():
    inputs = data(VARIABLES, N, 3)
    program = c2cu.compile(TEXT, backend="cuda", schedule="gep")
    stream = program.stream(iter([inputs["D"][:2], inputs["D"][2:]]))
    assert stream.devices == ("cuda:0", "cuda:1", "cuda:2") and stream.group == 1
    results = list(stream)
    assert [x.first for x in results] == [0, 1, 2] and same(np.concatenate(results), expected(inputs))
    assert [c[:2] for c in Loaded.calls] == 3 * [(1, [0, 1, 2])]
    with pytest.raises(c2cu.InputError, match="one at a time"):
        program.stream(inputs["D"], group=2)


@pytest.mark.parametrize("layout", ["row", "column"])
def test_files_are_mapped(layout, tmp_path):
    inputs = data(VARIABLES, N, 1)
    matrices = inputs["D"] if layout == "row" else np.moveaxis(inputs["D"], 0, -1)
    np.save(tmp_path / "in.npy", np.ascontiguousarray(matrices))
    program = c2cu.compile(TEXT, backend="cuda", layout=layout)
    target = tmp_path / "out.npy"
    options = RunOptions(devices=(1, 2))
    run_files(program, [str(tmp_path / "in.npy")], [str(target)], [], None, layout=layout, options=options)
    result = np.load(target)
    assert same(result if layout == "row" else np.moveaxis(result, -1, 0), expected(inputs))
    assert [c[:2] for c in Loaded.calls] == [(1, [1, 2])]
    if layout == "row":
        base = Loaded.calls[0][2]
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert isinstance(base, np.memmap), "the result was in memory as a whole"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.npy", "out.npy"]


def test_a_run_that_fails_leaves_nothing(tmp_path, monkeypatch):
    np.save(tmp_path / "in.npy", data(VARIABLES, N, 1)["D"])

    def fail(self, *_):
        raise c2cu.CompileError("C2CU068", "no")

    monkeypatch.setattr(Loaded, "run", fail)
    program = c2cu.compile(TEXT, backend="cuda")
    with pytest.raises(c2cu.CompileError):
        run_files(
            program,
            [str(tmp_path / "in.npy")],
            [str(tmp_path / "o.npy")],
            [],
            None,
            options=RunOptions(devices=(0, 1)),
        )
    assert [p.name for p in tmp_path.iterdir()] == ["in.npy"]
