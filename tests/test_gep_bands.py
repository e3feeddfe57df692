"""A matrix in bands of rows: what the runtime does on devices of the CPU's, at random, equals gcc's C bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import c2cu
from c2cu.base.toolchain import vector_bytes
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import understand
from c2cu.schedule.choose import scheduled
from c2cu.schedule.gep import bands_plan
from c2cu.schedule.gep.bands import bands
from c2cu.schedule.gep.bands_plan import Sizes
from c2cu.schedule.gep.cpu import cpu
from c2cu.schedule.schedule import Candidate
from tests import nvcc
from tests.bands_host import Machine, program
from tests.gep_host import taken
from tests.oracle import Original, same
from tests.sample import sampled
from tests.test_gep_grid import FLAT, PATHS, PROGRAMS, SMALL, STAY, data
from tests.test_streaming import ended

N = 53  # four bands of a tile, the last of them not full


def artifact(text: str, shape=SMALL, again: bool = True):
    """``again``: whether the CPU may be asked."""
    parts = taken(text)
    return bands(*parts, cpu(*parts[:4], vector_bytes()) if again else None, shape)


def streamed(b, devices: int, tiles: int) -> Sizes:
    return next(s for s in bands_plan._streamed(b, devices) if s.band == tiles * b.tile)


def resident(b, devices: int) -> Sizes:
    return list(bands_plan._resident(b, devices))[-1]


def run(monkeypatch, made, inputs, sizes: Sizes, seed=0, pinned=False, in_place=(), eager=0.2):
    """The outputs by name, the machine and the program. ``in_place``: (output, input) pairs that share memory."""
    machine = Machine(sizes.devices, seed, eager)
    limit = sizes.offsets(made.bands)[1]
    loaded = program(monkeypatch, made, machine, limit, pinned)
    monkeypatch.setattr(bands_plan, "sizes", lambda b, devices, room: sizes if room == limit else None)
    p = len(next(iter(inputs.values())))
    copies = {n: a.copy() for n, a in inputs.items()}
    outputs = {s.name: np.empty((p, *s.shape), s.dtype) for s in made.slots if s.writes}
    outputs |= {out: copies[name] for out, name in in_place}
    ins, outs = ([x.get(s.name) for s in made.slots] for x in (copies, outputs))
    loaded.run(ins, outs, p, range(sizes.devices))
    assert not any(s.queue for s in machine.streams), "something is still on its way"
    return outputs, machine, loaded


def check(monkeypatch, text, variables, inputs, sizes, shape=SMALL, **how):
    """That what runs is what gcc's C computes. Returns the machine and the program."""
    made = artifact(text, shape)
    outputs, machine, loaded = run(monkeypatch, made, inputs, sizes(made.bands), **how)
    expected = Original(text, "f", variables).bulk(inputs, len(next(iter(inputs.values()))))
    assert outputs
    for name, array in outputs.items():
        assert same(array, expected[name]), name
    return machine, loaded


KINDS = {
    "one device": lambda b: streamed(b, 1, 1),
    "larger bands": lambda b: streamed(b, 1, 2),
    "two devices": lambda b: streamed(b, 2, 1),
    "all there": lambda b: resident(b, 1),
    "all there on three": lambda b: resident(b, 3),
}


@pytest.mark.parametrize("kind", sampled(KINDS, 4))
def test_paths(kind, monkeypatch):
    """Whatever the order, and however late things are done; from and to arrays of either kind of memory."""
    text, variables = PATHS.format(n=N, t="float"), [("D", "f4", (N, N))]
    inputs = data(variables, N, 2)
    for seed, eager, pinned in ((0, 0.0, False), (1, 0.3, True), (2, 0.8, False)):
        machine, loaded = check(
            monkeypatch, text, variables, inputs, KINDS[kind], seed=seed, eager=eager, pinned=pinned
        )
        assert not loaded.redone and loaded.sizes is not None
        assert (machine.done["sent"] > 0) == (loaded.sizes.devices > 1)
        expected = bands_plan.traffic(loaded.bands, loaded.sizes)
        flags = 2 * 4 * loaded.sizes.devices
        assert 2 * (expected.come + expected.go) + flags == machine.done["copied"]
        assert 2 * expected.sent == machine.done["sent"]


