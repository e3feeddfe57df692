"""Names of generated text as the program's own: macros, functions, variables, types, labels. Each run prints what gcc's
prints."""

import re
import subprocess

import pytest

import c2cu
from c2cu.base.templates import words
from c2cu.frontend.preprocess import KEYWORDS
from tests.compiled import compiled_once
from tests.cuda_host import program_on_cpu
from tests.names import KINDS, RUNS, accepted, names_in, program, runs_of_gcc
from tests.oracle import executable

_AROUND = words("host.j2", "parts.j2", "runs.j2", "cuda/main_columns.cuh.j2", "cpu/workers.h.j2", "cuda/slot.cuh.j2")
#: What stands around a program says these, or headers that it needs declare them, or CUDA or C++ have them.
FEW = sorted(
    {n for n in _AROUND if not n.lower().startswith("c2cu_") and n != "main"}.union(
        "finite min max lanes run size count error status line globals x y T W P N index time read gamma y0 signal uint "
        "ushort u_char timeval EOF NULL RAND_MAX F_OK optind abs qsort swap sleep link pipe remove div class new this "
        "template and bool true slot cudaMalloc dim3 int2 warpSize device host bytes printed ended result argc argv threads inputs".split()
    )
)
#: What a translation cannot do without, and has no other name for.
NEEDED = "FILE SEEK_CUR SEEK_SET jmp_buf longjmp setjmp size_t stderr stdout".split()
_REFUSED = re.compile(r"'(\w+)' (?:of the C library|is CUDA's own)")


def translated(kind: str, names: list[str], paths: bool, **options) -> tuple[str, str]:
    """A program of those names that are not refused, and its translation."""
    names = accepted(kind, names, paths)
    assert len(names) > 50
    while True:
        text = program(kind, names, paths)
        try:
            return text, c2cu.translate(text, p=len(RUNS), **options)
        except c2cu.UnsupportedError as e:
            assert e.code in ("C2CU270", "C2CU271"), e
            refused = _REFUSED.findall(str(e))[0]
            assert refused in (*NEEDED, "memcpy", "memset") or e.code == "C2CU271", e
            assert not kind.startswith("macro") and kind != "extent"
            names.remove(refused)


def agree(kind: str, names: list[str], target: str, paths: bool = False, **options) -> None:
    text, made = translated(kind, names, paths, target=target, **options)
    if target == "cuda":
        ours = program_on_cpu(made)
    else:
        ours = compiled_once(["gcc", "-O0", "-Wall", "-Wextra", "-x", "c", "-", "-lm", "-lpthread"], made)
    done = subprocess.run([ours], input="".join(RUNS).encode(), capture_output=True)
    assert done.stdout == runs_of_gcc(text), done.stderr


CPU = [k for k in KINDS if not k.startswith("label")]  # so many jumps of main cannot be split
CASES = [
    ("cpu", "macro", {}),
    *(("cpu", k, {}) for k in CPU[1:]),
    *(("cuda", k, {}) for k in ("macro", "extent", "function", "global", "local", "parameter", "static local")),
    *(("cuda", k, {"schedule": "registers"}) for k in ("macro", "macro of a float", "function", "parameter")),
    *(("cuda", k, {"schedule": "private", "group": 2}) for k in ("extent", "local", "static local", "parameter")),
]


@pytest.mark.costly
@pytest.mark.parametrize("target, kind, options", CASES)
def test_names_of_generated_text(target, kind, options):
    agree(kind, FEW, target, **options)


KEPT = ("macro", "extent", "function", "type", "tag and member")
GEP = [
    *(("cpu", "gep", None, k) for k in KEPT),
    *(("cuda", "gep:staged", 2, k) for k in KEPT),
    *(("cuda", "gep:tiles", None, k) for k in KEPT[:1]),
]


@pytest.mark.costly
@pytest.mark.parametrize("target, schedule, group, kind", GEP)
def test_all_names_of_a_text_of_gep(target, schedule, group, kind):
    options = {"target": target, "schedule": schedule, "group": group}
    text = c2cu.translate(program(kind, [], True), p=len(RUNS), **options)
    names = [n for n in names_in([text]) if n not in KEYWORDS and (kind == "macro" or not n.startswith("cuda"))]
    agree(kind, names, paths=True, **options)


TRUTHS = {
    "types": """
#include <stdio.h>
typedef enum { false, true } bool;
int n, o;
static bool seen;
static bool odd(int k) { return k & 1 ? true : false; }
void k(void) { bool b = odd(n); seen = b; o = n + (b == true); }
int main(void) {
    if (scanf("%d %d", &n, &o) != 2) return 1;
    bool x = odd(n);
#pragma kernel
    k();
    printf("%d %d %d\\n", o, seen, x == true);
    return 0;
}
""",
    "variables": """
#include <stdio.h>
int bool, n, o;
struct t { int true; } tt;
short slot[2];
static int and(int false) { int bool = false + 1; return bool; }
void k(void) { int true = and(n); slot[1] += true; tt.true = true; bool = true; o = n + bool + slot[0]; }
int main(void) {
    if (scanf("%d %d", &n, &o) != 2) return 1;
    int or = and(n);
    slot[0] = or;
#pragma kernel
    k();
    printf("true %d %d %d\\n", o, bool + slot[1], tt.true + or);
    return 0;
}
""",
}


