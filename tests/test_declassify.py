"""``#pragma c2cu declassify(x)``: what x holds from there on is no secret."""

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main

SUM = """unsigned char s[8];
int o;
void k(void) {
    unsigned char pub[8];
    int x = 0;
    for (int i = 0; i < 8; i++) { pub[i] = s[i] * 3; x += s[i]; }
%s
    if (pub[3] > 2) o = 1;
    if (x > 3) o += 2;
    if (s[0]) o += 4;
}
"""


def lines(text: str, **options) -> list[int]:
    """Where a secret decides something; the pragmas are on one line."""
    return [f.line for f in c2cu.check(text, fn="k", constant_time=True, **options).findings]


def pragmas(*names: str) -> str:
    return " ".join(f'_Pragma("c2cu declassify({n})")' for n in names)


@pytest.mark.parametrize(
    "named, left",
    [
        ((), [8, 9, 10]),
        (("pub",), [9, 10]),
        (("x",), [8, 10]),
        (("s",), [8, 9]),  # what was computed from it before stays a secret
        (("pub", "x", "s"), []),
    ],
)
def test_secrecy_ends(named, left):
    assert lines(SUM % pragmas(*named)) == left
    report = c2cu.check(SUM % pragmas(*named), constant_time=True)
    assert report.constant_time == (not left)
    assert report.notes == tuple(f"declassified: '{n}' at <input>:7" for n in named)


def test_it_begins_anew():
    assert lines(SUM % (pragmas("pub", "x", "s") + " pub[3] = s[2];")) == []
    text = SUM.replace("x = 0;", "x = 0; unsigned char t = s[1];") % (pragmas("pub", "x", "s") + " pub[3] = t;")
    assert lines(text) == [8]


@pytest.mark.parametrize(
    "body, left",
    [
        ("int j = n & 3;\n    for (int i = 0; i < 3; i++) {\nPRAGMA(j)\n        o += t[j];\n        j = (j + n) & 3;\n    }", []),
        ("int j = n & 3;\n    for (int i = 0; i < 3; i++) {\n        o += t[j];\nPRAGMA(j)\n        j = (j + n) & 3;\n    }", [5]),
        ("int j = n & 3;\n    if (t[0]) {\nPRAGMA(j)\n    }\n    o = t[j];", [4, 7]),
        ("int *q = &n;\nPRAGMA(q)\n    if (n) o = 1;", []),
        ("struct s z = { n, { n } };\nPRAGMA(z.a)\n    if (z.a) o = 1;\n    if (z.b[0]) o = 2;", [6]),
        ("struct s z = { n, { n } };\nPRAGMA(z)\n    if (z.a) o = 1;\n    if (z.b[0]) o = 2;", []),
        ("f(t);\n    if (t[2]) o = 1;", []),
    ],
)  # fmt: skip
def test_places(body, left):
    head = 'struct s { int a; int b[2]; };\nint n, t[4], o; static void f(int *p) { _Pragma("c2cu declassify(p)") if (p[1]) o = 3; }\n'
    body = body.replace("PRAGMA(", "#pragma c2cu declassify(")
    assert lines(f"{head}void k(void) {{ {body}\n}}\n") == left


@pytest.mark.parametrize(
    "statements, code",
    [
        ("#pragma c2cu declassify(y)", "C2CU004"),
        ("#pragma c2cu declassify x", "C2CU167"),
        ("#pragma c2cu declassify()", "C2CU167"),
        ("#pragma c2cu declassify(s[3])", "C2CU167"),
        ("{ unsigned char *p = s + 1;\n#pragma c2cu declassify(p)\n}", "C2CU168"),
        ("{ unsigned char *p = s[0] ? s : pub;\n#pragma c2cu declassify(p)\n}", "C2CU168"),
    ],
)
def test_mistakes_are_told_by_the_check_alone(statements, code):
    text = SUM % statements
    with pytest.raises(c2cu.Error) as e:
        c2cu.check(text, constant_time=True)
    assert e.value.code == code and e.value.line in (7, 8)
    s = np.arange(24, dtype=np.uint8).reshape(3, 8)
    plain = c2cu.bulk(SUM % "", {"s": s}, backend="cpu", schedule="gang", outputs=["o"])
    assert np.array_equal(c2cu.bulk(text, {"s": s}, backend="cpu", schedule="gang", outputs=["o"]), plain)


def test_the_command_lists_them(tmp_path):
    (tmp_path / "k.c").write_text(SUM % "#pragma c2cu declassify(pub)\n#pragma c2cu declassify(x)")
    done = CliRunner().invoke(main, ["check", str(tmp_path / "k.c"), "--constant-time", "--public", "s"])
    assert done.exit_code == 0, done.output
    assert f"declassified: 'pub' at {tmp_path}/k.c:7" in done.output and "constant time: yes" in done.output
