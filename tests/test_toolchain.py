"""The host compiler: which one is taken, and what c2cu says where there is none."""

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.io import progress
from tests import test_native
from tests.oracle import same
from tests.workloads import EXAMPLES, WORKLOADS

ROOT = Path(c2cu.__file__).parent.parent
SMALLEST = {w.file: w for w in reversed(WORKLOADS) if (EXAMPLES / w.file).exists()}
FLOYD = EXAMPLES / "floyd_warshall.c"


def without_programs(folder: Path) -> dict[str, str]:
    """The environment of a process that finds no program by its name."""
    environment = {k: v for k, v in os.environ.items() if k in ("HOME", "LANG", "LD_LIBRARY_PATH")}
    return environment | {"PYTHONPATH": str(ROOT), "PATH": str(folder), "C2CU_CACHE_DIR": str(folder / "cache")}


@pytest.mark.parametrize("words", [["check"], ["explain"], ["translate", "--p", "9"]], ids=lambda w: w[0])
def test_without_a_compiler_the_error_says_what_to_install(words, tmp_path):
    """A process that finds no program at all, nor the package ziglang."""
    script = "import sys; sys.modules['ziglang'] = None\nfrom c2cu.cli import main\nmain()"
    environment = without_programs(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", script, *words, str(FLOYD)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and not done.stdout
    assert "[C2CU060]" in done.stderr and "pip install 'c2cu[zig]'" in done.stderr


def test_a_compiler_that_was_asked_for_is_missed(monkeypatch):
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(c2cu.CompileError, match="of \\$CC is not found"):
        c2cu.check(FLOYD)


def test_a_compiler_that_fails_is_named_as_the_one_that_fails(monkeypatch, tmp_path):
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho no licence >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(c2cu.ParseError, match="the preprocessor failed: no licence"):
        c2cu.check(FLOYD)


# the package ziglang


@pytest.fixture
def zig(monkeypatch, tmp_path) -> tuple[str, ...]:
    """Its compiler is the host's; nothing is known from before."""
    command = (sys.executable, "-m", "ziglang", "cc")
    monkeypatch.setenv("CC", " ".join(command))
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    assert "clang" in toolchain.compiler_version(command), "pip install 'c2cu[zig]'"
    return command


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(SMALLEST))
def test_ziglang_gives_the_bits_of_gcc(file, zig):
    w, p = SMALLEST[file], 33
    inputs = w.inputs(p)
    expected = w.expected(inputs, p)
    for schedule in ("gang", "native", *(["gep"] if w.path == FLOYD else [])):
        program = w.compile(backend="cpu", schedule=schedule)
        assert program.plan.schedule == schedule
        results = w.results(program(inputs))
        assert all(same(results[name], expected[name]) for name in w.outputs), schedule


@pytest.mark.slow
def test_ziglang_tells_what_is_no_c(zig):
    with pytest.raises(c2cu.ParseError, match="duplicate case") as e:
        c2cu.check("int a[4];\nvoid k(void) {\n    switch (a[0]) { case 1: a[1] = 2; case 1: a[1] = 3; }\n}\n")
    assert (e.value.code, e.value.line) == ("C2CU008", 3)


@pytest.mark.slow
def test_ziglang_leaves_nothing_behind(zig, tmp_path, monkeypatch):
    """It takes "-o -" for a file of that name. Layouts are read from what it writes."""
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    text = "struct __attribute__((packed)) s { char c; int i; } a;\nint k(void) { a.i++; return a.i; }\n"
    dtype = np.dtype({"names": ["c", "i"], "formats": ["i1", "i4"], "offsets": [0, 1], "itemsize": 5})
    a = np.array([(1, 5), (2, 7)], dtype)
    assert c2cu.bulk(text, a, backend="cpu", schedule="native")["return"].tolist() == [6, 8]
    assert not list(Path().iterdir())


#: What native asks of a compiler and a linker beyond plain C.
ASKED = (
    "scratch thread-local constructor own-malloc exit-deep abort atexit malloc rand drand48 strtok errno rounding setjmp"
).split()


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("compiler", ["clang", "zig"])
def test_native_with_other_compilers(compiler, name, request, monkeypatch, tmp_path):
    if compiler == "zig":
        request.getfixturevalue("zig")
    elif shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    else:
        monkeypatch.setenv("CC", "clang")
        monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    test_native.test_equals_a_fresh_process(name, monkeypatch)


@pytest.mark.slow
def test_ziglang_needs_no_other_program(tmp_path):
    command = [sys.executable, str(EXAMPLES / "graph_atlas.py")]
    done = subprocess.run(command, env=without_programs(tmp_path), capture_output=True, text=True)
    assert "agree with networkx" in done.stdout, done.stderr


@pytest.mark.parametrize("said, flag", [("[-Wimplicit-int]", True), ("[-Werror,-Wint-conversion]", True), ("", False)])
def test_what_older_compilers_took(said, flag):
    hint = toolchain.way_on(f"return type defaults to 'int' {said}")
    assert bool(hint) == flag and (not flag or re.search(r"CC='\S.* (-fpermissive|-Wno-error=[\w-]+)'", hint))


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_a_compiler_that_takes_its_time(is_terminal, tmp_path, monkeypatch):
    slow = tmp_path / "slowcc"
    slow.write_text("#!/bin/sh\nexec sleep 0.8\n")
    slow.chmod(0o755)
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: is_terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.compilers_shown():
        assert toolchain.fed([str(slow)], "").returncode == 0
        assert toolchain.fed(["true"], "").returncode == 0
    toolchain.fed([str(slow)], "")
    assert ("compiling with slowcc" in screen.getvalue()) == is_terminal
    assert "true" not in screen.getvalue() and (is_terminal or not screen.getvalue())
