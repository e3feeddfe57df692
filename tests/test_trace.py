"""The exact trace: planted faults are found at their line, sound programs are left alone."""

import os
import random
import re
import stat
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.analysis.facts import CERTAIN, INPUT, LOADED, STORED
from c2cu.base.scratch import scratch
from c2cu.frontend.kernel import kernel_program
from c2cu.frontend.parse import deep, parse
from c2cu.frontend.preprocess import Source, preprocess
from c2cu.frontend.typed import typed
from c2cu.ir.nodes import Region
from c2cu.pipeline import Options, analyse, understand
from c2cu.trace import diagnosed, run, trace
from c2cu.trace.steps import tracer
from tests import loops, trace_oracle
from tests.programs import share, write
from tests.sample import sampled
from tests.test_language import LINES
from tests.test_language import program as sample
from tests.workloads import EXAMPLES

PARTS = 8
CASES = sorted((Path(__file__).parent / "cases" / "faults").glob("*.c"))
MARK = re.compile(r"/\* fault: (.*?) \*/")


def front(program: str | Path, **defines: str):
    text = program.read_text() if isinstance(program, Path) else program
    return understand(Source(str(program) if isinstance(program, Path) else "<input>", text), Options("kern", defines))


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """Tracers compiled in less time, kept for one test."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "FLAGS", ("-O0", "-w"))


def analysed(text: str):
    """The analysis of a program; None where there is none."""
    pre = preprocess(Source("<input>", text), {}, ())
    return deep(lambda: analyse(kernel_program(typed(parse(pre), pre), "kern", (), {}))[1])


def planted(path: Path) -> list[tuple[int, str]]:
    """(line, what is to be said) of every mark."""
    lines = path.read_text().split("\n")
    return [(n, m) for n, text in enumerate(lines, 1) for m in MARK.findall(text)]


def is_loop(path: Path) -> bool:
    return path.name.startswith("loop")


def test_each_case_plants_a_fault():
    assert len(CASES) >= 30
    assert all(planted(p) and "FIXED" in p.read_text() for p in CASES)


@pytest.mark.parametrize("path", [p for p in CASES if not is_loop(p)], ids=lambda p: p.stem)
def test_fault(path):
    with pytest.raises(c2cu.UnsupportedError) as caught:
        front(path)
    error = caught.value
    first = error.diagnostic
    faults = [(first.loc.line, first.message), *((n.loc.line, n.message) for n in first.notes)]
    assert faults == planted(path)
    assert error.file == str(path)
    assert error.code == ("C2CU036" if path.name.startswith("unset") else "C2CU035")


@pytest.mark.parametrize("path", [p for p in CASES if is_loop(p)], ids=lambda p: p.stem)
def test_dependent_loop(path):
    loops = {x.loc.line: x for x in front(path).trace.loops}
    ((line, mark),) = planted(path)
    kind, name, conditional = re.fullmatch(r"(\w+) through (\w+)(, conditional)?", mark).groups()
    assert not loops[line].independent
    assert (kind, name, bool(conditional)) in [(c.kind, c.name, c.conditional) for c in loops[line].conflicts]


@pytest.mark.parametrize("path", sampled(CASES, 1), ids=lambda p: p.stem)
def test_corrected(path):
    trace = front(path, FIXED="1").trace
    assert trace.complete
    assert not trace.faults
    if is_loop(path):
        lines = path.read_text().split("\n")
        ((line, _),) = planted(path)
        assert all(x.independent for x in trace.loops if x.loc.line >= line or "for" in lines[x.loc.line - 1]), trace


# no more than C says


def test_a_branch_on_data_makes_a_warning():
    understood = front(
        "int a[4];\nvoid kern(void) {\n    for (int i = 0; i < 5; i++)\n        if (a[0] > i) a[i & 4] = 1;\n}\n"
    )
    (warning,) = diagnosed(understood.trace)
    assert (warning.severity, warning.code, warning.loc.line) == ("warning", "C2CU035", 4)
    assert warning.message == "if this branch is taken: element 4 is outside 'a', which has 4 elements, where i = 4"


def test_a_uniform_guard_prevents_it():
    body = "for (int i = 0; i < 9; i++) {{ if ({}) a[i - 1] += a[i]; }}"
    assert not front("int a[8];\nvoid kern(void) {" + body.format("i > 0 && i < 8") + "}\n").trace.faults
    with pytest.raises(c2cu.UnsupportedError, match="element 8 is outside 'a'"):
        front("int a[8];\nvoid kern(void) {" + body.format("i > 0") + "}\n")


SOUND = {
    "a struct of which a part is set is copied": "struct S { int x, y, z[9]; }; int a[4]; void kern(void) { struct S s, t, u[2]; s.x = a[0]; s.z[3] = a[1]; t = s; u[1] = t; a[2] = u[1].x + u[1].z[3]; }",
    "it is passed and returned": "struct S { int x, y[9]; }; int a[4]; struct S make(int x) { struct S s; s.x = x; s.y[8] = 1; return s; } int use(struct S s) { return s.x + s.y[8]; } void kern(void) { a[0] = use(make(a[1])); }",
    "memcpy and memmove of it": "#include <string.h>\nint a[4]; void kern(void) { int s[20], t[20]; float u[20]; s[3] = a[0]; memcpy(t, s, sizeof s); memmove(t + 1, t, 19 * sizeof *t); memcpy(u, t, sizeof t); a[1] = t[4] + (int)u[4]; }",
    "one past the end has an address": "int a[8], s, m[3][4]; void kern(void) { for (int *p = a, *e = &a[8]; p != e; p++) s += *p; for (int i = 0; i < 3; i++) for (int *p = m[i]; p < &m[i][4]; p++) s += *p; }",
    "a union": "union U { float f; unsigned u; }; float a[4]; void kern(void) { union U u; for (int i = 0; i < 4; i++) { u.f = a[i]; u.u ^= 0x80000000u; a[i] = u.f; } }",
    "a loop that never runs": "int a[4]; void kern(void) { int t[4]; for (int i = 0; i < 0; i++) a[i + 9] = t[i]; for (int i = 4; i < 4; i++) a[i] = 0; }",
    "early return": "int a[4]; static int find(int n) { int r; for (int i = 0; i < 9; i++) { if (i == n) return a[i]; r = i; } return r; } void kern(void) { a[0] = find(3); }",
    "return on data": "int a[4]; static int sign(int x) { int r; if (x < 0) return -1; if (x > 0) return 1; r = 0; return r; } void kern(void) { for (int i = 0; i < 4; i++) a[i] = sign(a[i]); }",
    "switch": "int a[4]; void kern(void) { for (int i = 0; i < 4; i++) { int v; switch (i & 3) { case 0: v = 1; break; case 1: case 2: v = 2; break; default: v = a[i]; } a[i] = v; } }",
    "switch on data": "int a[4]; void kern(void) { for (int i = 0; i < 4; i++) { int v; switch (a[i] & 3) { case 0: v = 1; break; case 1: v = 5; default: v = a[i]; } a[i] = v; } }",
    "a flag": "int a[8]; void kern(void) { int i = 0, done = 0, last; while (!done) { last = a[i]; if (++i == 8) done = 1; } a[0] = last; }",
    "do while": "int a[8]; void kern(void) { int i = 0, last; do last = a[i++]; while (i < 8); a[0] = last; }",
    "a callee sets it": "int a[4]; static void set(int *x, int *t, int n) { *x = n; for (int i = 0; i < 4; i++) t[i] = n + i; } void kern(void) { int x, t[4]; set(&x, t, a[0]); a[1] = x + t[3]; }",
    "a callee sets it, or not": "int a[4]; static int get(int i, int *x) { if (a[i] < 0) return 0; *x = a[i]; return 1; } void kern(void) { int x; if (get(1, &x)) a[0] = x; a[2] = get(3, &x) ? x : 0; }",
    "a static local": "int a[4]; static int next(void) { static int n; static int t[3] = {1}; t[n % 3] += n; return t[n++ % 3]; } void kern(void) { for (int i = 0; i < 4; i++) a[i] += next(); }",
    "a compound literal": "struct S { int x, y; }; int a[4]; static int sum(struct S s) { return s.x + s.y; } void kern(void) { a[0] = sum((struct S){.x = a[1]}); int *p = (int[]){1, 2, 3}; a[2] = p[2]; }",
    "a string": 'int a[4]; static const char hex[16] = "0123456789abcdef"; void kern(void) { static const char word[] = "word"; for (int i = 0; i < 4; i++) a[i] = word[i] + hex[15 - i] + word[4]; }',
    "?: keeps the other arm from being read": "int a[4]; static const int on[2] = {0, 1}; void kern(void) { int t[2], v; for (int i = 0; i < 2; i++) { if (on[i]) { v = a[i]; t[0] = v; } a[i] = on[i] ? t[0] + v : 7; a[i + 2] = on[i] && t[0] > v; } }",
    "|| on data keeps it too": "int a[4]; void kern(void) { int t[2], v; if (a[0] > 0) { v = 3; t[1] = a[1]; } a[2] = a[0] <= 0 || v > t[1]; }",
    "a triangle of a square": "double m[5][5]; void kern(void) { double t[5][5]; for (int i = 0; i < 5; i++) for (int j = 0; j <= i; j++) t[i][j] = m[i][j]; for (int i = 0; i < 5; i++) for (int j = i; j < 5; j++) m[i][j] = t[j][i]; }",
    "rows walked as one": "int m[3][4]; static int sum(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; } void kern(void) { m[0][0] = sum(&m[0][0], 12) + sum(m[1], 4); }",
    "x ^ x": "unsigned a[2]; void kern(void) { unsigned char i = 255; i++; a[i] = 1; unsigned n = 0; a[n - 1 + 2] = 2; }",
}


@pytest.mark.parametrize("name", sampled(SOUND, 1))
def test_sound(name):
    traced = front(SOUND[name] + "\n").trace
    assert traced is not None and traced.complete
    assert not traced.faults


@pytest.mark.parametrize("name", sampled([n for n, s in LINES if s.startswith("analysed")], 1))
def test_language_is_sound(name, quick):
    assert not understand(Source("<input>", sample(name)), Options("kern")).trace.faults


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.c")), ids=lambda p: p.stem)
def test_examples_are_sound(path):
    traced = understand(Source(path.name, path.read_text()), Options()).trace
    assert traced.complete and not traced.faults


@pytest.mark.parametrize("part", sampled(range(PARTS), 4))
def test_random_programs_are_sound(part, quick):
    for seed in range(part * 10**6, part * 10**6 + share(25 * PARTS, 2)):
        traced = front(write(seed).text).trace
        assert traced is None or not [f for f in traced.faults if f.certain]


# the plain way


@pytest.mark.parametrize("part", sampled(range(PARTS), 4))
def test_agrees_with_the_plain_way(part, quick):
    """Footprint, t, faults and independence; then what independence means."""
    for number in range(share(30 * PARTS, 1)):
        seed = int(os.environ.get("C2CU_SEED", "0")) + part * 10**6 + number
        text = loops.nests(seed) if number % 4 else write(seed).text
        u = analysed(text)
        if u is not None and u.oblivious:
            agree(u, text, seed)


def agree(u, text: str, seed: int) -> None:
    traced, oracle = trace(u), trace_oracle.expected(u)
    faults = {(f.kind, f.loc.line, f.certain) for f in traced.faults if f.kind != "ahead"}
    assert faults <= oracle.faults, text
    assert faults == oracle.faults or any(f.kind == "ahead" for f in traced.faults), text  # the oracle takes all arms
    faults = oracle.faults
    if traced.stopped or any(kind == "bounds" for kind, _, _ in faults):
        return
    assert traced.steps == oracle.steps, text
    for r in traced.regions:
        assert (r.loads, r.stores) == (oracle.loads[r.region], oracle.stores[r.region]), f"{r.region}\n{text}"
        for mine, its in zip(r.elements, oracle.elements[r.region], strict=True):
            assert mine & (LOADED | STORED) == its & (LOADED | STORED), f"{r.region}\n{text}"
            assert mine & CERTAIN <= its & CERTAIN and mine & INPUT >= its & INPUT, f"{r.region}\n{text}"
    for k, loop in enumerate(traced.loops):
        assert (loop.entries, loop.turns, loop.longest) == (oracle.entries[k], oracle.turns[k], oracle.longest[k]), text
        clashes = oracle.dependent[k]
        local = all(c.element >= 0 and c.conditional for c in loop.conflicts)  # stored and loaded in one arm
        assert loop.independent == (not clashes) or (not clashes and local), f"{loop}\n{clashes}\n{text}"
    rng = random.Random(seed)
    data = {r.name: [_value(r, rng) for _ in range(r.count)] for r in u.kernel.regions if r.storage == "bulk"}
    shuffled = trace_oracle.shuffled(u, data, traced.loops, rng)
    assert repr(trace_oracle.memory(u, data)) == repr(shuffled), f"turns in another order differ\n{text}"


def _value(r: Region, rng: random.Random) -> int | float:
    return r.type.wrap(rng.randrange(2) if r.type.size == 1 else rng.randrange(-5, 6))


def test_memory_is_bounded(monkeypatch):
    text = "double t[1 << 15]; int a[8];\nvoid kern(void) { for (int i = 0; i < 8; i++) a[i] += t[i]; }\n"
    t = tracer(analysed(text))
    monkeypatch.setattr(run, "MEMORY", t.memory)
    assert trace(t.u).complete
    monkeypatch.setattr(run, "MEMORY", t.memory - 1)
    assert trace(t.u).stopped == "its arrays have more than 32775 elements"


NANS = """
#include <math.h>
#include <string.h>
{head}
int a[64];
static unsigned bits(float f) {{ unsigned u; memcpy(&u, &f, 4); return u; }}
static unsigned long wide(double f) {{ unsigned long u; memcpy(&u, &f, 8); return u; }}
static float number(unsigned u) {{ float f; memcpy(&f, &u, 4); return f; }}
void kern(void) {{
    union {{ float f; unsigned u; }} x;
    float t[4];
    for (unsigned i = 0; i < 4; i++) {{ {body} }}
}}
"""
#: Elements of ``a``; none where the trace stops.
NAN_BITS = {
    "a union": ("x.u = 0x7f800001u + i; a[x.u >> 20 & 63] += 1;", ()),
    "memcpy there and back": ("a[bits(number(0x7f800001u + i)) >> 20 & 63] += 1;", ()),
    "a number from bits": ("a[fmaxf(number(0x7f800001u + i), 1) > 0] += 1;", ()),
    "a table": ("t[i] = number(0xff800001u - i); a[bits(t[i]) >> 20 & 63] += 1;", ()),
    "a constant table": ("a[fmaxf(c[i].f, 1) > 0] += 1;", ()),
    "the sign's bit of a float": ("a[bits(-(0.0f / i)) >> 31] += 1;", ()),
    "the sign's bit of a double": ("a[wide(-(0.0 / i)) >> 63] += 1;", ()),
    "a pointer": ("float f = 0.0f / i; a[*(unsigned *)&f >> 31] += 1;", ()),
    "signbit": ("a[!!signbit(-(0.0 / i))] += 1;", ()),
    "copysign": ("a[copysign(1, -(0.0 / i)) > 0] += 1;", ()),
    "copysignf": ("a[copysignf(1, -(0.0f / i)) > 0] += 1;", ()),
    "where it is read only sometimes": ("a[i < 2 && bits(0.0f / i) >> 31] += 1;", ()),
    "where it is never read": ("a[i > 0 && bits(0.0f / i) >> 31] += 1;", (0,)),
    "the sign of what is not NaN": ("a[2 * !!signbit(-(float)i) + (copysign(1, i - 2.0) > 0)] += 1;", (2, 3)),
    "a NaN is given a sign": ("a[copysign(0.0 / i, -1) > 0] += 1;", (0,)),
    "NaN itself": ("a[2 * !!isnan(0.0 / i) + (0.0 / i >= 0)] += 1;", (1, 2)),
    "infinity's bits": ("a[bits(number(0x7f800000u - i)) >> 20 & 63] += 1;", (55, 56)),
    "a union of integers": ("union { int s; unsigned u; } y; y.u = 0x7f800001u + i; a[y.s & 63] += 1;", (1, 2, 3, 4)),
    "integers through a table's union": ("a[c[i].u >> 20 & 63] += 1;", (56,)),
    "bits of a value that no address needs": ("a[i] += bits(number(0x7f800001u + i));", (0, 1, 2, 3)),
}


@pytest.mark.parametrize("name", sampled(NAN_BITS, 1))
def test_bits_of_nan(name):
    """Compilers choose a NaN's sign, so that the tracer stops where an address depends on it."""
    body, elements = NAN_BITS[name]
    head = "static const union { unsigned u; float f; } c[4] = {{0x7f800001u}, {0x7f800002u}, {0x7f800003u}, {0x7f800004u}};"
    u = analysed(NANS.format(head=head, body=body))
    told = trace(u)
    if not elements:
        assert told.stopped == "it reads the sign or the bits of a NaN, which C leaves open, or makes one of bits"
        return
    (a,) = (r.elements for r in told.regions if r.region.name == "a")
    assert told.complete and tuple(k for k, e in enumerate(a) if e) == elements


