"""The schedule ``registers``, executed on the CPU: equal to gcc for every kind of variable, p and placement."""

import re

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import Options
from c2cu.schedule.choose import choose, scheduled
from c2cu.schedule.registry import emit_schedule
from c2cu.schedule.schedule import Candidate
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import share, write
from tests.sample import sampled, slow
from tests.small_state import PROGRAMS
from tests.workloads import SIZES, WORKLOADS

COUNT = share(400, 24)
PARTS = 4
P = 70  # more than a block, and no multiple of a warp


def artifact(src, **options):
    """The schedule's artifact. Raises UnsupportedError where it does not take the program."""
    return emit_schedule("registers", pipeline.understand(read_source(src), pipeline.Options(**options)))


def judge(a, text, fn, variables, inputs, p, shared=(), **how) -> None:
    """The artifact's outputs against the C's. ``variables`` as for `Original`, ``inputs`` of p inputs."""
    whole = {n: np.broadcast_to(x, (p, *x.shape)) if n in shared else x for n, x in inputs.items()}
    expected = Original(text, fn, variables).bulk(whole, p)
    result = run_on_cpu(a, inputs, p, **how)
    assert result
    for name, array in result.items():
        assert same(array, expected[name]), f"{name} differs\n{text}"


@pytest.mark.parametrize("name", [slow("bitonic-32"), "montgomery-512", slow("montgomery-2048")])
def test_examples(name):
    w = next(w for w in WORKLOADS if w.name == name)
    a = artifact(w.path, defines={n: str(v) for n, v in w.defines.items()})
    inputs = w.inputs(max(SIZES))
    expected = w.expected(inputs, max(SIZES))
    for p in SIZES:
        result = run_on_cpu(a, {n: x[:p] for n, x in inputs.items()}, p)
        for n, e in expected.items():
            assert same(result[n], e[:p]), (n, p)


@pytest.mark.parametrize("name, larger", [
    ("fw-64", {}), ("bitonic-1024", {}), ("montgomery-2048", {"BITS": 8192}), ("prefix-1024", {}),
])  # fmt: skip
def test_what_is_too_large_is_refused(name, larger):
    w = next(w for w in WORKLOADS if w.name == name)
    with pytest.raises(c2cu.UnsupportedError, match="registers"):
        artifact(w.path, defines={n: str(v) for n, v in {**w.defines, **larger}.items()})


def test_many_calls_stay_in_their_loop():
    """Of a function of math.h: each is as much work for the compiler as many statements."""
    loop = "double x, v; void k(void) {{ for (int i = 0; i < {}; i++) {{ v -= sin(x) / 64; x += v * cos(v) / 64; }} }}"
    few, many = (artifact("#include <math.h>\n" + loop.format(n), fn="k").text for n in (100, 900))
    assert "while" not in few and many.count("c2cu_math_sin(") < 10 and "while" in many


@pytest.mark.parametrize("name", sampled(PROGRAMS, 3))
def test_small_states(name):
    text, fn, variables = PROGRAMS[name]
    rng = np.random.default_rng(1)
    inputs = {n: _numbers(rng, np.dtype(d), (P, *s)) for n, d, s in variables}
    judge(artifact(text, fn=fn), text, fn, variables, inputs, P)


def _numbers(rng, dtype, shape):
    return (rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, 4, shape)).astype(dtype)


@pytest.mark.slow
def test_shared_arrays():
    """In variables, at constants; and read where they lie, at subscripts that stay."""
    text, fn, variables = PROGRAMS["fft"]
    rng = np.random.default_rng(2)
    inputs = {n: _numbers(rng, np.dtype(d), s if n in ("wr", "wi") else (P, *s)) for n, d, s in variables}
    judge(artifact(text, fn=fn, shared=("wr", "wi")), text, fn, variables, inputs, P, ("wr", "wi"))
    text = """
    struct S { short k; double w[3][2]; } t[50];
    const int c[4] = {5, -6, 7, 8};
    double sum;
    void k(void) {
        for (int i = 0; i < 9000; i++) sum += t[i % 50].w[i % 3][i & 1] * (t[(i + 1) % 50].k + c[i & 3]);
    }"""
    struct = np.dtype({"names": ["k", "w"], "formats": ["i2", ("f8", (3, 2))], "offsets": [0, 8], "itemsize": 56})
    t = np.zeros(50, struct)
    t["k"], t["w"] = rng.integers(0, 9, 50), rng.normal(size=(50, 3, 2))
    variables = [("t", struct, (50,)), ("sum", "float64", ())]
    inputs = {"t": t, "sum": rng.normal(size=P)}
    judge(artifact(text, fn="k", shared=("t",)), text, "k", variables, inputs, P, ("t",))


TYPES = {
    "_Bool": "bool",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "long": "int64",
    "unsigned long long": "uint64",
    "float": "float32",
    "double": "float64",
}


