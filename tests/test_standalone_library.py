"""Kernels as libraries: what `translate --library` writes, compiled without c2cu, equals runs of the original."""

import ctypes
import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from tests.compiled import compiled_once, loaded
from tests.cuda_host import library_on_cpu
from tests.oracle import same
from tests.sample import sampled, slow
from tests.workloads import WORKLOADS, paths

C = [
    "gcc",
    "-O1",
    "-march=native",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-shared",
    "-fPIC",
    "-x",
    "c",
    "-",
    "-lm",
    "-pthread",
]


def on_cpu(library) -> ctypes.CDLL:
    """A CPU library, compiled."""
    text = library.source.replace(f'#include "{library.name}.h"', library.header)
    return loaded(compiled_once(C, text))


def emulated(library) -> ctypes.CDLL:
    """A CUDA library whose kernels the CPU executes."""
    text = library.source.replace(f'#include "{library.name}.h"', library.header).replace(
        "<cuda_runtime.h>", "<stddef.h>"
    )
    return library_on_cpu(text)


def called(library, code: ctypes.CDLL, inputs, slots, p: int, last) -> dict[str, np.ndarray]:
    """The outputs by name. ``last``: the argument behind the workspace."""
    head = re.search(rf"^int {library.name}\((.*?)\);$", library.header, re.M | re.S)[1]
    names = [re.search(r"(\w+)$", a)[1] for a in re.split(r",\s+", head)][:-3]
    arrays = {}
    for s in slots:
        if s.name in inputs:
            arrays[s.name] = np.array(inputs[s.name])
        elif s.writes:
            arrays[s.name] = np.zeros((p, *s.shape), s.dtype)
    spelled = {
        "return": "result",
        **{n: next((x for x in names if x.rstrip("_") == n), "") for n in arrays if n != "return"},
    }
    addresses = {spelled[n]: a.ctypes.data for n, a in arrays.items()}
    size = getattr(code, f"{library.name}_workspace")
    size.restype = ctypes.c_size_t
    workspace = np.empty(size(ctypes.c_long(p), *([last] if last else [])) + 256, np.uint8)
    pointers = [ctypes.c_void_p(addresses.get(n)) for n in names]
    answer = getattr(code, library.name)(*pointers, ctypes.c_long(p), ctypes.c_void_p(workspace.ctypes.data), last)
    assert answer == 0
    if last is None:
        code.finish()
    return {s.name: arrays[s.name] for s in slots if s.writes}


@pytest.mark.parametrize("w", sampled(WORKLOADS, 8), ids=lambda w: w.name)
def test_on_the_cpu(w):
    library = c2cu.library(w.path, "many", target="cpu", defines=w.defines, shared=w.shared)
    code, slots = on_cpu(library), w.compile(backend="cpu", schedule="gang").slots
    inputs = w.inputs(67)
    expected = w.expected(inputs, 67)
    for p, threads in ((67, 1), (67, 3), (67, 100), (1, 2), (0, 1)):
        results = called(library, code, w.first(inputs, p), slots, p, threads)
        assert all(same(results[n], expected[n][:p]) for n in w.outputs), (p, threads)


@pytest.mark.parametrize("schedule", ["auto", slow("private"), slow("thread")])
@pytest.mark.parametrize("w", sampled(WORKLOADS, 16), ids=lambda w: w.name)
def test_cuda(w, schedule):
    library = c2cu.library(w.path, "many", schedule=schedule, defines=w.defines, shared=w.shared)
    inputs = w.inputs(37)
    results = called(library, emulated(library), inputs, w.compile(backend="cpu", schedule="gang").slots, 37, None)
    assert all(same(results[n], a) for n, a in w.expected(inputs, 37).items())


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["staged", slow("single"), slow("recursive")])
def test_the_whole_device_at_each_input(variant):
    w = paths(9)
    library = c2cu.library(w.path, "many", schedule=f"gep:{variant}", defines=w.defines)
    inputs = w.inputs(5)
    results = called(library, emulated(library), inputs, w.compile(backend="cpu", schedule="gang").slots, 5, None)
    assert same(results["D"], w.expected(inputs, 5)["D"])


@pytest.mark.parametrize("n", [5, slow(70), slow(130)])
def test_threads_that_share_an_input(n):
    """Many inputs are divided among threads, few are done by all, one after the other."""
    w = paths(n)
    library = c2cu.library(w.path, "many", target="cpu", schedule="gep", defines=w.defines)
    code, slots = on_cpu(library), w.compile(backend="cpu", schedule="gang").slots
    inputs = w.inputs(9)
    expected = w.expected(inputs, 9)["D"]
    for p, threads in ((9, 1), (9, 3), (9, 7), (2, 100), (1, 2), (0, 1)):
        results = called(library, code, w.first(inputs, p), slots, p, threads)
        assert same(results["D"], expected[:p]), (p, threads)