@pytest.mark.costly
@pytest.mark.parametrize("schedule, group", [("thread", None), ("private", 2), ("registers", None), ("auto", 2)])
@pytest.mark.parametrize("which", TRUTHS)
def test_words_of_cplusplus_that_our_text_says(which, schedule, group):
    made = c2cu.translate(TRUTHS[which], p=len(RUNS), schedule=schedule, group=group)
    done = subprocess.run([program_on_cpu(made)], input="".join(RUNS).encode(), capture_output=True)
    assert done.stdout == runs_of_gcc(TRUTHS[which])


def test_a_struct_by_the_name_of_what_a_kernel_calls():
    text = "struct memcpy { int a; } b;\nvoid k(void) { b.a++; }\nint main(void) { k(); return 0; }\n"
    with pytest.raises(c2cu.UnsupportedError, match="<input>:1:.*'memcpy' of the C library.*C2CU270"):
        c2cu.translate(text, p=3, schedule="private")


STRUCTS = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <math.h>
struct time { int h, m; } now;
struct exp { int e; } power;
union free { int i; char c[4]; };
int a;
void k(void) { now.h += a; power.e += now.h * 2; }
int main(void) {
    if (scanf("%d", &a) != 1) return 1;
    int *n = malloc(sizeof *n);
    *n = time(NULL) != 0;
    now.m = *n;
    free(n);
    union free u;
    u.i = exp(a / 4.0) > 2;
#pragma kernel
    k();
    printf("%d %d %d\\n", power.e, now.m, u.i);
    return 0;
}
"""


@pytest.mark.costly
@pytest.mark.parametrize("target, schedule", [("cpu", None), ("cuda", None), ("cpu", "gang"), ("cuda", "private")])
def test_structs_by_the_names_of_functions_that_the_program_calls(target, schedule):
    made = c2cu.translate(STRUCTS, p=len(RUNS), target=target, schedule=schedule)
    ours = (
        program_on_cpu(made) if target == "cuda" else compiled_once(["gcc", "-x", "c", "-", "-lm", "-lpthread"], made)
    )
    inputs = "3\n-5\n7\n"
    right = b"".join(
        subprocess.run([executable(STRUCTS)], input=r, capture_output=True).stdout for r in b"3 -5 7".split()
    )
    assert subprocess.run([ours], input=inputs.encode(), capture_output=True).stdout == right


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_keyword_of_cplusplus_that_stands_before_the_program(target):
    text = "int namespace;\nvoid k(void) { namespace++; }\nint main(void) { k(); return 0; }\n"
    assert "namespace" in c2cu.translate(text, p=3, target=target)


def test_a_macro_stays_a_name():
    """Our own names give way; only words of the languages and their libraries make it a number."""
    names = ["size", "status", "error", "T", "N", "line", "count", "globals"]
    for target in ("cpu", "cuda"):
        made = c2cu.translate(program("macro", [*names, "memcpy", "x"]), p=2, target=target)
        assert all(re.search(rf"^#define {n} \d", made, re.M) and re.search(rf"\+ {n};", made) for n in names)
        assert "#define memcpy" not in made


def test_a_library_function_of_the_programs_own():
    """It keeps its name, and the translation calls the library's by another."""
    text = program("function", ["memcpy", "free"])
    made = c2cu.translate(text, p=2, target="cpu")
    assert "#define memcpy memcpy_\n" in made and "= memcpy; /*" in made and re.search(r"\+ memcpy\(", made)


@pytest.mark.parametrize("name", NEEDED[:3])
def test_what_the_translation_needs_is_an_error(name):
    text = f"enum {{ {name} = 3 }};\nint a;\nvoid k(void) {{ a += {name}; }}\nint main(void) {{ k(); return 0; }}\n"
    with pytest.raises(c2cu.UnsupportedError, match=f"<input>:1:8: .*'{name}' of the C library.*C2CU270"):
        c2cu.translate(text, p=3)


@pytest.mark.parametrize(
    "text, place",
    [
        ("int c2cu_device(int x) { return x + 1; }\nvoid k(void) { a = c2cu_device(a); }", "1:19"),
        ("void k(void) {\n    int C2CU_SLOTS = a;\n    a += C2CU_SLOTS;\n}", "2:9"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"schedule": "registers"}, {"target": "cpu", "schedule": "gang"}])
def test_names_that_begin_as_ours_do_are_an_error(text, place, options):
    with pytest.raises(c2cu.UnsupportedError, match=f"<input>:{place}: .*C2CU275"):
        c2cu.translate(f"static int a; {text}\nint main(void) {{ k(); return 0; }}\n", p=3, **options)
