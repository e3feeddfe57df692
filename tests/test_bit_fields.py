"""Bit-fields under every schedule that takes them, against gcc: widths, signs, layouts, unions, copies, initialisers."""

import random

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.sample import sampled

WIDTHS = {
    "unsigned": 32,
    "int": 32,
    "signed char": 8,
    "unsigned short": 16,
    "long": 64,
    "unsigned long": 64,
    "_Bool": 1,
}
P = 5


def fields(r: random.Random) -> tuple[str, list[str]]:
    """The members of a struct or union, and the names of those that have one."""
    members, names = [], []
    for k in range(r.randrange(2, 7)):
        kind = r.random()
        if kind < 0.15:
            members.append(f"{r.choice(['int', 'unsigned char', 'long'])} : {r.choice([0, 3, 5])};")
            continue
        names.append(f"m{k}")
        if kind < 0.3:
            members.append(f"{r.choice(['char', 'short', 'long'])} m{k};")
            continue
        t = r.choice(list(WIDTHS))
        width = r.choice([1, WIDTHS[t], r.randrange(1, WIDTHS[t] + 1)])
        members.append(f"{t} m{k} : {width - 32 if 32 < width < 64 else width};")
    return " ".join([*members, "unsigned last : 7;"]), [*names, "last"]


def program(seed: int) -> str:
    r = random.Random(seed)
    (s, of_s), (u, of_u) = fields(r), fields(r)
    places = ["v", "w[a[1] & 1]", "w[2]", "(*p)", "o.s[a[2] & 1]", "g[1]"]
    body, k = [], 0
    for _ in range(12):
        x, y = (r.choice([f"{r.choice(places)}.{r.choice(of_s)}", f"u.{r.choice(of_u)}", "o.k"]) for _ in range(2))
        y = r.choice([y, f"a[{r.randrange(6)}]", f"{r.randrange(-300, 3000)}", f"t[a[3] & 1].{r.choice(of_s)}"])
        copies = ["w[a[4] & 1] = v;", "v = *p;", "g[1] = v;", "v = id(w[1]);", "o.s[1] = o.s[0];", "v = g[0];"]
        body.append(
            r.choice(
                [
                    f"{x} = {y};",
                    f"b[{k}] = ({x} = {y});",
                    f"b[{k}] = {x}{r.choice(['++', '--'])};",
                    f"{x} {r.choice('+-*|&^')}= {y};",
                    f"b[{k}] = {x} {r.choice(['+', '-', '*', '<', '==', '>'])} {y} - 5;",
                    f"b[{k}] = {x} ? -({y}) : ~a[0];",
                    r.choice(copies),
                ]
            )
        )
        k += 1
    for place in ("v", "w[0]", "w[1]", "w[2]", "o.s[1]", "g[0]", "g[1]", "t[0]", "t[1]"):
        body += [f"b[{k + n}] = {place}.{m};" for n, m in enumerate(of_s)]
        k += len(of_s)
    values = ", ".join(str(r.randrange(-9, 100)) for _ in of_s)
    before, first = ("unsigned f[2]; ", "{7, 9}, ") if seed % 2 else ("", "")
    lines = "\n    ".join(body)
    return (
        f"struct S {{ {s} }};\nunion U {{ {u} }};\nstruct O {{ {before}struct S s[3]; unsigned k : 3; int z : 9; }};\n"
        f"int a[6]; long b[128];\nstruct S g[2] = {{{{{values}}}, {{.last = 3}}}};\n"
        f"static const struct S t[2] = {{{{{values}}}, {{1}}}};\n"
        f"static struct S id(struct S x) {{ x.{of_s[0]} = 5; return x; }}\nvoid kern(void) {{\n"
        f"    struct S v = {{{', '.join(f'a[{n % 6}]' for n in range(len(of_s)))}}}, w[3] = {{{{0}}}}, *p = &w[a[0] & 1];\n"
        f"    struct O o = {{{first}{{{{1}}, {{2}}}}, 3}}; union U u = {{3}};\n    {lines}\n}}\n"
    )


