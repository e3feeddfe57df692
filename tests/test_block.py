"""The schedule ``block``: checked thread by thread for races, and executed on the CPU."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import Source, read_source
from c2cu.ir.nodes import Loop
from c2cu.ir.walk import statements
from c2cu.schedule.block import emit
from c2cu.schedule.block.emit import block, compiled
from c2cu.schedule.block.notes import is_barrier, is_note, words
from c2cu.schedule.registry import emit_schedule
from c2cu.trace import run
from tests import loops, nvcc
from tests.block_checker import check, crossings, execute
from tests.block_programs import PROGRAMS, REFUSED
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import share, write
from tests.sample import sampled
from tests.workloads import WORKLOADS

COUNT = share(400, 24)
PARTS = 4
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40)


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    """Tracers compiled in less time."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "FLAGS", ("-O0", "-w"))


def understood(text, **options):
    source = read_source(text) if not isinstance(text, str) else Source("<input>", text)
    front = pipeline.understand(source, pipeline.Options(**options))
    if front.analysis is None:
        raise front.why_not
    return front


def data(front, rng, low=-5, high=6, special=0.0):
    """Elements by the region's name, as the checker wants them."""
    out = {}
    for r in front.analysis.kernel.regions:
        if r.storage == "bulk" or (r.storage == "shared" and r.init is None):
            low_here, high_here = (0, 2) if r.type.size == 1 else (low, high)
            out[r.name] = [
                rng.choice(SPECIAL)
                if r.type.is_float and rng.random() < special
                else r.type.wrap(rng.randrange(low_here, high_here))
                for _ in range(r.count)
            ]
    return out


@pytest.mark.parametrize("name", sampled(PROGRAMS, 4))
def test_checked(name):
    front = understood(PROGRAMS[name], fn="k")
    rng = random.Random(1)
    taken = 0
    for threads in (0, 8, 12, 20):
        try:
            program = compiled(front.analysis, front.trace, "exact", threads)
        except c2cu.UnsupportedError as e:
            assert threads or re.search(REFUSED[name], str(e))
            continue
        taken += 1
        assert not crossings(front.analysis, front.trace, program)
        check(front.analysis, front.trace, program, data(front, rng))
        if not threads:
            check(front.analysis, front.trace, program, data(front, rng, special=0.1))
    assert bool(taken) == (name not in REFUSED)


@pytest.mark.parametrize("name", ["fw-17", "fw-12", "cond-hazard", "max-of-two"])
def test_redone_where_iterations_depend_on_each_other(name):
    """And only there."""
    front = understood(PROGRAMS[name], fn="k")
    program = compiled(front.analysis, front.trace)
    assert program.builder.speculative
    rng = random.Random(2)
    assert check(front.analysis, front.trace, program, data(front, rng))
    if name.startswith("fw"):
        assert not check(front.analysis, front.trace, program, data(front, rng, 0, 100))


def without(program, k):
    """The program with one statement of it less, or with the first of a loop's body less."""
    s = program.body[k]
    new = (replace(s, body=s.body[1:]),) if isinstance(s, Loop) else ()
    return replace(program, body=(*program.body[:k], *new, *program.body[k + 1 :]))


@pytest.mark.parametrize("name", ["jacobi-1d", "hillis-steele", "odd-even-merge", "step-between", "fw-12", "two-sizes"])
def test_a_barrier_left_out_is_noticed(name):
    """Each one, whatever the data; and by the program's own run, where data lets threads race."""
    front = understood(PROGRAMS[name], fn="k")
    program = compiled(front.analysis, front.trace)
    barriers = [k for k, s in enumerate(program.body) if is_barrier(s) or isinstance(s, Loop) and is_barrier(s.body[0])]
    assert barriers
    for k in barriers:
        assert crossings(front.analysis, front.trace, without(program, k))
        if name == "jacobi-1d":
            with pytest.raises(AssertionError):
                check(front.analysis, front.trace, without(program, k), data(front, random.Random(4)))