def test_the_tracer_runs_where_temporary_files_are_not_executed(monkeypatch, tmp_path):
    """The temporary directory may be of a file system mounted noexec, and files in memory may be as well; the folder of
    compiled programs is not."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    u, start = (
        analysed("int a[8];\nvoid kern(void) { for (int i = 0; i < 8; i++) a[i] += a[7 - i]; }\n"),
        subprocess.run,
    )

    def denied(command, **more):
        if not Path(command[0]).is_relative_to(tmp_path / "cache") and command[0].startswith(("/proc", "/tmp")):
            raise PermissionError(13, "Permission denied")
        return start(command, **more)

    monkeypatch.setattr("c2cu.base.machine_code.subprocess.run", denied)
    assert trace(u).complete
    assert [e.store for e in run.sequence(u, 99)] == 8 * [False, False, True]
    monkeypatch.setattr("c2cu.base.machine_code.scratch", lambda folder: scratch())
    with pytest.raises(c2cu.CompileError, match="cannot be executed: Permission denied") as e:
        list(run.sequence(u, 98))
    assert e.value.code == "C2CU243" and "C2CU_CACHE_DIR" in e.value.diagnostic.hint


def test_numbers_are_read_by_a_tracer_that_is_compiled_once(monkeypatch, tmp_path):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    guard = "b && u == 9223372036854775809ul && x == 0.1f && y == -0.1"
    text = "int a[64];\nvoid kern(int n, _Bool b, unsigned long u, float x, double y) {\n"
    text += f"if ({guard}) for (int i = 0; i < n; i++) a[i] = 0; }}\n"
    names, compiled, start = ("n", "b", "u", "x", "y"), [], subprocess.run
    u = understand(Source("<input>", text), Options("kern", shared=names)).analysis
    monkeypatch.setattr(run.subprocess, "run", lambda c, **more: compiled.append(c) or start(c, **more))
    numbers = {"n": 7, "b": True, "u": 2**63 + 1, "x": float(np.float32(0.1)), "y": -0.1}
    for change, turns in (
        ({}, 7),
        ({"n": -1}, 0),
        ({"b": False}, None),
        ({"u": 2**63}, None),
        ({"y": 0.1}, None),
        ({"n": 64}, 64),
    ):
        traced = trace(u, numbers={**numbers, **change})
        assert traced.complete and not traced.faults
        assert [(x.entries, x.turns) for x in traced.loops] == [(0, 0) if turns is None else (1, turns)], change
    (fault,) = trace(u, numbers={**numbers, "n": 65}).faults
    assert (fault.kind, fault.counters) == ("bounds", (("i", 64),))
    assert sum("-o" in c for c in compiled) == 1


SEQUENCES = {
    "to the end": ("for (int i = 0; i < 8; i++) a[i] += a[7 - i];", 99, 24),
    "to the limit": ("for (int i = 0; i < 8; i++) a[i] += a[7 - i];", 9, 6),
    "to a division by zero": ("for (int i = 2; i >= 0; i--) a[8 / i & 7] = i;", 99, 2),
    "to a subscript outside": ("int t[2]; for (int i = 0; i < 8; i++) { t[i] = i; a[t[i]] += 1; }", 99, 10),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequence_ends(name):
    body, limit, many = SEQUENCES[name]
    u = analysed(f"int a[8];\nvoid kern(void) {{ {body} }}\n")
    assert len(list(run.sequence(u, limit))) == many


# what a trace cannot do

LONG = "for (long i = 0; i < 4000000000; i++) a[i & 7] += 1;"
STOPS = {
    "division by zero": (
        "static const int d[2] = {1, 0};",
        "for (int i = 0; i < 2; i++) a[4 / d[i]] = 1;",
        "divides by zero",
    ),
    "remainder by zero": (
        "static const int d[2] = {1, 0};",
        "for (int i = 0; i < 2; i++) if (4 % d[i]) a[i] = 1;",
        "divides by zero",
    ),
    "the least by -1": (
        "static const int d[2] = {9, -2147483647 - 1};",
        "for (int i = 0; i < 2; i++) a[d[i] / -1 & 7] = 1;",
        "least integer by -1",
    ),
    "a shift too far": (
        "static const int d[2] = {1, 32};",
        "for (int i = 0; i < 2; i++) a[1 << d[i] & 7] = 1;",
        "shifts by",
    ),
    "a shift by less than 0": (
        "static const int d[2] = {1, -1};",
        "for (int i = 0; i < 2; i++) a[8 >> d[i] & 7] = 1;",
        "shifts by",
    ),
    "no end": ("", "for (int i = 0, n = 1; n; i ^= 1) a[i] = n;", "takes more than"),
    "no end and no access": ("", "for (int i = 0, n = 1; n; i++) n = i | 1;", "takes more than"),
    "more than the budget": ("", LONG, "takes more than"),
    "huge arrays": ("float big[1 << 25];", "for (int i = 0; i < 8; i++) big[i << 20] = a[i];", "more than"),
    "huge arrays in deep nests": (
        "char big[1 << 24];",
        "".join(f"for (int i{k} = 0; i{k} < 2; i{k}++) " for k in range(12)) + "big[i0 + i11] += 1;",
        "more than",
    ),
    "a number that is no int": (
        "static const float f[2] = {2147483520.0f, 2147483648.0f};",
        "for (int i = 0; i < 2; i++) a[(int)f[i] & 7] = 1;",
        "does not hold",
    ),
    "a number that is no unsigned char": (
        "static const double f[2] = {-0.5, -1.0};",
        "for (int i = 0; i < 2; i++) a[(unsigned char)f[i] & 7] = 1;",
        "does not hold",
    ),
    "not a number": ("", "for (int i = 0; i < 2; i++) a[(long)(0.0 / i) & 7] = 1;", "does not hold"),
    "a table that the run brings": ("int t[8];", "for (int i = 0; i < 8; i++) a[t[i]] = i;", "'t'"),
}


@pytest.mark.parametrize("name", STOPS)
def test_stops(name, monkeypatch):
    monkeypatch.setattr(run, "BUDGET", 2 * 10**5)
    head, body, why = STOPS[name]
    text = f"int a[8];\n{head}\nvoid kern(void) {{ {body} }}\n"
    shared = ("t",) if "brings" in name else ()
    understood = understand(Source("<input>", text), Options("kern", shared=shared))
    assert why in understood.trace.stopped
    assert not any(x.independent for x in understood.trace.loops)
    assert not understood.trace.faults


def test_a_long_run_is_done_by_an_optimised_tracer(monkeypatch, tmp_path):
    """With the facts that a short one tells."""
    text = "int a[8];\nvoid kern(void) { for (int i = 0; i < 99; i++) a[i & 7] += a[(i + 3) & 7]; }\n"
    compiled, facts = [], []
    make = run.Build.compile
    monkeypatch.setattr(run.Build, "compile", lambda build: (compiled.append(build.optimised), make(build))[1])
    for quick in (run.QUICK, 10):
        monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / str(quick)))
        monkeypatch.setattr(run, "QUICK", quick)
        facts.append(front(text).trace)
    assert compiled == [False, False, True]
    assert facts[0] == facts[1] and facts[0].complete and facts[0].steps == 3 * 99


def test_a_tracer_that_dies_is_no_error(monkeypatch, tmp_path):
    """Whatever signal it gets."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    real = run.text
    monkeypatch.setattr(run, "text", lambda t: real(t).replace("enter(0);", "__builtin_abort();"))
    traced = front("int a[8];\nvoid kern(void) { for (int i = 0; i < 8; i++) a[i] += 1; }\n").trace
    assert traced.stopped == "its uniform part did not run to its end"