PROGRAM = """typedef struct { int n; double v; } item; item stock[3]; const int table[4] = {3, 1, 4, 1}; _Bool even; int start = 5;
int kern(int p, const unsigned char *W, long workspace) {
    stock[p & 1].v += table[W[0] & 3] * 0.5 + workspace; even = !even; return start + stock[0].n;
}
"""


@pytest.mark.costly
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_names_structs_and_initialisers(target):
    """The names of our own parameters are the user's too; a scalar is an array of p, and a result is one."""
    library = c2cu.library(PROGRAM, "bulk", target=target, shapes={"W": (2,)})
    code = on_cpu(library) if target == "cpu" else emulated(library)
    for text in (
        "void *stock",
        "const int *p_",
        "const unsigned char *W",
        "const long *workspace_",
        "int *result",
        "unsigned char *even",
    ):
        assert text in library.header
    slots = c2cu.compile(PROGRAM, backend="cpu", schedule="gang", shapes={"W": (2,)}).slots
    rng, p = np.random.default_rng(0), 41
    item = np.dtype({"names": ["n", "v"], "formats": ["i4", "f8"], "offsets": [0, 8], "itemsize": 16})
    stock = np.zeros((p, 3), item)
    stock["n"], stock["v"] = rng.integers(0, 9, (p, 3)), rng.random((p, 3))
    numbers = {"p": rng.integers(0, 2, p).astype("i4"), "W": rng.integers(0, 256, (p, 2)).astype("u1")}
    inputs = {
        "stock": stock,
        "even": rng.integers(0, 2, p).astype("?"),
        "workspace": np.arange(p, dtype="i8"),
        **numbers,
    }
    results = called(library, code, inputs, slots, p, 2 if target == "cpu" else None)
    expected = c2cu.bulk(PROGRAM, inputs, backend="cpu", schedule="native")
    assert all(same(results[n], a) for n, a in expected.items())


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_the_header_says_how_large_arrays_are(target):
    """What an array's own declaration in C would take."""
    text = (
        "#include <complex.h>\nstruct pair { int x; double y; } pairs[3]; double complex a[4]; float complex s; _Bool f; int m;\n"
        "double k(void) { s = 0; for (int i = 0; i < 4; i++) s += a[i] * pairs[i % 3].x; return f ? m : pairs[0].y; }\n"
    )
    library = c2cu.library(text, "bulk", target=target)
    said = dict(re.findall(r"^ \*   (\w+): \w+, ([^;\n]*)", library.header, re.M))
    assert said == {
        "a": "double[p][4][2] (the real part, then the imaginary one)",
        "s": "float[p][2] (the real part, then the imaginary one)",
        "pairs": "void[p][3] (struct pair, 16 bytes each)",
        "f": "unsigned char[p]",
        "m": "int[p]",
        "result": "double[p], what the C function returns",
    }
    for slot in c2cu.compile(text, backend="cpu", schedule="gang").slots:
        numbers = [int(n) for n in re.findall(r"\[(\d+)\]", said[slot.name.replace("return", "result")])]
        size = {"double": 8, "float": 4, "void": 16, "unsigned char": 1, "int": 4}
        element = size[said[slot.name.replace("return", "result")].partition("[")[0]]
        assert math.prod([element, *numbers]) == slot.nbytes


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_variable_that_the_caller_leaves_to_the_c_file(target):
    text = "int seen = 7, a, o;\nvoid k(void) { o = a + seen; seen += a; }\n"
    library = c2cu.library(text, "bulk", target=target)
    assert "seen: in and out, int[p]; NULL: as the C file initialises it, and not given back" in library.header
    code = on_cpu(library) if target == "cpu" else emulated(library)
    slots = [s for s in c2cu.compile(text, backend="cpu", schedule="gang").slots if s.name != "seen"]
    a = np.arange(19, dtype="i4")
    results = called(library, code, {"a": a}, slots, 19, 2 if target == "cpu" else None)
    assert results["o"].tolist() == (a + 7).tolist()


def test_two_libraries_in_one_program(tmp_path, monkeypatch):
    """Their files, as the command line writes them; a C++ program calls both."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("twice", "int a[2], o;\nvoid k(void) { o = 2 * a[1]; }\n"),
        ("thrice", "int a[2], o;\nvoid k(void) { o = 3 * a[0]; }\n"),
    ):
        (tmp_path / f"{name}.c").write_text(text)
        done = CliRunner().invoke(
            main, ["translate", f"{name}.c", "--library", "--target", "cpu", "-o", f"{name}_bulk.c"]
        )
        assert done.exit_code == 0, done.output
        subprocess.run(["gcc", "-O1", "-march=native", "-c", f"{name}_bulk.c"], check=True)
    (tmp_path / "main.cpp").write_text(
        """#include "twice_bulk.h"