def test_registers_stay_where_a_phase_reads_other_arrays():
    """Each input's own tables of roots cost no barrier more than those that all inputs share."""
    w = next(w for w in WORKLOADS if w.name == "fft-64")
    counts = []
    for shared in (w.shared, ()):
        front = understood(w.path, defines={n: str(v) for n, v in w.defines.items()}, shared=shared)
        program = compiled(front.analysis, front.trace)
        assert not crossings(front.analysis, front.trace, program)
        back = sum(is_note(s) and "back to shared memory" in words(s) for s in program.body)
        counts.append((back, sum(map(is_barrier, program.body))))
    assert counts[0] == counts[1]


RUNTIME = {
    "a table": "int t[16], a[24];\nvoid k(void) { for (int r = 0; r < 8; r++) for (int i = 0; i < 24; i++) a[i] = a[i] * t[(i + r) & 15] + t[r]; }",
    "a variable": "int t[16], a[24];\nvoid k(void) { for (int i = 0; i < 24; i++) { int v = t[i & 15]; a[i] += v * v; } }",
    "known to some": "int t[16], a[24];\nvoid k(void) { for (int i = 0; i < 24; i++) { int v = t[i & 15]; a[i] += v; if (i < 3) v = 5; a[i] ^= v; } }",
    "brought to some": "int t[16], a[24];\nvoid k(void) { for (int i = 0; i < 24; i++) { int v = 5; a[i] += v; if (i < 3) v = t[i]; a[i] ^= v; } }",
    "outside": "int t[16], a[24];\nvoid k(void) { int v = t[3]; for (int i = 0; i < 24; i++) a[i] += v; }",
    "in a step": "int t[16], a[24];\nvoid k(void) { for (int i = 0; i < 24; i++) a[i] += i; a[3] += t[2]; }",
    "a condition": "int t[16], a[24];\nvoid k(void) { for (int i = 0; i < 24; i++) if (t[i & 15] > 2) a[i] += 1; else a[i] -= t[0]; }",
}


@pytest.mark.parametrize("name", RUNTIME)
def test_what_all_inputs_share(name):
    front = understood(RUNTIME[name], fn="k", shared=("t",))
    if name in ("a table", "a variable", "in a step"):
        program = compiled(front.analysis, front.trace)
        check(front.analysis, front.trace, program, data(front, random.Random(3)))
    else:
        with pytest.raises(c2cu.UnsupportedError) as caught:
            compiled(front.analysis, front.trace)
        codes = {"outside": "C2CU284", "a condition": "C2CU093"}
        assert caught.value.code == codes.get(name, "C2CU285")