def test_a_tracer_that_hangs_is_no_error(monkeypatch, tmp_path):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "SECONDS", 0.5)
    real = run.text
    monkeypatch.setattr(run, "text", lambda t: real(t).replace("enter(0);", "for (;;) now = now;"))
    traced = front("int a[8];\nvoid kern(void) { for (int i = 0; i < 8; i++) a[i] += 1; }\n").trace
    assert traced.stopped == "its uniform part did not run to its end"


def test_leaves_no_files(monkeypatch, tmp_path):
    cache, temporary = tmp_path / "cache", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("C2CU_CACHE_DIR", str(cache))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    front("int a[8];\nvoid kern(void) { for (int i = 0; i < 8; i++) a[i] += 1; }\n")
    assert not list(temporary.iterdir())
    assert {f.suffix for f in cache.iterdir()} == {".trace"}
    assert all(stat.S_ISREG(f.stat().st_mode) for f in cache.iterdir())


NOT_OBLIVIOUS = {
    "a gather": ("b[i] = a[idx[i] & 15]; b[i + 1] = 0;", 15),
    "a search": ("int k = 0; while (k < 16 && a[k] > b[i]) k++; b[k & 15] = 1; a[i + 1] = k;", 15),
    "a break on data": ("for (int j = 0; j < 99; j++) if (a[j & 15] > j) break; a[i + 2] = 1;", 14),
    "a loop that another counts": ("for (int j = 0; j < idx[i]; j++) b[j + 100] = 0; b[17 - i] = 0;", 0),
    "a table of its own": ("static const int t[4] = {0, 1, 2, 16}; a[idx[0] & 3] = 1; b[t[i & 3]] = 0;", 3),
    "what it computed is not used": ("int m = 0; for (int j = 0; j < idx[i]; j++) m = j; a[m & 7] = b[i + 1];", 15),
}