def test_more_devices_than_bands(monkeypatch):
    n = 30
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    inputs = data(variables, n, 2)
    loaded = program(monkeypatch, artifact(text, SMALL), Machine(3, 0, 0.2), 1 << 24, False)
    out = np.empty_like(inputs["D"])
    loaded.run([inputs["D"]], [out], 2, devices=[0, 1, 2])
    assert same(out, Original(text, "f", variables).bulk(inputs, 2)["D"])
    assert loaded.sizes is not None and loaded.sizes.devices == loaded.sizes.bands(loaded.bands) == 2


def test_an_output_in_the_place_of_the_next_input(monkeypatch):
    n = 20
    text, variables = PATHS.format(n=n, t="float"), [("D", "f4", (n, n))]
    room = np.empty((4, n, n), np.float32)
    room[:3] = data(variables, n, 3)["D"]
    expected = Original(text, "f", variables).bulk({"D": room[:3].copy()}, 3)["D"]
    loaded = program(monkeypatch, artifact(text, SMALL), Machine(1, 0, 0.2), 1 << 24, False)
    loaded.run([room[:3]], [room[1:]], 3, devices=[0])
    assert same(room[1:], expected)


@pytest.mark.parametrize("kind", sampled(KINDS, 3))
def test_numbers_of_which_the_minimum_is_not_the_choice(kind, monkeypatch):
    text, variables = PATHS.format(n=N, t="float"), [("D", "f4", (N, N))]
    inputs = data(variables, N, 2)
    for at, x in ((3, -0.0), (17, np.nan), (40, np.inf)):
        inputs["D"][1].flat[at::97] = x
    check(monkeypatch, text, variables, inputs, KINDS[kind])


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "kind"),
    sampled(
        [(n, "two devices") for n in PROGRAMS]
        + [(n, k) for n in ("via", "jordan", "window") for k in ("one device", "all there on three")],
        4,
    ),
)
def test_programs(name, kind, monkeypatch):
    """Several arrays, every kind of type, parts of a matrix, rows that are scaled; input and output in one memory."""
    n = 35
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    _, loaded = check(monkeypatch, text, variables, data(variables, n, 1), KINDS[kind])
    assert not loaded.redone or name not in STAY


@pytest.mark.parametrize("name", sampled(["least", "next", "lu", "jordan", "window"], 4))
def test_blocks_of_fewer_steps_than_rows(name, monkeypatch):
    n = 70
    text, variables = PROGRAMS[name][0].format(n=n), PROGRAMS[name][1](n)
    check(monkeypatch, text, variables, data(variables, n, 1), KINDS["one device"], FLAT)


@pytest.mark.costly
@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("name", sampled(["via", "least", "lu", "solve"], 3))
def test_in_place(name, pinned, monkeypatch):
    text, variables = PROGRAMS[name][0].format(n=N), PROGRAMS[name][1](N)
    pairs = [(v[0], v[0]) for v in variables]
    for kind in ("one device", "two devices"):
        check(monkeypatch, text, variables, data(variables, N, 1), KINDS[kind], pinned=pinned, in_place=pairs)


def test_an_output_in_the_memory_of_another_input(monkeypatch):
    """Bands of C must not overwrite bands of A that other bands have yet to see."""
    text, variables = PROGRAMS["product"][0].format(n=35), PROGRAMS["product"][1](35)
    check(monkeypatch, text, variables, data(variables, 35, 1), KINDS["one device"], in_place=[("C", "A")])


def test_what_is_not_given_starts_as_zeros(monkeypatch):
    text, variables = PROGRAMS["product"][0].format(n=36), PROGRAMS["product"][1](36)
    inputs = data(variables, 36, 1)
    del inputs["C"]
    check(monkeypatch, text, variables, inputs, KINDS["one device"])


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["one device", "all there on three"])
def test_negative_cycles_are_given_to_the_cpu(kind, monkeypatch):
    text, variables = PROGRAMS["least"][0].format(n=N), PROGRAMS["least"][1](N)
    inputs = data(variables, N, 3)
    inputs["D"][1, 5, 50], inputs["D"][1, 50, 5] = -40, -3
    _, loaded = check(monkeypatch, text, variables, inputs, KINDS[kind])
    assert loaded.redone == 1