@pytest.mark.parametrize("part", sampled(range(PARTS), 4))
@pytest.mark.slow
def test_random_loops_checked(part):
    """Whatever is taken is right; what is not says why."""
    taken = 0
    for seed in range(part * 10**6, part * 10**6 + COUNT // PARTS):
        text = loops.nests(seed) if seed % 6 else write(seed).text
        try:
            front = understood(text, fn="kern")
            programs = [compiled(front.analysis, front.trace, "exact", threads) for threads in (0, 12)]
        except c2cu.Error:
            continue
        taken += 1
        for program in programs:
            assert not crossings(front.analysis, front.trace, program)
            check(front.analysis, front.trace, program, data(front, random.Random(seed)))
    assert taken or COUNT < 40


# executed


def judge(text, variables, inputs, p, params=(), returns="", shared=(), threads=0, **how):
    front = understood(text, fn="k", shared=shared)
    layout = front.layout
    a = block(front.analysis, front.trace, front.slots, layout, "exact", threads)
    whole = {n: np.broadcast_to(x, (p, *x.shape)) if n in shared else x for n, x in inputs.items()}
    expected = Original(text, "k", variables, params, returns).bulk(whole, p)
    result = run_on_cpu(a, inputs, p, **how)
    assert result
    for name, array in result.items():
        assert same(array, expected[name]), f"{name} differs\n{text}"
    return a


@pytest.mark.parametrize("name", sampled(["fw-16", "bitonic-32", "fft-64", "dct-8x8"], 2))
@pytest.mark.slow
def test_examples(name):
    w = next(w for w in WORKLOADS if w.name == name)
    a = emit_schedule("block", understood(w.path, defines={n: str(v) for n, v in w.defines.items()}, shared=w.shared))
    inputs = w.inputs(7)
    expected = w.expected(inputs, 7)
    for p in (1, 3, 7):
        result = run_on_cpu(a, w.first(inputs, p), p, in_place=p == 7)
        for n, e in expected.items():
            assert same(result[n], e[:p]), (n, p)


@pytest.mark.slow
def test_negative_cycles():
    """Of some inputs of a block, and NaN, infinities and zeros of both signs."""
    text = PROGRAMS["fw-17"].replace("17", "16")
    rng = np.random.default_rng(4)
    D = rng.random((9, 16, 16), np.float32)
    D[2, 5, 5] = D[7, 0, 0] = D[7, 3, 3] = -0.5
    D[3].flat[rng.integers(0, 256, 40)] = np.nan
    D[4].flat[rng.integers(0, 256, 40)] = -0.0
    D[8].flat[rng.integers(0, 256, 40)] = np.inf
    for threads in (0, 8):
        a = judge(text, [("D", "float32", (16, 16))], {"D": D}, 9, threads=threads, in_place=threads == 8)
        assert "redo = 1" in a.text or "? 1 : redo" in a.text
        assert threads != 8 or a.inputs > 4


TYPES = {"_Bool": "bool", "unsigned char": "uint8", "short": "int16", "long": "int64", "double": "float64"}


@pytest.mark.parametrize("t", sampled(TYPES, 4))
def test_types_and_alignment(t):
    text = f"{t} a[33], b[33]; {t} s;\nvoid k(void) {{ for (int i = 0; i < 33; i++) {{ b[32 - i] = a[i] + s; if (i & 1) a[i] = 1; }} s = a[0]; }}\n"
    variables = [("a", TYPES[t], (33,)), ("b", TYPES[t], (33,)), ("s", TYPES[t], ())]
    rng = np.random.default_rng(5)
    inputs = {n: rng.integers(0, 2 if t == "_Bool" else 60, (5, *s)).astype(d) for n, d, s in variables}
    judge(text, variables, inputs, 5, in_place=True)
    judge(text, variables, inputs, 5, shift=np.dtype(TYPES[t]).itemsize)


def test_what_is_given_and_what_is_not():
    """Outputs that are partly written, initialised globals, scalars in and out."""
    text = """
    int w[20] = {1, 2, 3, -4}, a[20], n = 7, out[24], late[20];
    int k(int x) {
        for (int i = 0; i < 20; i++) { a[i] += w[i] * n + x; w[i] = a[i]; }
        for (int i = 3; i < 20; i += 2) out[i] = a[i];
        for (int i = 0; i < 20; i++) if (a[i] & 1) late[i] = i;
        n++;
        return a[3] ^ n;
    }"""
    front = understood(text, fn="k")
    a = emit_schedule("block", front)
    rng = np.random.default_rng(6)
    x, start = rng.integers(-9, 9, 3, np.int32), rng.integers(-9, 9, (3, 20), np.int32)
    w = np.zeros((3, 20), np.int32)
    w[:, :4] = [1, 2, 3, -4]
    want = start + w * 7 + x[:, None]
    for late in (None, rng.integers(-9, 9, (3, 20), np.int32)):
        inputs = {"x": x, "a": start} | ({"late": late} if late is not None else {})
        got = run_on_cpu(a, inputs, 3)
        assert np.array_equal(got["a"], want) and np.array_equal(got["w"], want) and (got["n"] == 8).all()
        assert np.array_equal(got["return"], want[:, 3] ^ 8)
        assert np.array_equal(got["late"], np.where(want & 1, np.arange(20), 0 if late is None else late))
        odd = [i for i in range(24) if 3 <= i < 20 and i & 1]
        assert np.array_equal(got["out"][:, odd], want[:, odd]) and not np.delete(got["out"], odd, 1).any()


EXECUTED = ["wide", "small", "blelloch", "two-sizes", "step-between", "uniform-array-perm"]  # fmt: skip


@pytest.mark.parametrize("name", sampled(EXECUTED, 3))
def test_programs_executed(name):
    front = understood(PROGRAMS[name], fn="k")
    rng = np.random.default_rng(7)
    variables = [(s.name, s.dtype, s.shape) for s in front.slots]
    inputs = {n: rng.integers(0, 2 if d == "bool" else 90, (3, *s)).astype(d) for n, d, s in variables}
    judge(PROGRAMS[name], variables, inputs, 3)


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(EXECUTED, 2))
def test_arrays_in_memory_of_the_device(name, monkeypatch):
    """Where a block has too little shared memory."""
    monkeypatch.setattr(emit, "room", lambda: 0)
    text = PROGRAMS[name]
    front = understood(text, fn="k")
    a = emit_schedule("block", front)
    assert a.shared_bytes == 0 and "extern __shared__" not in a.text
    rng = np.random.default_rng(7)
    variables = [(s.name, s.dtype, s.shape) for s in front.slots]
    inputs = {n: rng.integers(0, 2 if d == "bool" else 90, (7, *s)).astype(d) for n, d, s in variables}
    judge(text, variables, inputs, 7)