#include "thrice_bulk.h"
#include <cstdio>
#include <cstdlib>
int main() {
    int a[] = {1, 2, 3, 4, 5, 6}, o[3];
    void *memory = malloc(twice_bulk_workspace(3, 1) + thrice_bulk_workspace(3, 2));
    int code = twice_bulk(a, o, 3, memory, 1);
    printf("%d: %d %d %d\\n", code, o[0], o[1], o[2]);
    code = thrice_bulk(a, o, 3, memory, 2);
    printf("%d: %d %d %d\\n", code, o[0], o[1], o[2]);
    puts(twice_bulk_error(twice_bulk(NULL, o, 3, memory, 1)));
    puts(twice_bulk_error(twice_bulk(a, o, -1, memory, 1)));
    return 0;
}
"""
    )
    subprocess.run(["g++", "main.cpp", "twice_bulk.o", "thrice_bulk.o", "-o", "main", "-pthread"], check=True)
    output = subprocess.run(["./main"], capture_output=True, text=True, check=True).stdout
    assert output == "0: 4 8 12\n0: 3 9 15\na is NULL\np is negative\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("w", WORKLOADS, ids=lambda w: w.name)
def test_nvcc_takes_them_without_a_warning(w, tmp_path):
    for schedule in ("auto", "private", "thread", *(["gep:staged", "gep:single"] if w.name == "fw-64" else [])):
        library = c2cu.library(
            w.path, f"{schedule.replace(':', '_')}_bulk", schedule=schedule, defines=w.defines, shared=w.shared
        )
        (tmp_path / f"{library.name}.h").write_text(library.header)
        (tmp_path / f"{library.name}.cu").write_text(library.source)
        command = ["nvcc", "-O3", "--fmad=false", "-Xcompiler", "-Wall", "-c", f"{library.name}.cu"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and "warning" not in done.stderr, done.stderr[:2000]


@pytest.mark.parametrize(
    "arguments, code",
    [
        (["--target", "cpu"], "C2CU421"),
        (["-o", "k.h"], "C2CU421"),
        (["-o", "k-1.cu"], "C2CU420"),
        (["-o", "k.c"], "C2CU362"),
        (["-o", "bulk.c", "--target", "cpu", "--schedule", "nobody"], "C2CU051"),
    ],
)
def test_what_is_refused(arguments, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text("int a[2], o;\nvoid k(void) { o = 2 * a[1]; }\n")
    done = CliRunner().invoke(main, ["translate", "k.c", "--library", *arguments])
    assert (
        done.exit_code == (2 if code == "C2CU051" else 1)
        and code in done.output
        and sorted(x.name for x in tmp_path.iterdir()) == ["k.c"]
    )


@pytest.mark.parametrize("suffix, language", [("c", "LANGUAGES C)"), ("cu", "LANGUAGES CUDA)")])
def test_cmake_lists_beside_them(suffix, language, tmp_path, monkeypatch):
    """Written again for the same library, never over somebody else's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text("int a[2], o;\nvoid k(void) { o = 2 * a[1]; }\n")
    lists = tmp_path / "CMakeLists.txt"

    def translate(name: str, *more: str):
        return CliRunner().invoke(main, ["translate", "k.c", "-o", f"{name}.{suffix}", "--cmake", *more])

    assert translate("bulk").exit_code == 2 and not lists.exists()
    for _ in range(2):
        assert translate("bulk", "--library").exit_code == 0
        assert language in lists.read_text() and f"add_library(bulk STATIC bulk.{suffix})" in lists.read_text()
    other = translate("other", "--library")
    assert other.exit_code == 1 and "C2CU422" in other.output
    assert sorted(x.name for x in tmp_path.iterdir()) == sorted(["CMakeLists.txt", "bulk.h", f"bulk.{suffix}", "k.c"])


def test_what_is_shared_is_one_for_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(
        "float w[4], x[4], y;\nvoid k(void) { y = 0; for (int i = 0; i < 4; i++) y += w[i] * x[i]; }\n"
    )

    def translate(name: str):
        return CliRunner().invoke(main, ["translate", "k.c", "--library", "--shared", name, "-o", "bulk.c"])

    assert translate("w").exit_code == 0 and "w: in, float[4] (one for all inputs)" in (tmp_path / "bulk.h").read_text()
    assert translate("w=3").exit_code == 2 and "C2CU041" in translate("v").output


def test_what_keeps_it_from_a_library_is_named():
    with pytest.raises(c2cu.UnsupportedError, match="k.c:2:|<input>:2:"):
        c2cu.library(
            "#include <string.h>\nchar s[9]; int o; void k(void) { o = strtok(s, s) != NULL; }\n",
            "x",
            target="cpu",
        )


@pytest.mark.parametrize("name", ["W", "i32", "memcpy", "c2cu_filter", "while"])
def test_names_that_its_text_needs(name):
    with pytest.raises(c2cu.InputError, match="C2CU420"):
        c2cu.library("int a[2], o;\nvoid k(void) { o = 2 * a[1]; }\n", name, target="cpu")
