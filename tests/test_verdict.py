"""The verdict: oblivious or not, each for its right reason, at its line and column."""

import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main

# program, findings as (kind, line, column)
CASES = {
    "table lookup by data": (
        "const int t[8] = {1};\nint a[8];\nvoid k(void) {\n    a[0] = t[a[1] & 7];\n}\n",
        [("address", 4, 14)],
    ),
    "contract's example": (
        "#define N 4\nint D[N][N], idx[N];\nvoid k(void) {\n    for (int i = 0; i < N; i++)\n"
        "        for (int j = 0; j < N; j++)\n            D[idx[i]][j] = 0;\n}\n",
        [("address", 6, 15)],
    ),
    "while (x != 0)": (
        "int x, n;\nvoid k(void) {\n    while (x != 0) {\n        x >>= 1;\n        n++;\n    }\n}\n",
        [("loop-bound", 3, 12)],
    ),
    "binary search": (
        "int a[16], key, pos;\nvoid k(void) {\n    int lo = 0, hi = 16;\n    while (lo < hi) {\n        int m = (lo + hi) / 2;\n"
        "        if (a[m] < key)\n            lo = m + 1;\n        else\n            hi = m;\n    }\n    pos = lo;\n}\n",
        [("loop-bound", 4, 12), ("operation", 5, 18), ("branch", 6, 13), ("address", 6, 15)],
    ),
    "data-dependent break": (
        "int a[8], at;\nvoid k(void) {\n    for (int i = 0; i < 8; i++) {\n        if (a[i] == 3)\n"
        "            break;\n        a[i] = 0;\n    }\n}\n",
        [("branch", 4, 13), ("loop-bound", 5, 13)],
    ),
    "data-dependent continue": (
        "int a[8];\nvoid k(void) {\n    for (int i = 0; i < 8; i++) {\n        if (a[i] == 3)\n"
        "            continue;\n        a[i] = 0;\n    }\n}\n",
        [("branch", 4, 13)],
    ),
    "early return outside a loop": (
        "int a;\nvoid k(void) {\n    if (a < 0)\n        return;\n    a = 1;\n}\n",
        [("branch", 3, 9)],
    ),
    "a counter that data steps": (
        "int a[8], b[8];\nvoid k(void) {\n    int n = 0;\n    for (int i = 0; i < 8; i++)\n"
        "        if (a[i] > 0)\n            b[n++] = a[i];\n}\n",
        [("branch", 5, 13), ("address", 6, 15)],
    ),
    "one variable, two purposes": (
        "int a[8];\nvoid k(void) {\n    int t = 3;\n    a[t] = 1;\n    t = a[0];\n    a[1] = t;\n}\n",
        [],
    ),
    "a loop inside a data-dependent if": (
        "int a[8];\nvoid k(void) {\n    if (a[0] > 0)\n        for (int i = 0; i < 8; i++)\n            a[i] = 0;\n}\n",
        [("branch", 3, 9)],
    ),
    "a helper for indices and for data": (
        "int a[8];\nstatic int least(int x, int y) { return x * (x < y) + y * (x >= y); }\n"
        "void k(void) {\n    a[least(3, 5)] = least(a[0], a[1]);\n}\n",
        [],
    ),
    "a table filled by loops": (
        "int a[8];\nvoid k(void) {\n    int t[8];\n    for (int i = 0; i < 8; i++)\n"
        "        t[i] = 7 - i;\n    for (int i = 0; i < 8; i++)\n        a[t[i]] += 1;\n}\n",
        [],
    ),
    "i ^ j": (
        "int a[8];\nvoid k(void) {\n    for (int j = 4; j > 0; j /= 2)\n        for (int i = 0; i < 8; i++)\n"
        "            a[i] += a[i ^ j];\n}\n",
        [],
    ),
    "&& and ?: are branches": (
        "int a[2], b;\nvoid k(void) {\n    b = a[0] && a[1];\n    b += a[0] ? 1 : 2;\n}\n",
        [("branch", 3, 9), ("branch", 4, 10)],
    ),
    "a global loop counter": ("int i, a[8];\nvoid k(void) {\n    for (i = 0; i < 8; i++)\n        a[i] = i;\n}\n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_findings(name):
    text, expected = CASES[name]
    report = c2cu.check(text, fn="k")
    assert [(f.kind, f.line, f.column) for f in report.findings] == expected
    assert report.oblivious == all(kind in ("branch", "operation") for kind, _, _ in expected)
    assert report.constant_time == (not expected)


def test_trail_leads_back_to_the_input():
    text, _ = CASES["binary search"]
    address = next(f for f in c2cu.check(text, fn="k").findings if f.kind == "address")
    assert [(s.message, s.loc.line) for s in address.trail] == [
        ("'m' is assigned here", 5),
        ("'lo' is assigned under a condition that depends on input data", 7),
        ("'a' is an input", 1),
    ]


def test_text_is_as_documented():
    text, _ = CASES["contract's example"]
    assert str(c2cu.check(text)).startswith(
        "<input>:6:15: warning: subscript of 'D' depends on input data [C2CU031]\n"
        "    6 |             D[idx[i]][j] = 0;\n"
        "      |               ^~~~~~\n"
        "<input>:2:14: note: 'idx' is an input\n"
    )


def test_length_parameter_is_taken_as_shared():
    report = c2cu.check("void k(float *a, int n) {\n    for (int i = 0; i < n; i++)\n        a[i] += 1;\n}\n")
    assert report.oblivious
    assert report.notes[0].endswith("oblivious if 'n' is one number for all inputs; with one 'n' an input: no, line 2")


CONSTANT_TIME = {
    "KyberSlash": ("unsigned t, r;\nvoid k(void) { r = ((t << 1) + 3329 / 2) / 3329; }", [], ["operation"]),
    "public": ("unsigned t, r;\nvoid k(void) { r = ((t << 1) + 3329 / 2) / 3329; }", ["t"], []),
    "only the divisor is public": ("int a, b, r;\nvoid k(void) { r = a % b; }", ["b"], ["operation"]),
    "both are public": ("int a, b, c, r;\nvoid k(void) { r = a % b + c; }", ["a", "b"], []),
    "square root": ("#include <math.h>\ndouble a;\nvoid k(void) { a = sqrt(a); }", [], ["operation"]),
    "library": ("#include <math.h>\ndouble a;\nvoid k(void) { a = sin(a) + fabs(a); }", [], ["operation"]),
    "quotient of floats": ("float a, b;\nvoid k(void) { a = a / b; }", [], ["operation"]),
    "length is secret": ("void k(int *a, int n) { for (int i = 0; i < n; i++) a[i] ^= 1; }", [], ["loop-bound"]),
    "length is public": ("void k(int *a, int n) { for (int i = 0; i < n; i++) a[i] ^= 1; }", ["n"], []),
    "secret index": ("int a[4], s;\nvoid k(void) { a[s & 3] += 1; }", ["a"], ["address"]),
    "public index": ("int a[4], s;\nvoid k(void) { a[s & 3] += 1; }", ["s"], []),
    "what a secret was stored in": ("int a[4], s, r;\nvoid k(void) { a[0] = s; r = a[0] ? 1 : 2; }", ["a"], ["branch"]),
    "numbers that are no inputs": ("int r;\nvoid k(void) { int n = 9; r ^= 100 / n; }", [], []),
}


@pytest.mark.parametrize("name", CONSTANT_TIME)
def test_constant_time(name):
    text, public, expected = CONSTANT_TIME[name]
    report = c2cu.check(text, fn="k", constant_time=True, public=public)
    assert [f.kind for f in report.findings] == expected
    assert report.constant_time == (not expected)


def test_an_operation_is_no_reason_against_oblivious():
    report = c2cu.check("int a, r;\nvoid k(void) { r = a / 3; }", fn="k")
    assert report.oblivious and not report.constant_time
    assert "only an optimising compiler does without dividing" in report.findings[0].message


def test_shared_array_may_index():
    text = "int a[8], idx[8];\nvoid k(void) {\n    for (int i = 0; i < 8; i++)\n        a[idx[i]] = 0;\n}\n"
    assert not c2cu.check(text).oblivious
    assert c2cu.check(text, shared=["idx"]).oblivious


@pytest.mark.parametrize("name", ["left", "skipped", "returned", "again", "reached", "chosen", "both", "t", "plain"])
def test_a_users_variable_is_called_by_its_name(name):
    """Also where lowering has a variable of that name."""
    text = (
        f"int a[8];\nvoid k(void) {{\n    for (int i = 0; i < 8; i++) {{\n        int {name} = 0;\n"
        f"        while ({name} < 4)\n            if (a[i] > {name})\n                {name} = 4;\n"
        f"            else\n                {name} = {name} + 1;\n    }}\n}}\n"
    )
    loop = next(f for f in c2cu.check(text).findings if f.kind == "loop-bound")
    assert loop.trail[0].message == f"'{name}' is assigned under a condition that depends on input data"


@pytest.mark.parametrize(
    "body, kind, steps",
    [
        ("for (int i = 0; i < 8; i++) { if (a[i]) break; }", "loop-bound", ["control leaves from here"]),
        ("for (int i = 0; i < 8; i++) { if (a[i]) return; }", "loop-bound", ["control leaves from here"]),
        ("int i = 0; do i++; while (i < 8 && a[i]);", "loop-bound", []),
        ("int i = 0; do i++; while (a[i] > 0);", "loop-bound", []),
        ("a[a[0] > 0 ? a[1] : 2] = 0;", "address", []),
        ("int j = 5; a[a[0] > 0 ? j++ : 2] = 0;", "address", ["a value is computed"]),
    ],
)
def test_no_trail_names_a_variable_that_the_program_does_not_have(body, kind, steps):
    report = c2cu.check(f"int a[8];\nvoid k(void) {{ {body} }}\n")
    trail = next(f for f in report.findings if f.kind == kind).trail
    steps = [f"{s} under a condition that depends on input data" for s in steps]
    assert [s.message for s in trail] == [*steps, "'a' is an input"]


def test_a_trail_goes_through_an_output_to_the_input():
    text = (
        "float a[4], y[4], sum;\n"
        "void f(void) {\n"
        "    for (int i = 0; i < 4; i++) y[i] = a[i] * 2;\n"
        "    for (int i = 0; i < 4; i++) if (y[i] > 0) sum += y[i];\n"
        "}\n"
    )
    (finding,) = c2cu.check(text).findings
    assert [(s.loc.line, s.message) for s in finding.trail] == [(3, "'y' is written here"), (1, "'a' is an input")]


def test_a_warning_names_the_first_place_that_an_input_decides():
    """And says how many more there are: `check` lists them all."""
    text = "int a[8];\nvoid k(int n, const int i[8]) {\n    for (int j = 0; j < n; j++) {\n        a[i[j]]++;\n        a[i[j + 1]]--;\n    }\n}\n"
    report = c2cu.check(text)
    assert sum(f.severe for f in report.findings) == 2
    told = str(c2cu.NotObliviousWarning(report))
    assert told.count("warning:") == 1 and "the same decides 1 more place:" in told


def test_a_table_of_functions_has_its_own_name():
    text = "static int inc(int x) { return x + 1; }\nstatic int dbl(int x) { return x * 2; }\ntypedef int (*handler)(int);\nstatic const handler table[] = {inc, dbl};\nint a[4], x;\nvoid k(void) { for (int i = 0; i < 4; i++) x = table[a[i] & 1](x); }\n"
    assert "subscript of 'table' depends" in str(c2cu.check(text))


LOOKUPS = "".join(
    f"    if (a[{i}] > 3) b[{i}] = a[b[{i}] & 7], b[{i}] += a[b[{i}] & 7];\n    if (a[{i}] > 4) x++;\n"
    for i in range(8)
)
LOOP = "    while (x > 1) {\n        x /= 2;\n        if (x == 7) b[0]++;\n    }\n"
MANY = "int a[9], b[9], x;\nvoid k(void) {\n" + LOOKUPS + LOOP + "}\n"


def test_a_check_names_few_of_many_findings(tmp_path):
    """Each line once, and how many more there are; all of them where that is asked for, in JSON, and of secrets."""
    (tmp_path / "k.c").write_text(MANY)

    def found(*options):
        done = CliRunner().invoke(main, ["check", str(tmp_path / "k.c"), *options])
        assert done.exit_code == 3
        return done.stderr

    report = c2cu.check(tmp_path / "k.c")
    kinds = Counter(f.kind for f in report.findings)
    few = found()
    assert few.count("[C2CU031]") == 5 and few.count("[C2CU033]") == 3 and few.count("[C2CU032]") == 1
    assert f"note: so do {kinds['address'] - 5} more subscripts: --all lists them\n" in few
    assert f"note: so do {kinds['branch'] - 3} more branches: --all lists them\n" in few
    assert "ends of loops" not in few
    lines = re.findall(r":(\d+):\d+: warning: ", few)
    assert len(lines) == len(set(lines))
    for options in (["--all"], ["--constant-time"], ["--diagnostics-format", "json"]):
        every = found(*options)
        for kind, code in (("address", 31), ("branch", 33), ("loop-bound", 32)):
            assert len(re.findall(rf"\[C2CU0{code}\]|\"C2CU0{code}\"", every)) == kinds[kind]
        assert "more" not in every


def test_json_has_the_notes_and_the_verdict_too(tmp_path):
    (tmp_path / "k.c").write_text(
        "int sum(const int *a, int n) {\n    int s = 0;\n    for (int i = 0; i < n; i++) s += a[i];\n    return s;\n}\n"
    )
    done = CliRunner().invoke(main, ["check", str(tmp_path / "k.c"), "--diagnostics-format=json"])
    note, verdict = map(json.loads, done.stderr.splitlines())
    assert note["message"].startswith("oblivious if 'n' is one number") and (note["line"], note["column"]) == (1, 27)
    assert verdict["message"] == "oblivious: yes; constant time: yes"
    assert (done.exit_code, verdict["oblivious"], verdict["constant_time"]) == (0, True, True)


def test_what_is_public_makes_the_rest_secret(tmp_path):
    text = "unsigned key, pub;\nunsigned k(void) {\n    unsigned r = 0;\n    for (unsigned i = 0; i < (pub & 7); i++) r += key;\n    return r;\n}\n"
    (tmp_path / "k.c").write_text(text)
    for options, status in ((["--public", "pub"], 0), (["--public", "key"], 3)):
        for more in ([], ["--constant-time"]):
            done = CliRunner().invoke(main, ["check", str(tmp_path / "k.c"), *options, *more])
            assert done.exit_code == status and ("[C2CU032]" in done.stderr) == (status == 3)


def test_a_process_is_warned_once_of_the_same_places():
    text = "int a[4], k;\nvoid f(void) { a[k & 3] = 2; }\n"
    script = (
        "import sys, warnings, c2cu\n"
        "for line in (1, 2):\n"
        f"    c2cu.compile({text!r}, backend='cpu')\n"
        f"c2cu.compile({text!r}, backend='cpu', verify=False)\n"
        "print('other', file=sys.stderr)\n"
        f"c2cu.compile({text.replace('2', '3')!r}, backend='cpu')\n"
        "warnings.simplefilter('always')\n"
        "print('always', file=sys.stderr)\n"
        f"c2cu.compile({text!r}, backend='cpu')\n"
        f"c2cu.compile({text!r}, backend='cpu')\n"
        "warnings.filterwarnings('ignore', category=c2cu.NotObliviousWarning)\n"
        "print('ignored', file=sys.stderr)\n"
        f"c2cu.compile({text!r}, backend='cpu')\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    parts = re.split("^(?:other|always|ignored)$", said, flags=re.M)
    assert [part.count("is not oblivious") for part in parts] == [1, 1, 2, 0]
