"""Integers of 128 bits: in lowering two words, in CUDA text the compiler's own; equal to gcc's either way."""

import random

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import share
from tests.sample import sampled

P = 37
VARIABLES = [("a", "u8", (8,)), ("b", "u8", (8,)), ("c", "i8", (8,)), ("i", "i4", (8,))]
HEAD = (
    "typedef unsigned __int128 u128;\ntypedef __int128 i128;\nunsigned long a[8], b[8];\nlong c[8];\nint i[8];\n"
    "struct S { char h; i128 w; };\n"
)

#: name -> (declarations, statements): what public code does with them.
IDIOMS = {
    "the high word of a product": ("", "for (int k = 0; k < 8; k++) b[k] = (u128)a[k] * a[7 - k] >> 64;"),
    "both words folded": (
        "static void mum(unsigned long *p, unsigned long *q) { __uint128_t r = *p; r *= *q; *p = (unsigned long)r; *q = r >> 64; }",
        "for (int k = 0; k < 4; k++) { mum(&a[k], &a[k + 4]); b[k] = a[k] ^ a[k + 4]; }",
    ),
    "a number in a range": ("", "for (int k = 0; k < 8; k++) b[k] = (unsigned long)(((u128)a[k] * (u128)a[0]) >> 64);"),
    "sums of products, carried on by a shift": (
        "#define M 0xFFFFFFFFFFFFFul\ntypedef struct { u128 v; } acc; static void mac(acc *s, unsigned long x, unsigned long y) "
        "{ s->v += (u128)x * y; }",
        "acc s = {0}; for (int k = 0; k < 5; k++) { for (int j = 0; j <= k; j++) mac(&s, a[j] & M, a[k - j] & M); "
        "b[k] = (unsigned long)s.v & M; s.v >>= 52; } b[5] = s.v;",
    ),
    "addition with carry": (
        "",
        "u128 t = 0; for (int k = 0; k < 4; k++) { t += (u128)a[k] + a[k + 4]; b[k] = (unsigned long)t; t >>= 64; } b[4] = t;",
    ),
    "subtraction with borrow": (
        "",
        "i128 t = 0; for (int k = 0; k < 4; k++) { t += (i128)a[k] - a[k + 4]; b[k] = (unsigned long)t; t >>= 64; } b[4] = t;",
    ),
    "a state of 128 bits": (
        "static const u128 by = ((u128)2549297995355413924ULL << 64) + 4865540595714422341ULL; static u128 next(u128 *s) "
        "{ return *s = *s * by + (((u128)a[2] << 64 | a[3]) | 1); }",
        "u128 s = (u128)a[0] << 64 | a[1]; for (int k = 0; k < 8; k++) { next(&s); unsigned long x = (unsigned long)(s >> 64) ^ "
        "(unsigned long)s; b[k] = x >> (s >> 122) | x << (-(s >> 122) & 63); }",
    ),
    "attribute mode(TI)": (
        "typedef unsigned wide __attribute__((mode(TI)));\ntypedef int __attribute__((__mode__(__TI__))) signed_wide;",
        "wide t = (wide)a[0] * a[1]; signed_wide s = (signed_wide)c[0] * c[1]; b[0] = t >> 64; b[1] = s >> 64;",
    ),
    "seen as words and bytes": (
        "#include <string.h>\nunion U { u128 w; unsigned long h[2]; unsigned char c[16]; };",
        "union U u; u.w = (u128)a[0] * a[1]; b[0] = u.h[1]; u.c[3] ^= a[2]; b[1] = u.w; u128 t; memcpy(&t, a, 16); b[2] = t >> 64; "
        "t += 5; memcpy(&b[4], &t, 16); unsigned long *p = (unsigned long *)&t; b[3] = p[0]; p[1] = 7; b[6] = t >> 65;",
    ),
    "tables, members, arguments and results": (
        "static const u128 T[3] = {1, ((u128)5 << 100) + 7, (u128)-1}; static struct S twice(struct S s) { s.w *= 2; return s; } "
        "static i128 pick(int n, i128 x, i128 y) { if (n > 0) return x; return n ? y : -1; }",
        "struct S s = {1, pick(i[0], c[0], T[1])}; s = twice(s); u128 m[2][2] = {{a[0]}, {1, a[1]}}; for (int k = 0; k < 2; k++) "
        "for (int j = 0; j < 2; j++) m[k][j] += T[(a[2] & 1) + k] * s.w++; u128 *p = &m[0][1], *q = a[3] & 1 ? p : &m[1][0]; *q -= 3; "
        "for (int k = 0; k < 4; k++) { b[2 * k] = m[k / 2][k % 2]; b[2 * k + 1] = m[k / 2][k % 2] >> 64; }",
    ),
}


