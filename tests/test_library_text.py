"""What a library's files say and refuse: the header's words, results for wrong arguments, plain loops, no spare text."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

import c2cu
from c2cu.standalone.tidy import without_unused_cuda
from tests.compiled import compiled_once, loaded
from tests.cuda_host import library_on_cpu
from tests.sample import slow
from tests.test_standalone_library import C, emulated, on_cpu

PATHS = """#define N 8
float D[N][N];
void k(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (D[i][j] > D[i][k] + D[k][j])
                    D[i][j] = D[i][k] + D[k][j];
}
"""
DOT = "float w[4], x[4], y;\nvoid k(void) { y = 0; for (int i = 0; i < 4; i++) y += w[i] * x[i]; }\n"


def written(target: str, text: str = PATHS, name: str = "many", **options):
    return c2cu.library(text, name, target=target, **options)


def called(code: ctypes.CDLL, D: int | None, p: int, workspace: int | None, last: int | None) -> int:
    """The function of `PATHS`. ``last``: a number of threads, or None for a stream."""
    return code.many(ctypes.c_void_p(D), ctypes.c_long(p), ctypes.c_void_p(workspace), last)


def says(code: ctypes.CDLL, result: int) -> str:
    code.many_error.restype = ctypes.c_char_p
    return code.many_error(result).decode()


@pytest.mark.parametrize("target, other, compiler", [("cpu", "cuda", "gcc"), slow(("cuda", "cpu", "nvcc"))])
def test_the_header_of_the_other_target_is_refused(target, other, compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    file = f"many.{'c' if target == 'cpu' else 'cu'}"
    (tmp_path / file).write_text(written(target).source)
    for whose, status in ((target, True), (other, False)):
        (tmp_path / "many.h").write_text(written(whose).header)
        done = subprocess.run([compiler, "-c", file], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) is status
    assert re.search("#error.*many.h is not the header of this library", done.stderr)


@pytest.mark.parametrize("target, last", [("cpu", 1), ("cuda", None)])
def test_wrong_arguments_have_the_same_results_for_both_targets(target, last):
    code = on_cpu(written(target)) if target == "cpu" else emulated(written(target))
    D, memory = np.zeros((8, 8), "f4"), np.zeros(1 << 16, "u1")
    a, workspace = D.ctypes.data, memory.ctypes.data
    assert called(code, None, 0, None, last) == 0
    assert called(code, a, -1, workspace, last) == -1 and says(code, -1) == "p is negative"
    assert called(code, None, 1, workspace, last) == -4 and says(code, -4) == "D is NULL"
    if target == "cpu":
        assert called(code, a, 1, None, last) == -2 and says(code, -2) == "workspace is NULL"
        assert called(code, a, 1, workspace, 0) == -3 and says(code, -3) == "threads is less than 1"
        assert says(code, 0) == "no error" and says(code, 7) == "no such error"
    code.many_workspace.restype = ctypes.c_size_t
    for p in (-1, 0):
        assert code.many_workspace(ctypes.c_long(p), *([last] if last else [])) == 0


def test_an_error_that_was_there_is_returned_and_stays():
    """But for that of a stream which was asked and is not done yet."""
    library = written("cuda")
    text = library.source.replace('#include "many.h"', library.header).replace("<cuda_runtime.h>", "<stddef.h>")
    code = library_on_cpu(
        text
        + 'extern "C" void leave(int error) { c2cu_last = (cudaError_t)error; }\n'
        + 'extern "C" int left() { return cudaPeekAtLastError(); }\n'
    )
    D = np.ones((8, 8), "f4")
    before = D.copy()
    code.leave(2)
    assert called(code, D.ctypes.data, 1, None, None) == 2 and code.left() == 2
    code.finish()
    assert (D == before).all()
    code.leave(600)
    assert called(code, D.ctypes.data, 1, None, None) == 0 and code.left() == 0


def test_a_header_says_sizes_and_how_they_came_about():
    assert "Sizes are fixed: N = 8.\n" in written("cpu").header
    for target in ("cpu", "cuda"):
        header = written(target, defines={"N": 16}).header
        assert "-D N=16" in header and "N = 16 (in place of the C file's own)" in header
        assert re.search(r"of the C file with these sizes", header)
    assert "Sizes" not in written("cpu", DOT).header


def test_a_header_says_what_memory_a_library_needs():
    assert re.search(r"bytes at any address, about \d", written("cpu", defines={"N": 64}).header)
    assert "none is needed, pass NULL" in written("cuda").header
    needs = written("cuda", schedule="private", defines={"N": 64})
    assert "many_workspace(p) bytes" in needs.header and "return -2;" in needs.source


def test_a_header_names_the_functions_of_math_and_whose_bits_they_are():
    assert "math.h" not in written("cuda").header and "glibc" not in written("cuda").header
    text = "double x, y;\nvoid k(void) { y = %s(x); }\n"
    header = re.sub(r"\s+\*? *", " ", written("cuda", "#include <math.h>\n" + text % "exp").header)
    assert "The bits of exp are those of glibc" in header


@pytest.mark.parametrize("function, header, flag", [("", False, False), ("tgamma", True, True)])
def test_no_header_or_library_of_math_where_none_is_called(function, header, flag):
    library = written("cpu", f"#include <math.h>\ndouble x, y;\nvoid k(void) {{ y = {function}(x); }}\n")
    assert ("<math.h>" in library.source) is header
    assert ("-lm" in library.header) is flag and ("pthread m)" in library.cmake) is flag
    assert "<stdlib.h>" not in library.source
    on_cpu(library)


def test_loops_are_those_of_the_file(tmp_path):
    """By file and line; their counters are theirs alone where nothing else uses these."""
    (tmp_path / "k.c").write_text(PATHS)
    source = written("cpu", str(tmp_path / "k.c"), defines={"N": 64}).source
    loops = re.findall(r"for \(int (\w)_\d+ = 0; \1_\d+ < 64; \1_\d+\+\+\) \{ /\* k\.c:(\d+) \*/", source)
    copies, two, one = [("j", "6"), ("j", "6")], [("i", "5"), ("j", "6")], [("i", "5"), ("j", "6")]
    assert loops == [("k", "4"), *copies, *two, *one]
    assert "at_work" not in source and "(void)slot" not in source


COUNTERS = """int n[1], o[4], last;
void k(void) {
    int i, j = 3;
    for (i = 0; i < 40; i += 3) o[i & 3] += i;
    last = i;
    for (; j < 50; j++) o[j & 3] ^= j * n[0];
    for (i = i + 1; i > 2; i--) o[i & 3] += i;
    for (unsigned char c = 250; c > 200; c++) o[c & 3] -= c;
    for (j = 0; j < 60; j = j * 2 + 1) if (j == n[0]) break;
    last += j;
}
"""


def test_counters_that_outlive_their_loops():
    library = written("cpu", COUNTERS)
    code = on_cpu(library)
    p, rng = 11, np.random.default_rng(0)
    arrays = {"n": rng.integers(0, 9, (p, 1)).astype("i4"), "o": rng.integers(-99, 99, (p, 4)).astype("i4")}
    expected = c2cu.bulk(COUNTERS, arrays, backend="cpu", schedule="native")
    given = {**{n: a.copy() for n, a in arrays.items()}, "last": np.zeros(p, "i4")}
    head = library.header.split("\nint many(")[1].split(";")[0]
    names = re.findall(r"(\w+)[,)]", head)[:-3]
    code.many_workspace.restype = ctypes.c_size_t
    memory = np.zeros(code.many_workspace(ctypes.c_long(p), 2), "u1")
    pointers = [ctypes.c_void_p(given[n].ctypes.data) for n in names]
    assert code.many(*pointers, ctypes.c_long(p), ctypes.c_void_p(memory.ctypes.data), 2) == 0
    assert all((given[n] == expected[n]).all() for n in expected)


def test_the_same_without_the_registers_that_it_is_made_for():
    library = written("cpu", defines={"N": 16})
    if "needs a CPU with AVX-512" in library.header:
        pytest.skip("it needs AVX-512")
    text = library.source.replace('#include "many.h"', library.header)
    options = [x for x in C if x != "-march=native"]
    D = np.random.default_rng(0).random((19, 16, 16)).astype("f4")
    D[3, 2, 2], D[4, 1, 5], D[5, 6, 7] = -1, np.nan, np.inf
    results = []
    for command in (C, [*options, "-Wno-psabi"]):
        code, mine, memory = loaded(compiled_once(command, text)), D.copy(), np.zeros(1 << 20, "u1")
        assert called(code, mine.ctypes.data, 19, memory.ctypes.data, 2) == 0
        results.append(mine.tobytes())
    assert results[0] == results[1] == c2cu.bulk(PATHS, D, backend="cpu", schedule="native").tobytes()


HELPERS = """/* What the kernel does. */
#define _Bool bool
/* Of a pair, */
template <class T>
__device__ __forceinline__ T c2cu_first(T x) {
    return x;
}
__device__ int c2cu_second(int x) { return x + 1; } /* and the other one */
__device__ int c2cu_declared(int x,
                             int y);
/* Of nobody. */
struct c2cu_alone {
    int x;
} c2cu_one;
__device__ int c2cu_calls_itself(int x) {
    if (x) {
        return c2cu_calls_itself(x - 1);
    }
    return 0;
}
/* Of what is used,
 * in two lines. */
template <class T> __device__ T c2cu_used(T x) {
    return x;
}
__global__ void kernel() { c2cu_used(1); %s }
/* The end. */
"""


def test_helpers_that_nothing_names_are_left_out():
    text = without_unused_cuda(HELPERS % "")
    assert not re.search(r"_Bool|first|second|declared|alone|itself|pair|nobody", text)
    for kept in ("What the kernel does", "in two lines", "T c2cu_used(T x) {\n    return x;\n}", "The end."):
        assert kept in text
    one = without_unused_cuda(HELPERS % "c2cu_second(2);")
    assert "/* Of a pair, */\n__device__ int c2cu_second" in one and "c2cu_first" not in one
    both = HELPERS % "_Bool b = c2cu_second(c2cu_first(2)); c2cu_declared(1, 2); c2cu_calls_itself(c2cu_one.x);"
    both += "struct c2cu_alone c2cu_two;\n"
    assert without_unused_cuda(both) == both