@pytest.mark.parametrize(
    "text, message",
    [
        ("struct P { float x, y; } p[20]; float s[20];\nvoid k(void) { for (int i = 0; i < 20; i++) s[i] = p[i].x * p[i].y; }", "'p.x' is part of a struct"),
        ("double a[40009];\nvoid k(void) { for (int i = 0; i < 40009; i++) a[i] += 1; }", "number of threads"),
        ("int a[8], b;\nvoid k(void) { b = a[b & 7]; }", "nothing is proved about the loops"),
        ("int a[8];\nvoid k(void) { for (int i = 0; i < 9; i++) if (a[0] > i) a[i] = 1; }", "a subscript may leave its array"),
    ],
)  # fmt: skip
def test_refused(text, message):
    with pytest.raises(c2cu.UnsupportedError, match=message) as caught:
        emit_schedule("block", understood(text, fn="k"))
    assert caught.value.line


def test_shared_memory_is_that_of_all_arrays():
    a = emit_schedule(
        "block",
        understood(
            "double a[512]; char b[3]; int c[33];\nvoid k(void) { for (int i = 0; i < 512; i++) a[i] += c[i & 31] + b[2]; }",
            fn="k",
        ),
    )
    assert a.shared_bytes == a.inputs * (8 * (512 + 31) + 8 + 16 + 4 * 34 + 8)


def test_the_same_text_every_time():
    text = PROGRAMS["jacobi"]
    assert (
        emit_schedule("block", understood(text, fn="k")).text == emit_schedule("block", understood(text, fn="k")).text
    )


# read


BITONIC = """
float a[N];
void k(void) {
    for (int k = 2; k <= N; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            for (int i = 0; i < N; i++) {
                int l = i ^ j;
                if (l > i) {
                    int up = (i & k) == 0;
                    if ((a[i] > a[l]) == up) { float t = a[i]; a[i] = a[l]; a[l] = t; }
                }
            }
}
"""
FW = """
float D[32][32];
void k(void) {
    for (int k = 0; k < 32; k++)
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 32; j++)
                if (D[i][j] > D[i][k] + D[k][j])
                    D[i][j] = D[i][k] + D[k][j];
}
"""
READ = {
    "in shared memory": BITONIC.replace("N", "32"),
    "in registers": BITONIC.replace("N", "64"),
    "rounds": FW,
    **{n: PROGRAMS[n] for n in ("jacobi", "jacobi-1d", "blelloch", "step-between", "lookup", "gauss-jordan")},
}
PHASE = re.compile(r"Phases? (\d+)(?: to (\d+))? of (\d+): the loops?(?: over .*?)? at ([^ ,]+:[\d and]*\d)")


def notes(text):
    """The program, and the words of its notes and barriers, in order."""
    front = understood(text, fn="k")
    program = compiled(front.analysis, front.trace)
    return front, program, [words(s) for s in statements(program.body) if is_note(s) or is_barrier(s)]