@pytest.mark.parametrize("t", sampled(TYPES, 12))
@pytest.mark.parametrize("count", [slow(1), 3, slow(33)])
def test_types_and_alignment(t, count):
    """Rows of any length, in units from 1 to 16 bytes; arrays that are not aligned to units; in place."""
    text = f"{t} a[{count}], b[{count}]; {t} s;\nvoid k(void) {{\n    for (int i = 0; i < {count}; i++) {{ b[{count} - 1 - i] = a[i] + s; if (i & 1) a[i] = 1; }}\n    s = a[0];\n}}\n"
    variables = [("a", TYPES[t], (count,)), ("b", TYPES[t], (count,)), ("s", TYPES[t], ())]
    rng = np.random.default_rng(3)
    inputs = {n: rng.integers(0, 2 if t == "_Bool" else 60, (P, *s)).astype(d) for n, d, s in variables}
    a = artifact(text, fn="k")
    judge(a, text, "k", variables, inputs, P, in_place=True)
    judge(a, text, "k", variables, inputs, 33, shift=np.dtype(TYPES[t]).itemsize)


@pytest.mark.slow
def test_arrays_that_keep_their_subscripts():
    text = """
    unsigned char b[5]; short h[7]; long long w[3]; float f[4]; double total;
    static int scratch[9];
    void k(void) {
        int local[6];
        for (int i = 0; i < 6; i++) local[i] = i;
        for (int i = 0; i < 9000; i++) {
            b[i % 5] += h[i % 7]; h[(i + 1) % 7] ^= b[(i * 3) % 5]; w[i % 3] += h[i % 7] * (long long)b[0];
            if (w[i % 3] & 1) f[i & 3] += 1.5f; else local[i % 6] -= b[1];
            scratch[i % 9] = local[(i + 1) % 6];
            total += f[(i + 2) & 3] + scratch[i % 9];
        }
    }"""
    variables = [
        ("b", "uint8", (5,)),
        ("h", "int16", (7,)),
        ("w", "int64", (3,)),
        ("f", "float32", (4,)),
        ("total", "float64", ()),
    ]
    rng = np.random.default_rng(4)
    inputs = {n: _numbers(rng, np.dtype(d), (P, *s)) for n, d, s in variables}
    a = artifact(text, fn="k")
    elements = {name: int(n) for name, n in re.findall(r"__shared__ .* (\w+)_at_all\[(\d+)\]", a.text)}
    assert elements == {n: 64 * k for n, k in dict(b=5, h=7, w=3, f=4, local=6, scratch=9).items()}
    judge(a, text, "k", variables, inputs, P)


STRUCT = np.dtype({"names": ["c", "x", "y", "z"], "formats": ["i1", "i4", ("f8", (2,)), "u2"], "offsets": [0, 4, 8, 24], "itemsize": 32})  # fmt: skip


@pytest.mark.parametrize("t, apart", [("unsigned char", 4), ("short", 2)])
def test_parts_of_a_word_lie_together(t, apart):
    """Where subscripts say which part they mean; a subscript from data keeps elements apart."""
    text = f"""
    {t} a[12][8], c[8]; int turns;
    void k(void) {{
        {t} b[12][8];
        for (int t = 0; t < turns; t++) {{
            for (int i = 0; i < 12; i++) for (int j = 0; j < 8; j++)
                b[i][j] = a[(i + 11) % 12][j] + a[i][(j + 1) % 8] * 3 - (a[i][j] > 4 ? a[(i + 1) % 12][(j + 7) % 8] : 1);
            for (int i = 0; i < 12; i++) for (int j = 0; j < 8; j++) a[i][j] = b[i][j];
            c[a[t % 12][3] & 7] += a[t % 12][2];
        }}
    }}
    """
    dtype, rng = np.dtype("u1" if apart == 4 else "i2"), np.random.default_rng(3)
    p = 100
    inputs = {
        "a": rng.integers(0, 120, (p, 12, 8)).astype(dtype),
        "c": rng.integers(0, 120, (p, 8)).astype(dtype),
        "turns": rng.integers(0, 20, p).astype(np.int32),
    }
    a = artifact(text)
    assert f"a_at = a_at_all + {apart} * threadIdx.x;" in a.text and "c_at = c_at_all + threadIdx.x;" in a.text
    variables = [("a", dtype, (12, 8)), ("c", dtype, (8,)), ("turns", "int32", ())]
    judge(a, text, "k", variables, inputs, p)


def test_structs_keep_what_is_not_touched():
    text = """
    struct S { signed char c; int x; double y[2]; unsigned short z; } s[3], t;
    void k(void) { for (int i = 0; i < 3; i++) { s[i].y[i & 1] *= s[i].c; s[i].z += t.x; } t.c = s[1].z; }
    """
    variables = [("s", STRUCT, (3,)), ("t", STRUCT, ())]
    rng = np.random.default_rng(5)
    inputs = {
        n: rng.integers(0, 256, (P, int(np.prod(s)) * 32), np.uint8).view(d).reshape(P, *s) for n, d, s in variables
    }
    for a in inputs.values():
        a["y"] = rng.normal(size=a["y"].shape)
    a = artifact(text, fn="k")
    judge(a, text, "k", variables, inputs, P)
    judge(a, text, "k", variables, inputs, P, in_place=True, shift=1)
    result = run_on_cpu(a, inputs, P)
    padding = [1, 2, 3, 26, 27, 28, 29, 30, 31]
    for n in ("s", "t"):
        before, after = (x[n].reshape(P, -1).view(np.uint8).reshape(P, -1, 32) for x in (inputs, result))
        assert np.array_equal(before[:, :, padding], after[:, :, padding])


