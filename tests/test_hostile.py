"""Hostile input: each is an error or a success within ten seconds of a processor, without a traceback."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import c2cu

SECONDS = 10  # of processor time, of any process
WAIT = 60  # seconds after which a process that waits is taken to hang
ROOT = Path(__file__).parent.parent
ADD = "float a[4], b[4];\nvoid k(void) {\n    for (int i = 0; i < 4; i++) b[i] = a[i] + 1;\n}\n"
CHECK = ["check", "k.c"]
RUN = ["run", "k.c", "--in", "a=a.npy", "--out", "b=b.npy", "--backend", "cpu"]
ENDS = {0, 1, 2, 3}

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs and devices")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("k.c").write_text(ADD)
    np.save("a.npy", np.ones((3, 4), np.float32))
    return tmp_path


def ends(command, **how):
    """Run a command line of c2cu, or of the shell where it is a text; its exit status and what it says."""
    python = f"{sys.executable} -m c2cu"
    shell = isinstance(command, str)
    line = ["bash", "-c", command.replace("c2cu ", f"{python} ")] if shell else [sys.executable, "-m", "c2cu", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **how.pop("env", {})}
    before = how.pop("before", lambda: None)

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        before()

    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **how}
    done = subprocess.run(
        line,
        env={n: v for n, v in environment.items() if v is not None},
        stderr=subprocess.PIPE,
        timeout=WAIT,
        preexec_fn=limited,
        **how,
    )
    said = done.stderr.decode(errors="replace")
    assert "Traceback" not in said and "C2CU099" not in said, said
    assert done.returncode in ENDS, (done.returncode, said)
    return done.returncode, said


def statement(text, head="int x, a[4];"):
    return f"{head}\nvoid k(void) {{\n    {text}\n}}\n"


def headers(**texts):
    for name, text in texts.items():
        Path(f"{name}.h").write_text(text)


def chain(depth):
    for k in range(depth):
        Path(f"h{k}.h").write_text(f'#include "h{k + 1}.h"\n')
    Path(f"h{depth}.h").write_text("int q;\n")
    return '#include "h0.h"\n' + ADD


def bomb(first, joint, rounds):
    rows = (f"#define A{k + 1} {joint.join([f'A{k}'] * 10)}\n" for k in range(rounds))
    return f"#define A0 {first}\n{''.join(rows)}"


#: Texts of k.c, or what makes one.
TEXTS = {
    "a million parentheses": statement("x = " + "(" * 500_000 + "1" + ")" * 500_000 + ";"),
    "parentheses alone": "(" * 1_000_000,
    "braces": "void k(void) " + "{" * 500_000 + "}" * 500_000,
    "NUL": b"int x;\nvoid k(void) { x = 1;\0 }\n",
    "every byte": bytes(range(1, 256)),
    "noise": np.random.default_rng(1).bytes(100_000),
    "UTF-16": ADD.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + ADD.encode(),
    "carriage returns": ADD.replace("\n", "\r"),
    "unicode names": "int größe, 数;\nvoid k(void) { größe = 1; 数 = 2; }\n",
    "a file that includes itself": '#include "k.c"\n' + ADD,
    "a cycle of headers": lambda: headers(f='#include "g.h"\n', g='#include "f.h"\n') or '#include "f.h"\n' + ADD,
    "150 headers deep": lambda: chain(150),
    "1000 headers deep": lambda: chain(1000),
    "a folder as a header": lambda: os.mkdir("f.h") or '#include "f.h"\n' + ADD,
    "a socket as a header": lambda: socket.socket(socket.AF_UNIX).bind("f.h") or '#include "f.h"\n' + ADD,
    "a link to itself as a header": lambda: os.symlink("f.h", "f.h") or '#include "f.h"\n' + ADD,
    "a macro of itself": "#define A B\n#define B A\n" + statement("x = A;"),
    "a macro bomb that is not lit": bomb("x", "+", 9) + ADD,
    "a comment of 10 MB": "/*" + "x" * 10_000_000 + "*/" + ADD,
    "conditions that stay open": "#if 1\n" * 5000 + ADD,
    "a marker of a device": '# 999999999 "/dev/zero" 1\n' + statement("x = ;"),
    "a long pragma": "#pragma " + "x" * 100_000 + "\n" + ADD,
    "a huge extent": "char a[1l << 62];\nvoid k(void) { a[0] = 1; }\n",
    "a product of extents": "char a[1l << 32][1l << 32];\nvoid k(void) { a[0][0] = 1; }\n",
    "a loop without end": statement("for (;;) x++;"),
    "a long loop": statement("for (long i = 0; i < 1l << 60; i++) x++;"),
    "a deep nest of long loops": statement(
        "".join(f"for (int i{k} = 0; i{k} < 999; i{k}++) " for k in range(12)) + "x++;"
    ),
    "recursion": "int f(int x) { return x ? f(x - 1) : 0; }\n" + statement("x = f(x);"),
    "an exponent": statement("x = 1e999999999;"),
    "a long name": f"int {'x' * 100_000};\n" + ADD,
    "stars": statement("x = " + "*" * 1_000_000 + "a;"),
    "open parentheses": statement("x = " + "(" * 1_000_000 + "1;"),
    "minuses": statement("x = " + "- " * 500_000 + "x;"),
    "bangs": statement("x = " + "!" * 1_000_000 + "x;"),
    "minuses alone": "-" * 1_000_000,
    "nested ternaries": statement("x = " + "x ? 1 : " * 100_000 + "2;"),
    "ternaries on the left": statement("x = " + "(" * 100_000 + "x" + " ? 1 : 2)" * 100_000 + ";"),
    "commas": statement("x = (" + "1, " * 100_000 + "2);"),
    "commas alone": statement("x = " + "," * 100_000 + ";"),
    "nested ifs": statement("if (x) " * 20_000 + "x++;"),
    "nested loops": statement("for (; x < 3;) " * 20_000 + "x++;"),
    "as many nested loops as are possible": statement("for (; x < 3;) " * 1000 + "x++;"),
    "as many nested loops as are analysed": statement(
        "".join(f"for (int i{k} = 0; i{k} < 1; i{k}++) " for k in range(50)) + "x++;"
    ),
    "as many nested ifs as are possible": statement("if (x) " * 1000 + "x++;"),
    "nested braces": statement("{" * 20_000 + "x++;" + "}" * 20_000),
    "nested calls": "static int f(int a) { return a + 1; }\n"
    + statement("x = " + "f(" * 20_000 + "x" + ")" * 20_000 + ";"),
    "a sum": statement("x = x" + " + x" * 20_000 + ";"),
    "a conjunction": statement("x = x" + " && x" * 20_000 + ";"),
    "locals": statement("".join(f"int l{k} = x + {k}; " for k in range(15_000)) + "x = l7 + l14999;"),
    "members": "struct {" + "".join(f"int m{k};" for k in range(20_000)) + "} s;\n" + statement("s.m7 = x; x = s.m9;"),
}
QUICK = {"noise", "a file that includes itself", "a folder as a header", "nested ifs"}
#: What takes about ten seconds, or more.
SLOW_FRONT = {
    "a sum from the right": statement("x = " + "x + (" * 20_000 + "x" + ")" * 20_000 + ";"),
    "nested ifs in braces": statement("if (x) {" * 20_000 + "x++;" + "}" * 20_000),
    "else ifs": statement("if (x == 0) x = 5; " + "".join(f"else if (x == {k}) x = {k * 7};" for k in range(1, 3000))),
    "20,000 functions": "".join(f"int f{k}(int x) {{ return x + {k}; }}\n" for k in range(20_000))
    + statement("x = f5(x);"),
    "20,000 cases": statement("switch (x) {" + "".join(f"case {k}: x += {k * 3}; " for k in range(20_000)) + "}"),
    "a string of 1 MB": 'const char s[] = "' + "a" * 1_000_000 + '";\n' + statement("x = s[5];"),
    "a macro bomb": bomb("x", "+", 7) + statement("x = A7;"),
    "10 MB in one line": "int x; void k(void) { " + "x = x + 1; " * 900_000 + "}",
    "100,000 globals": "".join(f"int g{k};\n" for k in range(100_000)) + statement("x = g5;"),
    "10,000 functions": "".join(f"int f{k}(int x) {{ return x + {k}; }}\n" for k in range(10_000))
    + statement("x = f5(x);"),
}


def thin(names):
    return [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in names]


def written(text):
    text = text() if callable(text) else text
    Path("k.c").write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.mark.parametrize("name", thin(TEXTS))
def test_texts(name, folder):
    written(TEXTS[name])
    ends(CHECK)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_FRONT)
def test_large_texts(name, folder):
    """Large as they are, they end; ten seconds do not suffice for all of them."""
    written(SLOW_FRONT[name])
    try:
        ends(CHECK)
    except (AssertionError, subprocess.TimeoutExpired):
        pytest.xfail("the front end takes longer than ten seconds")


@pytest.mark.slow
def test_gang_takes_else_ifs_one_after_the_other(folder):
    """No pass walks, at each level, through all that is nested in it."""
    written(statement("if (x == 0) x = 5;" + "".join(f" else if (x == {k}) x = {k * 7};" for k in range(1, 1500))))
    ends(["translate", "k.c", "--emit", "c"])


WAITING = {
    "a FIFO": lambda: os.mkfifo("f.h"),
    "/dev/zero": lambda: os.symlink("/dev/zero", "f.h"),
    "/dev/stdin": lambda: os.symlink("/dev/stdin", "f.h"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WAITING)
def test_headers_that_never_end(name, folder):
    WAITING[name]()
    written('#include "f.h"\n' + ADD)
    try:
        ends(CHECK)
    except (AssertionError, subprocess.TimeoutExpired):
        pytest.xfail("the compiler's preprocessor waits for it")


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/full", "/proc/self/mem", ".", "", "x" * 5000, "f", "hole.c"],
)
def test_sources_that_are_no_files(source, folder):
    os.mkfifo("f")
    Path("hole.c").touch()
    os.truncate("hole.c", 1 << 40)
    assert ends(["check", source])[0] in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "c2cu check - <&-",
        "c2cu check /dev/stdin <&-",
        "c2cu check - < /dev/zero",
        "c2cu check - < /dev/null",
        "yes 'int x;' | c2cu check -",
        "c2cu check k.c <&- >&- 2>&-",
        "c2cu run k.c --in a.npy --out b.npy --backend cpu <&- >&- 2>&-",
        "c2cu check k.c > /dev/full 2> /dev/full",
        "c2cu doctor > /dev/full",
        "c2cu explain k.c --backend cpu > /dev/full",
        "c2cu translate k.c --emit ir > /dev/full",
        "c2cu --help > /dev/full",
        "c2cu run k.c --in a.npy --out - --backend cpu > /dev/full",
        "c2cu run k.c --in a.npy --out /dev/full --backend cpu",
        "c2cu doctor | true; exit ${PIPESTATUS[0]}",
        "c2cu explain k.c --backend cpu | true; exit ${PIPESTATUS[0]}",
        "c2cu run --help | true; exit ${PIPESTATUS[0]}",
        "c2cu run k.c --in a.npy --out - --backend cpu | true; exit ${PIPESTATUS[0]}",
        "c2cu check nofile.c 2> >(true)",
        "c2cu check nofile.c 2>&-",
        "mkdir x; cd x; rmdir ../x; c2cu check k.c",
        "ulimit -n 16; c2cu run k.c --in a.npy --out b.npy --backend cpu",
        "ulimit -f 1; c2cu run k.c --in a.npy --out b.npy --backend cpu",
    ],
)
def test_streams_that_are_closed_full_or_broken(command, folder):
    ends(command)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"TMPDIR": "/proc/nowhere"},
        {"TMPDIR": "/dev/null"},
        {"HOME": None, "XDG_CACHE_HOME": "/dev/null", "C2CU_CACHE_DIR": None},
        {"HOME": "/proc", "XDG_CACHE_HOME": "/proc", "C2CU_CACHE_DIR": None},
        {"C2CU_CACHE_DIR": "/proc/nowhere"},
        {"PATH": "/nowhere"},
        {"PATH": ""},
        {"CC": "/tmp"},
        {"CC": "'"},
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
    ],
    ids=str,
)
def test_environments(variables, folder):
    ends(RUN, env=variables)


COMPILERS = {
    "hangs": "sleep 99",
    "talks": "yes",
    "noise": "head -c 100000 /dev/urandom",
    "noise and an error": "head -c 100000 /dev/urandom >&2; exit 1",
    "nothing": "exit 0",
    "a crash": "kill -SEGV $$",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILERS)
def test_compilers(name, folder):
    Path("cc").write_text(f"#!/bin/sh\n{COMPILERS[name]}\n")
    Path("cc").chmod(0o755)
    assert ends(RUN, env={"CC": "./cc", "C2CU_CACHE_DIR": str(folder / "cache")})[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [f"-DM{k}=1" for k in range(20_000)],
        ["-D", "M=" + "1" * 100_000],
        ["-D", "M=\n#error x"],
        [f"-I/x{k}" for k in range(10_000)],
        ["k.c"] * 100,
        [f"x{k}.c" for k in range(10_000)],
        ["--shape", "a=" + "9" * 30],
        ["--shape", "a=" + ",".join(["1"] * 30_000)],
    ],
    ids=lambda x: f"{len(x)} {x[0]}",
)
def test_command_lines(arguments, folder):
    ends([*CHECK, *arguments])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["日本 ü 🎉.c", b"\xff\xfe.c", "a\nb.c", 'a"b\\c.c', "{a}%s.c"])
def test_names(name, folder):
    os.rename("k.c", name)
    assert ends(["check", name])[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["run", "s.c", "--out", "b=b.npy", "--p", str(1 << 40), "--backend", "cpu"],
        ["explain", "k.c", "--p", str(1 << 40), "--backend", "cpu"],
        ["run", "s.c", "--out", "b=b.npy", "--p", "-5", "--backend", "cpu"],
        ["run", "s.c", "--out", "b=b.npy", "--p", str(1 << 70), "--backend", "cpu"],
    ],
)
def test_many_inputs(command, folder):
    """More results than the disk holds are refused before the first is computed."""
    Path("s.c").write_text("int b;\nvoid k(void) { b = 3; }\n")
    ends(command, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28)))
    assert not Path("b.npy").exists() or Path("b.npy").stat().st_size < 1 << 28


@pytest.mark.parametrize(
    "how", ["itself", pytest.param("link", marks=pytest.mark.slow), pytest.param("hard", marks=pytest.mark.slow)]
)
def test_an_output_over_an_input(how, folder):
    """Either it is refused, or the file holds the results: never half of both."""
    before = Path("a.npy").read_bytes()
    {"itself": lambda: None, "link": lambda: os.symlink("a.npy", "c.npy"), "hard": lambda: os.link("a.npy", "c.npy")}[
        how
    ]()
    target = "a.npy" if how == "itself" else "c.npy"
    status, said = ends(["run", "k.c", "--in", "a=a.npy", "--out", f"b={target}", "--backend", "cpu"])
    if status:
        assert Path("a.npy").read_bytes() == before and "a.npy" in said
    else:
        assert np.array_equal(np.load(target), np.full((3, 4), 2, np.float32))


LARGE = "static float t[1 << 23];\nfloat a;\nvoid k(void) { for (int i = 0; i < 1 << 23; i++) t[i] = a * i; a = t[5] + t[8]; }\n"
LIMITED = f"""
import resource, numpy as np, c2cu
from pathlib import Path
program = c2cu.compile({LARGE!r}, backend="cpu", schedule="gang")
used = 4096 * int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (used + (25 << 20), -1))
try:
    program(np.ones(3, np.float32))
except c2cu.CompileError as e:
    print(e.code)
"""


@pytest.mark.slow
def test_no_memory_for_a_working_copy():
    """A gang works in a copy of all its lanes' arrays."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout == "C2CU245\n" and "Traceback" not in done.stderr, done.stderr


def test_a_working_copy_that_no_memory_holds(monkeypatch):
    """Asking for it would succeed, and using it end the process."""
    program = c2cu.compile("float a[1 << 16];\nvoid k(void) { a[0]++; }\n", backend="cpu", schedule="gang")
    monkeypatch.setattr("c2cu.base.memory.most_memory", lambda: 1 << 20)
    with pytest.raises(c2cu.CompileError, match="not enough memory") as e:
        program(np.ones((1, 1 << 16), np.float32))
    assert e.value.code == "C2CU253"