@pytest.mark.costly
@pytest.mark.parametrize("schedule", ["gang", "native", "private"])
@pytest.mark.parametrize("seed", sampled(range(6), 2))
def test_equal_to_gcc(seed, schedule):
    text = program(seed)
    a = np.random.default_rng(seed).integers(-50, 200, size=(P, 6)).astype(np.int32)
    inputs = {"a": a, "b": np.zeros((P, 128), np.int64)}
    variables = [("a", "int32", (6,)), ("b", "int64", (128,))]
    expected = Original(text, "kern", variables).bulk(inputs, P, fresh=True)["b"]
    if schedule == "private":
        front = pipeline.understand(read_source(text), pipeline.Options(fn="kern"))
        result = run_on_cpu(choose(front, "cuda", schedule)[1], inputs, P)["b"]
    else:
        result = c2cu.bulk(text, inputs, fn="kern", backend="cpu", schedule=schedule, outputs=["b"], verify=False)
    assert same(np.asarray(result["b"] if isinstance(result, dict) else result), expected)


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_structs_that_go_in_and_out(schedule):
    """With what lies beside the fields; a kernel that only writes some need not be given them."""
    text = (
        "struct F { unsigned x : 3, y : 11; int z : 30; signed char q : 5; }; struct F v[4], r; int s;\n"
        "void kern(void) { s = 0; r.x = 7; for (int i = 0; i < 4; i++) {\n"
        "    s += v[i].x * v[i].y - v[i].z + v[i].q; v[i].y += 3; v[i].z--; v[i].q = s; } }"
    )
    v = np.random.default_rng(1).integers(0, 256, size=(P, 4, 12)).astype(np.uint8)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule=schedule, verify=False)
    dtype = np.dtype(next(s.dtype for s in program.slots if s.name == "v"))
    results = program({"v": np.ndarray((P, 4), dtype, v.tobytes())})
    expected = Original(text, "kern", [("v", "uint8", (4, 12)), ("s", "int32", ())]).bulk({"v": v}, P)
    assert same(np.frombuffer(results["v"].tobytes(), np.uint8).reshape(P, 4, 12), expected["v"])
    assert same(results["s"], expected["s"]) and results["r"].tobytes()[:1] == b"\7"


def test_bit_fields_have_a_name_so_that_numpy_copies_them():
    """Those that lie together are one member, which may be set; an array whose dtype lacks it is taken too."""
    text = (
        "struct F { int x; unsigned a : 4, b : 4; short y; union { struct { int c : 7; }; double d; }; };\n"
        "struct G { unsigned all : 31; }; struct H { struct F f[2]; struct G g; };\n"
        "void kern(struct H *v, int *out) { for (int i = 0; i < 3; i++) { struct F *f = v[i].f + (i & 1);\n"
        "  out[i] = f->a * 1000 + f->b * 100 + f->c + v[i].g.all; f->b = f->x; f->c--; v[i].g.all++; } }"
    )
    program = c2cu.compile(text, fn="kern", backend="cpu", verify=False, shapes={"v": 3, "out": 3})
    dtype = np.dtype(next(s.dtype for s in program.slots if s.name == "v"))
    assert dtype["f"].base.names == ("x", "a:4,b:4", "y", "c:7", "d") and dtype["g"].names == ("all:31",)
    v = np.random.default_rng(1).integers(0, 256, size=(P, 3, 40)).astype(np.uint8)
    expected = Original(text, "kern", [], [("v", "uint8", (3, 40)), ("out", "int32", (3,))]).bulk({"v": v}, P)
    bare_f = np.dtype({"names": ["x", "y", "d"], "formats": ["i4", "i2", "f8"], "offsets": [0, 6, 8], "itemsize": 16})
    bare_g = np.dtype({"names": [], "formats": [], "offsets": [], "itemsize": 4})
    bare = {"names": ["f", "g"], "formats": [(bare_f, (2,)), bare_g], "offsets": [0, 32], "itemsize": 40}
    every_second = np.repeat(v.reshape(-1).view(dtype).reshape(P, 3), 2, axis=0)[::2]
    for given in (every_second, every_second.copy().view(np.dtype(bare))):
        results = program({"v": given})
        assert same(results["out"], expected["out"])
        v_after = np.frombuffer(results["v"].tobytes(), np.uint8).reshape(P, 3, 40)
        assert same(v_after[..., :36], expected["v"][..., :36])  # the rest is padding


def test_bit_fields_in_packed_structs_that_are_reached_by_a_pointer():
    """Their places are the compiler's secret: native knows them."""
    text = """#pragma pack(push, 1)
struct S { signed char a; unsigned b; short c; signed char d; long e; signed char f; unsigned g : 1; const signed char h; };
#pragma pack(pop)
struct T { int x; struct S s; int y; };
struct T t = {1, {2, 3, 1, 4, 5, 6, 1, 7}, 5};
int *p = &t.y, r;
void k(void) { r += *p; *p = 3; }
"""
    made = c2cu.compile(text, backend="cpu", fn="k")
    assert made.plan.schedule == "native"
    assert made({"r": np.arange(3, dtype="i4")})["r"].tolist() == [5, 6, 7]


@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("guard", ["", "if (x & 1) "])
def test_bit_fields_behind_an_array(guard, schedule):
    """They share words with other members, in structs of an array that an array of words stands before."""
    text = (
        "struct S { signed char c[3]; int g : 7; }; struct O { unsigned f[2]; struct S s[4]; }; struct O v;\n"
        f"void kern(void) {{ unsigned x = v.f[0]; for (int i = 0; i < 4; i++) {guard}v.s[i].g = (x + 3 * i) & 63; }}"
    )
    v = np.random.default_rng(1).integers(0, 256, size=(P, 24)).astype(np.uint8)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule=schedule, verify=False)
    dtype = np.dtype(program.slots[0].dtype)
    expected = Original(text, "kern", [("v", "uint8", (24,))]).bulk({"v": v}, P)
    assert same(np.frombuffer(program({"v": v.view(dtype)[:, 0]}).tobytes(), np.uint8).reshape(P, 24), expected["v"])
