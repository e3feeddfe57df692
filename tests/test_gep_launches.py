"""What is launched for one large matrix: in which order, what waits for what, and that a plan says so."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import c2cu
from c2cu import pipeline, tune
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.report import explain
from c2cu.runtime import cuda_launches
from c2cu.schedule.choose import choose, require_known
from c2cu.schedule.gep import grid
from c2cu.schedule.gep.grid_shape import GridShape
from c2cu.schedule.registry import variants
from c2cu.schedule.schedule import Candidate
from tests.test_gep_grid import PATHS, SMALL, artifact

N = 200
TEXT = PATHS.format(n=N, t="float")


def understood(text: str = TEXT):
    return pipeline.understand(read_source(text), options_of())


class Recorder:
    """Streams and events of a device that does nothing, and what was asked of them, in order."""

    def __init__(self):
        self.log: list[tuple] = []
        self.current = "the user's"
        recorder = self

        class Stream:
            def __init__(self, non_blocking=False):
                self.non_blocking = non_blocking

            def wait_event(self, event):
                recorder.log.append(("wait", self, event))

            def __enter__(self):
                self.before, recorder.current = recorder.current, self

            def __exit__(self, *_):
                recorder.current = self.before

            def begin_capture(self):
                recorder.log.append(("begin", self))

            def end_capture(self):
                recorder.log.append(("end", self))
                return SimpleNamespace(launch=lambda stream: recorder.log.append(("graph", stream)))

        class Event:
            def __init__(self, disable_timing=False):
                assert disable_timing

            def record(self, stream):
                recorder.log.append(("record", stream, self))

        self.main = Stream()
        device = SimpleNamespace(synchronize=lambda: self.log.append(("synchronize",)))
        names = SimpleNamespace(Stream=Stream, Event=Event, get_current_stream=lambda: self.main, Device=lambda: device)
        self.cupy = SimpleNamespace(cuda=names)

    def kernel(self, name):
        def launch(grid, threads, arguments, shared_mem):
            self.log.append(("launch", self.current, name, grid, threads, tuple(map(int, arguments[3:]))))

        return launch


def prepared(variant: str, monkeypatch) -> tuple[Recorder, cuda_launches.CudaLaunchesProgram]:
    recorder = Recorder()
    monkeypatch.setattr(cuda_launches, "cupy_module", lambda: recorder.cupy)
    program = object.__new__(cuda_launches.CudaLaunchesProgram)
    program.artifact = artifact(TEXT, variant)
    program._threads = program.artifact.threads
    program._kernels = {x.kernel: recorder.kernel(x.kernel) for x in program.artifact.launches}
    program._prepare(program.artifact, multiprocessors=10)
    return recorder, program


def array(at: int):
    return SimpleNamespace(data=SimpleNamespace(ptr=at), __int__=lambda: 0)


@pytest.mark.parametrize("variant", grid.VARIANTS)
def test_what_is_launched_waits_for_what_it_needs(variant, monkeypatch):
    """Every launch comes on one stream, after all it names: on the same one, or by an event recorded after them."""
    recorder, program = prepared(variant, monkeypatch)
    program.go(np.array([1]), 3, array(2))
    if variant == "graph":  # which is captured the second time
        recorder.log.clear()
        program.go(np.array([1]), 3, array(2))
    launches = program.artifact.launches
    asked = [x for x in recorder.log if x[0] == "launch"]
    assert len(asked) == len(launches)
    first = asked[0][1]
    assert (first is recorder.main) == (variant != "graph")
    before: dict[object, set[int]] = {}  # of a stream: what is complete when its next launch starts
    events: dict[object, set[int]] = {}
    number = 0
    for kind, stream, *what in (x for x in recorder.log if x[0] in ("launch", "wait", "record")):
        mine = before.setdefault(stream, set())
        if kind == "wait":
            mine |= events[what[0]]
        elif kind == "record":
            events[what[0]] = set(mine)
        else:
            x = launches[number]
            name, blocks, threads, arguments = what
            assert (name, arguments, threads) == (x.kernel, x.arguments, (program.artifact.threads,))
            assert blocks == ((*x.grid, 3) if x.grid[0] else (10 * x.grid[1], 1, 1))
            assert set(x.after) <= mine and (x.stream == 0) == (stream is first)
            mine.add(number)
            number += 1
    assert before[first] == set(range(len(launches))), "the user's stream goes on before all is done"


def test_a_graph_is_captured_once_for_arrays_that_come_again(monkeypatch):
    recorder, program = prepared("graph", monkeypatch)
    for table, at in ((1, 2), (1, 3), (4, 2)):
        program.go(np.array([table]), 1, array(at))
    assert Counter(x[0] for x in recorder.log)["launch"] == 3 * len(program.artifact.launches)
    recorder.log.clear()
    for table, at in ((1, 2), (1, 2), (1, 3), (1, 2), (4, 2), (4, 2)):
        program.go(np.array([table]), 1, array(at))
    kinds = Counter(x[0] for x in recorder.log)
    assert kinds["begin"] == kinds["end"] == 3 and kinds["graph"] == 6
    begin = recorder.log.index(next(x for x in recorder.log if x[0] == "begin"))
    end = next(n for n, x in enumerate(recorder.log) if x[0] == "end")
    assert sum(x[0] == "launch" for x in recorder.log[begin:end]) == len(program.artifact.launches)
    assert all(x[1] is recorder.main for x in recorder.log if x[0] == "graph")
    for at in range(10, 10 + cuda_launches.GRAPHS):
        program.go(np.array([1]), 1, array(at))
        program.go(np.array([1]), 1, array(at))
    assert len(program._graphs) == cuda_launches.GRAPHS and ("synchronize",) in recorder.log


def test_arrays_that_never_come_again_are_not_waited_for(monkeypatch):
    recorder, program = prepared("graph", monkeypatch)
    for _ in range(3):
        for table in range(2 * cuda_launches.GRAPHS):
            program.go(np.array([table]), 1, array(2))
    kinds = Counter(x[0] for x in recorder.log)
    assert not kinds["begin"] and not kinds["synchronize"] and not program._graphs
    assert len(program._recent) == cuda_launches.GRAPHS


def needs(launches, blocks: int, lines: int):
    """Steps on tiles, (block, I, J), in the order that the launches give them, each once. Tiles are as wide as blocks."""
    for x in launches:
        a = x.arguments
        match x.kernel:
            case "c2cu_pivot":
                yield [(a[0], a[0], a[0])]
            case "c2cu_panels":
                at = [t for t in range(a[2], min(a[2] + x.grid[0], lines)) if t != a[0]]
                sides = range(a[1], a[1] + x.grid[1])
                yield [(a[0], *((t, a[0]) if side else (a[0], t))) for side in sides for t in at]
            case "c2cu_rest":
                first, last, i, j, done, mode, t = a
                tiles = [(i + y, j + z) for y in range(x.grid[1]) for z in range(x.grid[0])]
                if mode == 1:
                    tiles = [(t, z) for z in range(x.grid[0])] + [(z, t) for z in range(x.grid[0]) if z != t]
                remaining = [q for q in tiles if done not in q and not (mode == 2 and t in q) and max(q) < lines]
                yield [(b, *q) for q in remaining for b in range(first, last)]


@pytest.mark.parametrize("variant", [v for v in grid.VARIANTS if v != "single"])
def test_every_tile_takes_every_step_once_and_in_order(variant):
    launches = artifact(TEXT, variant).launches
    lines = blocks = -(-N // SMALL.tile)
    taken: dict[tuple[int, int], int] = {}
    for together in needs(launches, blocks, lines):
        for b, i, j in together:
            assert taken.get((i, j), 0) == b, "a step too early, too late or twice"
            row, column = i == b, j == b
            if not (row and column):
                operands = [(b, b)] if row or column else [(i, b), (b, j)]
                assert all(taken.get(t, 0) > b for t in operands), "before what it reads is there"
            taken[i, j] = b + 1
    assert set(taken.values()) == {blocks} and len(taken) == lines * lines


def touched(x, lines: int, ring: int):
    """What a launch reads (False) and writes (True): tiles, and copies of a block's columns (u) and rows (v)."""
    for b, i, j in next(needs([x], lines, lines), ()):
        yield ("x", i, j), True
        row, column, slot = i == b, j == b, b % ring
        if column:
            yield ("u", slot, i), True
        if row:
            yield ("v", slot, j), True
        if not column:
            yield ("u", slot, i), False
        if not row:
            yield ("v", slot, j), False