def test_negative_cycles_that_cannot_be_done_again_are_errors(monkeypatch):
    text, variables = PROGRAMS["least"][0].format(n=N), PROGRAMS["least"][1](N)
    inputs = data(variables, N, 1)
    inputs["D"][0, 5, 50], inputs["D"][0, 50, 5] = -40, -3
    made = artifact(text)
    with pytest.raises(c2cu.CompileError, match="overwritten") as e:
        run(monkeypatch, made, inputs, streamed(made.bands, 1, 1), in_place=[("D", "D")])
    assert e.value.code == "C2CU249" and "out=" in e.value.diagnostic.hint
    with pytest.raises(c2cu.CompileError, match="C2CU068"):
        run(monkeypatch, artifact(text, again=False), inputs, streamed(made.bands, 1, 1))


@pytest.mark.slow
def test_bands_that_no_step_writes_stay_on_the_host(monkeypatch):
    """LU: what is above a band of steps is done. Most of a Floyd-Warshall comes and goes for each."""
    moved = {}
    for name in ("lu", "least"):
        text, variables = PROGRAMS[name][0].format(n=70), PROGRAMS[name][1](70)
        machine, _ = check(monkeypatch, text, variables, data(variables, 70, 1), KINDS["one device"])
        moved[name] = machine.done["copied"]
    assert moved["lu"] < 0.7 * moved["least"]


def test_a_failure_ends_all_threads(monkeypatch):
    text, variables = PATHS.format(n=N, t="float"), [("D", "f4", (N, N))]
    made = artifact(text)
    count = 0

    def fail(self, *_):
        nonlocal count
        count += 1
        if count == 7:
            raise OSError("the bus is gone")
        return copy(self, *_)

    copy = Machine.copy
    monkeypatch.setattr(Machine, "copy", fail)
    with pytest.raises(OSError, match="the bus is gone"):
        run(monkeypatch, made, data(variables, N, 1), streamed(made.bands, 2, 1))
    assert ended()


# the plan


def several():
    """Sizes of every kind for programs that differ in which rows a step writes."""
    for name in ("least", "lu", "window"):
        b = artifact(PROGRAMS[name][0].format(n=150)).bands
        for devices in (1, 2, 3):
            yield from ((name, b, s) for s in bands_plan._resident(b, devices) if s.bands(b) > 1)
            yield from ((name, b, s) for s in bands_plan._streamed(b, devices))


def test_every_band_takes_every_step_in_order():
    """Steps that write rows of it. And what is sent or used was there."""
    for name, b, s in several():
        taken: dict[int, list[int]] = {x: [] for x in range(s.bands(b))}
        rows_k: dict[tuple[int, int], int] = {}  # (device, where in its ring) -> of which steps rows k are there
        host, room = dict.fromkeys(taken, 0), {}
        steps = [x for x in taken if s.blocks(b, x)]

        def slot(step, s=s, b=b):
            return step * s.per(b) % s.ring

        for t in bands_plan.tasks(b, s):
            match t.kind:
                case "pack":
                    room[t.device, t.room] = t.band
                    assert host[t.band] == len(taken[t.band]), "it came before it had left"
                case "unpack":
                    host[t.band] = len(taken[t.band])
                case "own":
                    taken[t.band].append(t.step)
                    rows_k[t.device, slot(t.step)] = t.step
                case "send":
                    rows_k[t.to, slot(t.step)] = rows_k[t.device, slot(t.step)]
                case "others":
                    assert rows_k[t.device, slot(t.step)] == t.step
                    for n in range(t.count):
                        band = t.band + n * s.devices
                        assert room[t.device, t.room + n] == band
                        if not t.but <= band < t.until:
                            taken[band].append(t.step)
        for band, steps_taken in taken.items():
            expected = [x for x in steps if x == band or bands_plan.steps_write(b, s, band, x)]
            assert steps_taken == expected, (name, s, band)
            assert host[band] == len(steps_taken), "it stays on the device"