@pytest.mark.parametrize("name", NOT_OBLIVIOUS)
def test_the_rest_of_what_is_not_oblivious(name):
    """Subscripts that no data reaches are looked at, whatever stands beside them."""
    body, turn = NOT_OBLIVIOUS[name]
    text = "int a[16], b[16], idx[16];\nvoid kern(void) {{\nfor (int i = 0; i < {}; i++) {{\n{}\n}}\n}}\n"
    with pytest.raises(c2cu.UnsupportedError, match=rf"outside '[ab]', which has 16 elements.*i = {turn}\b") as e:
        front(text.format(16, body))
    assert (e.value.code, e.value.line) == ("C2CU035", 4)
    corrected = body.replace("+ 1]", "+ 0]").replace("[i + 2]", "[i]").replace("17 -", "15 -").replace("16}", "15}")
    traced = front(text.format(16, corrected)).trace
    assert traced.stopped == "the program is not oblivious" and not traced.faults


NOT_KNOWN = {
    "a loop computes the subscript": "int m = 0; for (int j = 0; j < idx[i]; j++) m = 20; a[m] = 1;",
    "it may return before": "for (int j = 0; j < idx[i]; j++) if (a[j & 15]) return; a[20] = 1;",
    "it sets what is read": "int t[4]; for (int j = 0; j < idx[i] && j < 4; j++) t[j] = j; a[1] = t[0];",
    "a loop fills a table": "int t[4] = {99, 99, 99, 99}; for (int j = 0; j < (idx[i] & 3); j++) t[j] = 0; a[t[i]] = 1;",
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_what_only_data_tells_is_no_fault(name):
    text = f"int a[16], b[16], idx[16];\nvoid kern(void) {{ for (int i = 0; i < 4; i++) {{ {NOT_KNOWN[name]} }} }}\n"
    traced = front(text).trace
    assert traced.stopped == "the program is not oblivious" and not any(f.certain for f in traced.faults)


def test_barriers_between_loops():
    text = """
float a[8], b[8], c[8], d[8];
void kern(void) {
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < 8; i++) a[i] = b[i] + r;
        for (int i = 0; i < 8; i++) c[i] = a[7 - i];
        for (int i = 0; i < 8; i++) d[i] = d[i] + 1;
        for (int i = 0; i < 8; i++) b[i] = d[i] + d[i ^ 1];
    }
}
"""
    loops = trace(analysed(text)).loops
    assert [x.independent for x in loops] == [False, True, True, True, True]
    pairs = [(x.barrier.kind, x.barrier.name, x.barrier.first.line, x.barrier.second.line) for x in loops if x.barrier]
    assert pairs == [("flow", "a", 5, 6), ("flow", "d", 7, 8)]
    assert [x.barrier is not None for x in loops] == [False, False, True, False, True]


@pytest.mark.parametrize(
    "guard",
    [
        "if (i > 0 && x[i] > 0) o[i] = a[i - 1];",
        "if (i > 0 && i < 6 && x[i] > 0) o[i] = a[i - 1];",
        "if ((i > 0 && x[i] > 0) && x[i - 1] > 2) o[i] = a[i - 1];",
        "if (i > 0 && x[i] > 0 && (x[i] < 9 || x[i - 1] > 3)) { o[i] = a[i - 1]; o[i - 1] = 0; }",
        "if (x[i] < 3) { if (i > 0 && x[i] > 0) o[i] = a[i - 1]; }",
    ],
)
def test_what_a_guard_keeps_out_is_no_fault(guard):
    """What does not depend on data decides by itself, also where data decides as well."""
    front = understand(
        Source("<input>", f"int x[6], a[6], o[6];\nvoid k(void) {{ for (int i = 0; i < 6; i++) {guard} }}\n"), Options()
    )
    assert front.trace is not None and front.trace.complete and not front.trace.faults
    loads = next(r.loads for r in front.trace.regions if r.region.name == "a")
    assert loads == 5