def test_what_is_not_given_starts_from_its_initialiser():
    text = """
    int a[4] = {3, -1, 4}, n = 7, out[4];
    double d[2] = {0.5, -0.0};
    int k(int x) { for (int i = 0; i < 4; i++) out[i] = a[i] * n + x; a[1]++; d[0] += x; return out[0] ^ n; }
    """
    a = artifact(text, fn="k")
    x = np.arange(P, dtype=np.int32)
    result = run_on_cpu(a, {"x": x}, P)
    start = np.array([3, -1, 4, 0])
    assert np.array_equal(result["out"], start * 7 + x[:, None])
    assert np.array_equal(result["a"], np.tile([3, 0, 4, 0], (P, 1)))
    assert np.array_equal(result["d"], np.stack([0.5 + x, np.full(P, -0.0)], 1)) and np.signbit(result["d"][:, 1]).all()
    assert np.array_equal(result["return"], (3 * 7 + x) ^ 7)


@pytest.mark.slow
def test_fast_is_asked_for():
    text, fn, variables = PROGRAMS["paths"]
    exact, fast = (artifact(text, fn=fn, fp=fp) for fp in ("exact", "fast"))
    assert "fminf" not in exact.text and not exact.flags
    assert "fminf" in fast.text and "?" not in fast.text.split("(void)rows")[1] and "--fmad=true" in fast.flags
    inputs = {"D": np.random.default_rng(6).random((P, 8, 8), np.float32)}
    judge(fast, text, fn, variables, inputs, P)
    text, fn, variables = PROGRAMS["dct"]  # integers are the same under every value
    assert (
        artifact(text, fn=fn, fp="fast").text
        == artifact(text, fn=fn).text
        == artifact(text, fn=fn, fp="reassociate").text
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("int b;\nvoid k(void) { double a[1200]; for (int i = 0; i < 1200; i++) a[i] = i * b; b = (int)a[b & 1023]; }\n", "9600 bytes of arrays an input, more than 8192"),
        ("int a[300];\nvoid k(void) { a[299] = a[0]; }\n", "1200 bytes go out"),
        slow(("int a[500], s;\nvoid k(void) { for (int i = 0; i < 30000; i++) s += a[i % 500]; }\n", "'a' has subscripts that do not become constants: 2000 bytes")),
    ],
)  # fmt: skip
def test_refused(text, message):
    with pytest.raises(c2cu.UnsupportedError, match=re.escape(message)) as caught:
        artifact(text, fn="k")
    assert caught.value.line == 2 or "subscripts that" in message
    front = pipeline.understand(read_source(text), pipeline.Options(fn="k"))
    plan, _ = choose(front, "cuda")
    assert plan.schedule == "thread" and message in dict(plan.rejected)["registers"]


@pytest.mark.slow
def test_the_same_text_every_time():
    assert artifact(PROGRAMS["dct"][0]).text == artifact(PROGRAMS["dct"][0]).text


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(range(PARTS), 4))
def test_random_programs(part):
    """All that are oblivious are taken, and they are many."""
    taken = 0
    for k in range(part, COUNT, PARTS):
        program = write(5_000_000 + k)
        front = pipeline.understand(read_source(program.text), pipeline.Options(fn="kern"))
        if front.analysis is None or not front.analysis.oblivious:
            continue
        taken += 1
        inputs = program.inputs(P, k)
        a = emit_schedule("registers", front)
        judge(a, program.text, "kern", program.variables, inputs, P, in_place=bool(k & 1), shift=8 * (k & 2))
    assert taken >= COUNT // PARTS // 6


def test_a_constant_subscript_outside_behind_a_branch():
    """Unrolled, ``c[i + 1]`` is outside in the last turn, where the branch is not taken."""
    text = """
    int a[4], c[3], out[4];
    void f(void) { for (int i = 0; i < 4; i++) { if (i < 2 && a[i] > 0) out[i] = c[i + 1]; else out[i] = i; } }
    void g(void) { for (int i = 0; i < 4; i++) { if (a[i] > 9 && c[i + i] > 0) out[i] = c[i + i]; } }
    """
    for fn in ("f", "g"):
        front = pipeline.understand(read_source(text), Options(fn))
        assert choose(front, "cuda")[1].text


@pytest.mark.slow
def test_very_long_expressions():
    text = "float a[4], b;\nvoid f(void) { b = " + " + ".join(f"a[{k % 4}] * {k}.0f" for k in range(600)) + "; }"
    front = pipeline.understand(read_source(text), Options())
    for backend, name in (
        ("cuda", "thread"),
        ("cuda", "private"),
        ("cuda", "registers"),
        ("cpu", "gang"),
        ("cpu", "native"),
    ):
        assert scheduled(front, backend, Candidate(name))[1].text