def test_what_touches_the_same_is_ordered():
    """Of a buffer, a room, rows k, or rows on the host: by streams and by what tasks wait for."""
    for _, b, s in several():
        before: list[set[int]] = []
        last: dict[tuple[int, str], int] = {}
        uses: dict[tuple, list[tuple[int, bool]]] = {}
        for n, t in enumerate(bands_plan.tasks(b, s)):
            direct = [*t.after, *([last[t.device, t.stream]] if (t.device, t.stream) in last else [])]
            assert all(m < n for m in direct)
            before.append({*direct, *(m for d in direct for m in before[d])})
            last[t.device, t.stream] = n
            rows = t.step * s.per(b) % s.ring
            touched: list[tuple[tuple, bool]] = []
            match t.kind:
                case "in":
                    touched = [(("host", t.band), False), (("in", t.device), True)]
                case "pack":
                    touched = [(("in", t.device), False), (("x", t.device, t.room), True)]
                case "unpack":
                    touched = [(("x", t.device, t.room), False), (("out", t.device), True)]
                case "out":
                    touched = [(("out", t.device), False), (("host", t.band), True)]
                case "own":
                    touched = [(("x", t.device, t.room), True), (("v", t.device, rows), True)]
                case "send":
                    touched = [(("v", t.device, rows), False), (("v", t.to, rows), True)]
                case "others":
                    touched = [(("v", t.device, rows), False)]
                    touched += [(("x", t.device, t.room + r), True) for r in range(t.count)]
            for what, writes in touched:
                for m, wrote in uses.get(what, ()):
                    assert m in before[n] or not (writes or wrote), (what, t)
                uses.setdefault(what, []).append((n, writes))


def test_sizes_fit_the_limit_and_use_it():
    b = artifact(PATHS.format(n=20000, t="float"), None).bands
    matrix = b.height * b.pitch * 4
    former = 0
    for limit in (1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30):
        s = bands_plan.sizes(b, 1, limit)
        assert s is not None and s.streamed and limit * 0.6 < s.offsets(b)[1] <= limit and s.band > former
        former = s.band
    there = bands_plan.sizes(b, 1, 2 * matrix)
    assert there is not None and not there.streamed and there.rooms == there.bands(b)
    four = bands_plan.sizes(b, 4, matrix // 2)
    assert four is not None and not four.streamed and 3 * four.rooms < four.bands(b) <= 4 * four.rooms
    assert bands_plan.sizes(b, 4, matrix // 8).streamed
    assert bands_plan.sizes(b, 1, 1 << 20) is None


@nvcc.needed
@pytest.mark.parametrize(("name", "n", "devices", "limit"), [("least", 5000, 1, 1 << 26), ("jordan", 600, 4, 1 << 30)])
def test_nvcc_takes_the_usual_shapes(name, n, devices, limit, tmp_path):
    """Without a warning; two blocks of a product of one int matrix are on a multiprocessor at once."""
    made = artifact(PROGRAMS[name][0].format(n=n), None)
    sizes = bands_plan.sizes(made.bands, devices, limit)
    assert sizes is not None and sizes.streamed == (devices == 1)
    assert nvcc.kernels(sizes.defines(made.bands) + made.text, tmp_path)["c2cu_rest"].registers <= 128


def test_refusals():
    front = understand(
        read_source("float D[4][4] = {{1}};\n" + PATHS.format(n=4, t="float").split("\n", 2)[2]),
        options_of(defines={"N": 4}),
    )
    with pytest.raises(c2cu.UnsupportedError, match="has an initialiser"):
        scheduled(front, "cuda", Candidate("gep:bands"))


def test_text_has_no_sizes_and_is_the_same_every_time():
    text = PATHS.format(n=200, t="float")
    assert artifact(text).text == artifact(text).text and "#define BAND" not in artifact(text).text
