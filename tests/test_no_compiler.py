"""A machine without a C compiler: everything but running on the CPU works, with the same result."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.cli import main
from c2cu.frontend import conform
from c2cu.frontend.preprocess import Source, preprocess
from c2cu.pipeline import Options, schedule, understand
from c2cu.stages import stage
from tests.test_language import LINES
from tests.test_language import program as sample
from tests.workloads import EXAMPLES

ROOT = Path(c2cu.__file__).parent.parent
PROGRAMS = sorted(EXAMPLES.glob("*.c"))
COMMANDS = {
    "check": ["check", "--diagnostics-format", "json"],
    "explain": ["explain", "--json", "--p", "1000", "--backend", "cpu"],
    "program for a GPU": ["translate", "--target", "cuda", "--p", "64"],
    "program for a CPU": ["translate", "--target", "cpu", "--p", "64"],
    "program in groups": ["translate", "--target", "cuda", "--p", "64", "--group", "32"],
    **{f"emit {stage}": ["translate", "--emit", stage] for stage in ("ast", "ir", "plan", "cuda", "c")},
}


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """There is no compiler; nothing is known from before."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "compiler", lambda: None)


def said(command: list[str], capsys) -> str:
    with pytest.raises(SystemExit) as done:
        main(command)
    found = capsys.readouterr()
    assert not done.value.code, found.err
    return found.out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_the_same_as_with_a_compiler(path, command, capsys, monkeypatch, tmp_path):
    words = [*COMMANDS[command], str(path)]
    wanted = said(words, capsys)
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "compiler", lambda: None)
    found = said(words, capsys)
    if command == "explain":
        wanted, found = unmeasured(wanted), unmeasured(found)
    assert found == wanted


def unmeasured(text: str) -> dict:
    """Without what depends on how busy the machine was."""
    e = json.loads(text)
    assert e["roofline"] and e["steps"]
    del e["roofline"]
    return e


def generated(text: str, **options):
    """What would run on a GPU."""
    return schedule(understand(Source("<input>", text), Options(**options)), "cuda")


@pytest.mark.parametrize("name", [n for n, s in LINES if s.startswith("analysed")])
def test_the_language(name, monkeypatch, tmp_path):
    """What is generated for a GPU, from every line of the language's table."""
    wanted = generated(sample(name), fn="kern")
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "compiler", lambda: None)
    assert generated(sample(name), fn="kern") == wanted


def test_only_running_on_the_cpu_needs_one(nowhere):
    assert c2cu.check(PROGRAMS[0]).oblivious
    with pytest.raises(c2cu.CompileError, match="no C compiler found") as caught:
        c2cu.compile(PROGRAMS[0], backend="cpu")
    assert caught.value.code == "C2CU060"
    assert "install gcc" in caught.value.diagnostic.hint


def test_a_compiler_that_was_asked_for_is_missed(monkeypatch):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(c2cu.CompileError, match="of \\$CC is not found"):
        c2cu.check(PROGRAMS[0])