@pytest.mark.parametrize("name", READ)
def test_every_phase_says_which_loop_it_is(name):
    _, _, said = notes(READ[name])
    phases = [m for m in map(PHASE.match, said) if m]
    assert len(phases) == sum(w.startswith("Phase") for w in said)
    numbers = [n for m in phases for n in range(int(m[1]), int(m[2] or m[1]) + 1)]
    assert numbers == list(range(1, int(phases[0][3]) + 1))
    lines = READ[name].split("\n")
    for m in phases:
        file, _, numbers = m[4].partition(":")
        assert file == "<input>"
        assert all("for (" in lines[int(n) - 1] for n in re.findall(r"\d+", numbers)), m[0]


@pytest.mark.parametrize("name", ["in shared memory", "in registers"])
def test_what_is_said_of_iterations_is_so(name):
    """For each thread; and all iterations are there."""
    _, program, said = notes(READ[name])
    size = 32 if name == "in shared memory" else 64
    seen, stage = [], {}
    for text in [*said, "Phase"]:
        if text.startswith("Phase"):
            assert not stage or sorted(seen) == [i for i in range(size) if i ^ stage["j"] > i]
            seen, stage = [], {n: int(v) for n, v in re.findall(r"\b([kj]) = (\d+)\b", text.partition(", at ")[2])}
            assert text == "Phase" or len(stage) == 2
        elif text.startswith("i = "):
            names, _, guard = text.partition(", l > i where ")
            for tid in range(program.threads):
                v = {n: int(eval(e, {"tid": tid})) for n, e in (x.split(" = ") for x in names.split(", "))}
                taken = bool(eval(guard or "1", {"tid": tid}))
                assert v["l"] == v["i"] ^ stage["j"] and (v["l"] > v["i"]) == taken
                assert not taken or v["up"] == ((v["i"] & stage["k"]) == 0)
                seen += [v["i"]] if taken else []


@pytest.mark.slow
def test_what_is_said_of_rounds_is_so():
    _, program, said = notes(FW)
    [phase] = [t for t in said if t.startswith("Phase")]
    assert "Phases 1 to 32 of 32" in phase and "k = round" in phase and "sets redo" in phase
    seen = []
    for text in (t for t in said if t.startswith("i = ")):
        i, j = (x.split(" = ")[1] for x in text.split(", "))
        seen += [(eval(i, {"tid": t}), eval(j, {"tid": t})) for t in range(program.threads)]
    assert sorted(seen) == [(i, j) for i in range(32) for j in range(32)]


@pytest.mark.parametrize("name", ["jacobi-1d", "jacobi", "blelloch"])
def test_a_barrier_says_for_which_arrays_it_stands(name):
    """Without it threads race for these, and for no others."""
    front, program, _ = notes(PROGRAMS[name])
    inputs = data(front, random.Random(4))
    barriers = [k for k, s in enumerate(program.body) if is_barrier(s)]
    told = 0
    for k in barriers:
        names = re.findall(r"(?:^|; )([^:]+): another ", words(program.body[k]))
        raced = execute(front.analysis, front.trace, without(program, k), inputs, clashing=True).arrays
        assert raced <= crossings(front.analysis, front.trace, without(program, k))
        assert raced <= {n for group in names for n in group.split(" and ")}
        told += bool(raced)
    assert told


LOCAL = re.compile(
    r"^ *(?:const )?(?:float|double|bool|int|unsigned int|long long|short|signed char|unsigned char) (\w+ = .*);"
)


@pytest.mark.parametrize("name", READ)
def test_every_variable_is_read(name):
    text = emit_schedule("block", understood(READ[name], fn="k")).text
    kernel = text[text.index("c2cu_run(") :]
    for line in kernel.split("\n"):
        for v in re.findall(r"(?:^|, )(\w+) = ", m[1]) if (m := LOCAL.match(line)) else ():
            assert re.search(rf"(?<!\w){v}\b(?! = )|\b{v} = {v}\b", kernel.replace(line, line.partition(" = ")[2])), v
    assert all("/*" in line for line in kernel.split("\n") if "c2cu_sync();" in line)


@nvcc.needed
@pytest.mark.parametrize("name", READ)
def test_nvcc_finds_nothing_unused(name, tmp_path):
    assert nvcc.kernels(emit_schedule("block", understood(READ[name], fn="k")).text, tmp_path)