def text_of(declarations: str, statements: str) -> str:
    return f"{HEAD}{declarations}\nvoid kern(void)\n{{\n    {statements}\n}}\n"


def inputs_of(seed: int) -> dict[str, np.ndarray]:
    """Any words, and many at the ends."""
    rng = np.random.default_rng(seed)
    out = {}
    for name, t, shape in VARIABLES:
        info = np.iinfo(t)
        ends = np.array([0, 1, 2, info.max, info.max - 1, info.min], t)
        anything = rng.integers(info.min, info.max, (P, *shape), t, endpoint=True)
        out[name] = np.where(rng.random((P, *shape)) < 0.6, anything, rng.choice(ends, (P, *shape)))
    return out


def run(program: c2cu.Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    results = program({s.name: inputs[s.name] for s in program.slots})
    return results if isinstance(results, dict) else {s.name: results for s in program.slots if s.writes}


def judge(text: str, seed: int, schedules: tuple[str, ...]) -> None:
    inputs = inputs_of(seed)
    expected = Original(text, "kern", VARIABLES).bulk(inputs, P)
    for schedule in schedules:
        if schedule == "gang":
            results = run(c2cu.compile(text, fn="kern", backend="cpu", schedule=schedule), inputs)
        else:
            artifact = emit_schedule(schedule, pipeline.understand(read_source(text), pipeline.Options(fn="kern")))
            results = run_on_cpu(artifact, {s.name: inputs[s.name] for s in artifact.slots}, P)
        for name, array in results.items():
            assert same(array, expected[name]), f"{name} differs under {schedule}\n{text}"


@pytest.mark.parametrize("idiom", sampled(IDIOMS, 4))
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_idioms(idiom):
    judge(text_of(*IDIOMS[idiom]), len(idiom), ("gang",))


@pytest.mark.slow
@pytest.mark.parametrize("idiom", IDIOMS)
def test_idioms_in_cuda_text(idiom):
    schedules = ("private",) if "seen as" in idiom else ("private", "thread")  # columns have no bytes
    judge(text_of(*IDIOMS[idiom]), len(idiom), schedules)


class _Writer:
    """Writes a random program of 128-bit integers and others."""

    def __init__(self, seed: int):
        self.r = random.Random(seed)
        self.wide_variables = ["u0", "u1", "s0", "s1", "w[0]", "w[1]", "w[2]", "q.w"]

    def narrow(self, depth: int) -> str:
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            places = [f"{x}[{r.randrange(8)}]" for x in "aci"]
            return r.choice([*places, str(r.randrange(200)), "3000000000u", "-7"])
        w, n = self.wide(depth - 1), self.narrow(depth - 1)
        comparison = f"({w} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.either(depth - 1)})"
        casts = [f"({t})({w})" for t in ("unsigned long", "long", "int", "signed char", "_Bool")]
        return r.choice([comparison, comparison, *casts, f"!{w}", f"({w} && {n})", f"({n} {r.choice('+-*^')} {n})"])

    def either(self, depth: int) -> str:
        return self.wide(depth) if self.r.random() < 0.6 else self.narrow(depth)

    def wide(self, depth: int) -> str:
        r = self.r
        if depth <= 0 or r.random() < 0.2:
            return r.choice([*self.wide_variables, "(u128)a[1]", "(i128)c[2]", "(u128)i[3]", "(i128)a[4]"])
        w, e = self.wide(depth - 1), self.either(depth - 1)
        return r.choice(
            [
                f"({w} {r.choice('+-*&|^')} {e})",
                f"({w} {r.choice('+-*')} {e})",
                f"({w} {r.choice(['<<', '>>'])} {r.randrange(128)})",
                f"({w} {r.choice(['<<', '>>'])} ({self.narrow(depth - 1)} & 127))",
                f"({r.choice('-~')}{w})",
                f"({e} ? {w} : {self.either(depth - 1)})",
                f"({r.choice(['u128', 'i128'])}){self.narrow(depth - 1)}",
                f"f({e}, {self.either(depth - 1)})",
                f"((u128)(unsigned long){self.narrow(depth - 1)} * (unsigned long){self.narrow(depth - 1)})",
            ]
        )

    def statement(self) -> str:
        r, v = self.r, self.r.choice(self.wide_variables)
        return r.choice(
            [
                f"{v} = {self.either(3)};",
                f"{v} {r.choice(['+=', '-=', '*=', '^=', '|=', '&='])} {self.either(2)};",
                f"{v} {r.choice(['<<=', '>>='])} {self.narrow(1)} & 127;",
                r.choice([f"{v}++;", f"--{v};", f"b[0] += {v}--;"]),
                f"if ({self.either(2)}) {v} = {self.wide(2)};",
                f"for (int n = 0; n < 3; n++) {v} += {self.wide(2)};",
                f"b[{r.randrange(8)}] {r.choice(['=', '+=', '^='])} {self.wide(2)};",
                f"i[{r.randrange(8)}] {r.choice(['+=', '>>='])} ({self.either(2)}) & 31;",
            ]
        )

    def text(self) -> str:
        lines = [self.statement() for _ in range(12)]
        lines += [f"b[{k}] ^= {v} ^ ({v} >> 64);" for k, v in enumerate(self.wide_variables)]
        first = (
            "u128 u0 = a[0], u1 = (u128)a[1] << 64 | a[2]; i128 s0 = c[0], s1 = (i128)c[1] << 50; "
            "struct S q = {1, c[3]}; u128 w[3] = {a[3], 0, c[4]};"
        )
        f = "static u128 f(u128 x, i128 y) { if (x > y) return x - y; return x * 3 + y; }"
        return text_of(f, "\n    ".join([first, *lines]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(share(400, 8)))
def test_random_programs(seed):
    judge(_Writer(seed).text(), seed, ("gang", "private"))


@pytest.mark.parametrize(
    "statement",
    sampled(
        [
            "b[0] = (u128)a[0] * a[1] % (a[2] | 1);",
            "u128 t = a[0]; t /= 3; b[0] = t;",
            "b[0] = (double)(u128)a[0] > 5;",
            "u128 t = 1.5 * i[0]; b[0] = t;",
        ],
        4,
    ),
)
def test_division_and_floats_run_natively(statement):
    text = text_of("", statement)
    assert c2cu.check(text, fn="kern").findings == ()
    program = c2cu.compile(text, fn="kern", backend="cpu")
    assert program.plan.schedule == "native"
    assert any("128 bits" in reason and "<input>:10" in reason for _, reason in program.plan.rejected)
    inputs = inputs_of(3)
    expected = Original(text, "kern", VARIABLES).bulk(inputs, P)
    assert all(same(array, expected[name]) for name, array in run(program, inputs).items())


def test_they_go_in_and_out_as_bytes():
    text = "unsigned __int128 x[2], y; void kern(void) { y = x[0] * x[1]; x[1] += 1; }"
    rng = np.random.default_rng(0)
    words = rng.integers(0, 1 << 64, (P, 2, 2), np.uint64)
    for schedule in ("gang", "native"):
        out = c2cu.bulk(text, {"x": words.view("V16")[..., 0]}, fn="kern", backend="cpu", schedule=schedule)
        for n in range(P):
            first, second = (int(w[0]) + (int(w[1]) << 64) for w in words[n])
            product, more = first * second % (1 << 128), (second + 1) % (1 << 128)
            assert out["y"][n].tobytes() == product.to_bytes(16, "little")
            assert out["x"][n, 1].tobytes() == more.to_bytes(16, "little")