@pytest.mark.parametrize("variant", [v for v in grid.VARIANTS if v != "single"])
def test_launches_that_touch_the_same_are_ordered(variant):
    """By their streams and what they wait for: whatever one writes, no other touches at the same time."""
    launches = artifact(TEXT, variant).launches
    lines = -(-N // SMALL.tile)
    ring = lines if variant == "recursive" else 2
    before: list[set[int]] = []  # of each launch, those that are complete when it starts
    last: dict[int, int] = {}
    accesses: dict[tuple, list[tuple[int, bool]]] = {}
    for n, x in enumerate(launches):
        direct = [*x.after, *([last[x.stream]] if x.stream in last else [])]
        before.append({*direct, *(m for d in direct for m in before[d])})
        last[x.stream] = n
        for what, writes in set(touched(x, lines, ring)):
            for m, wrote in accesses.get(what, ()):
                assert m in before[n] or m == n or not (writes or wrote), (what, launches[m], x)
            accesses.setdefault(what, []).append((n, writes))
    assert len(accesses) == lines * lines + 2 * ring * lines
    assert before[-1] == set(range(len(launches) - 1)), "what follows on the first stream would not wait for all"


def test_recursion_ends_in_large_products():
    launches = artifact(TEXT, "recursive").launches
    depths = {x.arguments[1] - x.arguments[0] for x in launches if x.kernel == "c2cu_rest"}
    assert max(depths) == 7 and 1 in depths  # of 13 blocks


@pytest.mark.slow
def test_names_of_variants():
    assert set(variants("cuda", "gep")) == {f"gep:{v}" for v in ("tiles", "bits", "bands", *grid.VARIANTS)}
    front = understood()
    for variant in grid.VARIANTS:
        chosen, made = choose(front, "cuda", f"gep:{variant}")
        assert chosen.schedule == made.schedule == f"gep:{variant}" and made.graph == (variant == "graph")
        assert sum(n for _, n in chosen.launches) == len(made.launches)
    assert choose(front, "cuda", "gep")[0].schedule == "gep", "in registers"
    large = understood(PATHS.format(n=3000, t="float"))
    assert choose(large, "cuda", "gep")[0].schedule == "gep:graph"
    with pytest.raises(c2cu.InputError, match="gep:sideways"):
        require_known("cuda", "gep:sideways")
    with pytest.raises(c2cu.InputError):
        require_known("cpu", "gep:staged")


def test_tuning_tries_every_variant():
    front = understood()
    run = {"gep:single": 1.0}
    tuning = tune.tune(front, "cuda", "gep", lambda a: a, lambda a, n: run.get(a.schedule, 2.0), 1)
    assert tuning is not None and tuning.winner in (Candidate("gep:single"),)
    assert {str(c) for c, _ in tuning.times} == {"gep", *(f"gep:{v}" for v in grid.VARIANTS)}


def test_explain_says_what_is_launched():
    said = explain.explanation(understood(), "cuda", "gep:staged", None, "exact", "a GPU")
    blocks = -(-N // 32)  # of as many steps
    assert said["schedule"] == "gep:staged" and said["launches"] == {
        "c2cu_pack": 1,
        "c2cu_look": 1,
        "c2cu_pivot": blocks,
        "c2cu_panels": blocks,
        "c2cu_rest": blocks,
        "c2cu_again": 1,
        "c2cu_unpack": 1,
    }
    assert "with fast: fminf" in said["fp_gain"]


@pytest.mark.slow
def test_loops_of_another_type_are_refused_with_a_reason():
    for old, new, why in (
        ("D[k][j] < ", "D[k][N - 1] < ", "reads"),
        ("k++", "k += 2", "count up by one"),
    ):
        with pytest.raises(c2cu.UnsupportedError, match=why):
            choose(understood(TEXT.replace(old, new, 1)), "cuda", "gep")
    with pytest.raises(c2cu.UnsupportedError, match="three nested loops"):
        choose(understood("int a[4];\nvoid f(void) { a[1] = a[0]; }\n"), "cuda", "gep")


def test_shapes_that_do_not_fit_together_are_refused():
    with pytest.raises(ValueError, match="as many steps"):
        artifact(TEXT, "single", GridShape(32, 8, 8, 16))
    with pytest.raises(ValueError, match="16 bytes"):
        artifact(TEXT.replace("float", "signed char"), "staged", GridShape(16, 8, 8, 8))
    with pytest.raises(ValueError, match="fit together"):
        GridShape(32, 8, 8, 64)


def test_text_is_the_same_every_time():
    assert artifact(TEXT, "streams").text == artifact(TEXT, "streams").text
    assert np.all([x.after == () for x in artifact(TEXT, "staged").launches])