def test_nothing_on_the_path(tmp_path):
    """A process that finds no program at all, nor the package ziglang."""
    script = "import sys; sys.modules['ziglang'] = None\nfrom c2cu.cli import main\nmain()"
    environment = {"PYTHONPATH": str(ROOT), "PATH": str(tmp_path), "C2CU_CACHE_DIR": str(tmp_path / "cache")}
    environment |= {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "LD_LIBRARY_PATH")}
    for words in (["check"], ["explain"], ["translate", "--p", "9"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *words, str(PROGRAMS[0])], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


INVALID = {
    "a member of no struct": "s->a = 3;",
    "a struct from a number": "s = x;",
    "break outside": "break;",
    "case outside": "case 3: ;",
    "a sum of pointers": "x = in + in;",
    "the bits of a float": "x = ~f;",
    "two equal cases": "switch (x) { case 1: x = 2; case 1: x = 3; }",
    "a name that is not there": "x = nothing;",
    "a call of what is no function": "x = x(3);",
    "too few arguments": "x = two(1);",
    "a subscript of a number": "x = x[3];",
    "what a struct is not": "x = s + 1;",
    "a goto to nowhere": "goto nowhere;",
    "a declaration twice": "int y; float y;",
    "a value of nothing": "x = none();",
    "an array that is assigned": "t = u;",
    "GNU's ?:": "x = x ?: 3;",
    "GNU's statement expression": "x = ({ 3; });",
}


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_c_gives_no_traceback(name, nowhere):
    """It is refused, or it is taken for what it is nearest to: C says nothing of it."""
    text = (
        "struct S { int a; } s; int x, t[3], u[3]; float f;\nint two(int a, int b) { return a + b; }\n"
        f"void none(void) {{ }}\nvoid k(int *in) {{\n{INVALID[name]}\n}}\n"
    )
    try:
        generated(text, fn="k", shapes={"in": (4,)})
    except c2cu.Error as e:
        assert e.line or e.code == "C2CU008"


def test_what_cannot_be_understood_is_refused(nowhere):
    pre = preprocess(Source("<input>", "int a;\n"))
    with pytest.raises(c2cu.ParseError, match="no C compiler here that could say whether it is C"):
        with conform.conforming(pre):
            raise KeyError("a stage that took valid C for granted")


def test_macros_given_without_a_compiler(nowhere):
    text = "#define N 4\n#ifndef M\n#define M 2\n#endif\nint a[N * M];\nvoid k(void) { for (int i = 0; i < N * M; i++) a[i] += M; }\n"
    front = understand(Source("<input>", text), Options("k", {"N": "8", "M": "3"}))
    assert [s.shape for s in front.slots] == [(24,)]
    undone = text.replace("#ifndef M", "#ifndef M2").replace("int a", "#undef M\n#define M 5\nint a")
    with pytest.raises(c2cu.ParseError, match="has no effect"):
        understand(Source("<input>", undone), Options("k", {"M": "3"}))


@pytest.mark.parametrize("compiler", [True, False])
def test_a_header_beside_the_source_comes_first(compiler, tmp_path, monkeypatch):
    """Before one of that name in the working directory."""
    (tmp_path / "src").mkdir()
    (tmp_path / "h.h").write_text("#define K 1\n")
    (tmp_path / "src" / "h.h").write_text("#define K 2\n")
    (tmp_path / "src" / "a.c").write_text('#include "h.h"\nint a[4];\nvoid f(void) { a[0] += K; }\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    if not compiler:
        monkeypatch.setattr(toolchain, "compiler", lambda: None)
    assert "a[0] = (a[0] + 2)" in stage("src/a.c", "ir")


def test_the_same_text_every_time():
    source = Source("a.c", "int a;\nvoid f(void) { a++; }\n")
    first, second = preprocess(source), preprocess(source)
    assert (first.plain, first.text) == (second.plain, second.text)


@pytest.mark.parametrize("name", "n x s a b p f c to from line status error size base key value name id t".split())
def test_macros_before_the_headers(name, nowhere):
    """Headers name nothing but what C says: a program's own macros may have any other name."""
    headers = "".join(f"#include <{h.name}>\n" for h in sorted((ROOT / "c2cu" / "include").glob("*.h")))
    text = (
        f"#define {name} 4\n{headers}int q[{name}];\nvoid k(void) {{ for (int j = 0; j < {name}; j++) q[j] += 1; }}\n"
    )
    assert c2cu.check(text, fn="k").oblivious


def test_what_headers_name():
    for header in (ROOT / "c2cu" / "include").glob("*.h"):
        for line in header.read_text().splitlines():
            words = (
                re.findall(r"[ *]([a-z]\w*)[,)\[]", line)
                if not line.startswith(("#", "extern", "typedef struct", "struct"))
                else []
            )
            assert {w for w in words if not w.endswith(("_t", "va_list"))} <= {"int", "long", "float", "double"}, line
