"""The CUDA text of schedule gep, as someone reads it who wants to know what it does: nothing in it that is not used or
cannot happen, and each phase names the loop that it is."""

import re
import subprocess

import pytest

import c2cu
from c2cu.base.ctype import FLOAT
from c2cu.codegen.cuda import region_name
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import Source
from c2cu.ir.nodes import Region
from c2cu.pipeline import understand
from c2cu.schedule import registry
from c2cu.schedule.artifact import CudaLaunchesArtifact
from c2cu.schedule.gep.names import matrix_name
from tests.cuda_host import HEADER
from tests.sample import sampled

LOOPS = """
{t} D[N][N];{more}
void f(void) {{
    for (int k = 0; k < N; k++) {{
        {scale}
        for (int i = {start}; i < N; i++)
            for (int j = {start}; j < N; j++)
                {update}
    }}
}}
"""
SHORTER = "if (D[i][k] + D[k][j] < D[i][j]) D[i][j] = D[i][k] + D[k][j];"
# name: type of elements, update, other members of LOOPS
PROGRAMS = {
    "paths": ("float", SHORTER, {}),
    "paths of int": ("int", SHORTER, {}),
    "paths of unsigned": ("unsigned", SHORTER, {}),
    "longest": ("float", SHORTER.replace("<", ">"), {}),
    "next": ("double", SHORTER.replace("< D[i][j]) ", "< D[i][j]) { S[i][j] = S[i][k]; ") + " }", {"more": " int S[N][N];"}),
    "closure": ("unsigned char", "D[i][j] |= D[i][k] & D[k][j];", {}),
    "truth": ("_Bool", "D[i][j] = D[i][j] || (D[i][k] && D[k][j]);", {}),
    "anything": ("float", "D[i][j] = D[i][j] - D[i][k] * D[k][j];", {}),
    "lu": (
        "float",
        "D[i][j] = D[i][j] - D[i][k] * D[k][j];",
        {"start": "k + 1", "scale": "for (int i = k + 1; i < N; i++) D[i][k] = D[i][k] / D[k][k];"},
    ),
}  # fmt: skip
CASES = [
    ("paths", 256, "tiles"),
    ("paths", 20, "tiles"),
    ("paths of int", 200, "tiles"),
    ("paths of unsigned", 20, "tiles"),
    ("longest", 40, "tiles"),
    ("next", 64, "tiles"),
    ("closure", 300, "tiles"),
    ("anything", 200, "tiles"),
    ("lu", 64, "tiles"),
    ("lu", 200, "single"),
    ("next", 200, "streams"),
    ("closure", 200, "recursive"),
    ("paths", 200, "single"),
    ("closure", 300, "bits"),
    ("truth", 300, "bits"),
    ("paths", 700, "staged"),
]


def program(name: str, n: int) -> str:
    t, update, more = PROGRAMS[name]
    return f"#define N {n}\n" + LOOPS.format(
        **{"t": t, "update": update, "more": "", "scale": "", "start": "0", **more}
    )


def text_of(name: str, n: int, variant: str, fp: str = "exact") -> str:
    front = understand(Source("paths/graph.c", program(name, n)), options_of(fp=fp))
    return registry.emit_schedule(f"gep:{variant}", front).text


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


@pytest.mark.parametrize("name, n, variant", sampled(CASES, 2))
def test_no_warning_and_nothing_that_is_not_used(name, n, variant):
    text = text_of(name, n, variant)
    compiled = re.sub(r"extern (__shared__ .*)\[\];", r"\1[16];", text).replace('extern "C" __device__', "__device__")
    source = f"#include <{HEADER.name}>\n{compiled}"
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unknown-pragmas", "-x", "c++", "-"]
    command += ["-Wno-unused-parameter"]  # kernels that follow each other all take the same ones
    command += ["-isystem", str(HEADER.parent)]
    done = subprocess.run(command, input=source, text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    code = without_comments(text)
    defined = re.findall(r"^#define (\w+)", code, re.M)
    defined += re.findall(r"^[^#\n]*__device__ [^;={}]*?\b(c2cu_\w+)\([^;{}]*\) \{", code, re.M)
    assert defined
    counts = {d: len(re.findall(rf"\b{d}\b", code)) for d in defined}
    assert not [d for d, count in counts.items() if count <= defined.count(d)]


@pytest.mark.parametrize(
    "name, n, variant", sampled([("lu", 64, "tiles"), ("lu", 200, "single"), ("truth", 300, "bits")], 1)
)
def test_phases_name_their_loops(name, n, variant):
    """By file, without its folder, and line."""
    comments = " ".join(re.findall(r"/\*.*?\*/", text_of(name, n, variant), re.S))
    lines = program(name, n).split("\n")
    loops = [
        k
        for k, line in enumerate(lines, 1)
        if "int k" in line or "int j" in line or line.strip().startswith("for (int i = k + 1; i < N; i++) D")
    ]
    assert len(loops) == (3 if name == "lu" else 2)
    assert all(f" graph.c:{k}" in comments for k in loops) and "paths/" not in comments


def test_a_name_that_would_end_the_comment():
    front = understand(Source("a*/b.c", program("paths", 12)), options_of())
    assert " b.c:5" in registry.emit_schedule("gep:tiles", front).text
    front = understand(Source("a*\n/ x*.c", program("paths", 12)), options_of())
    text = registry.emit_schedule("gep:tiles", front).text
    assert " ?x?.c:5" in text


def test_launches_say_which_steps_they_are():
    text = c2cu.translate(
        program("paths", 100).replace("void f", "#define M 3\nvoid f") + MAIN, p=2, schedule="gep:staged"
    )
    assert "k = 0, ..., 31: first the tile" in text and "k = 96, ..., 99: first the tile" in text
    assert len(re.findall(r"c2cu_pivot<<<", text)) == 4


def launched(schedule: str, n: int = 256) -> list[str]:
    """The launches of a whole program, without comments."""
    text = c2cu.translate(program("paths", n) + MAIN, p=2, schedule=f"gep:{schedule}")
    return re.findall(r"c2cu_\w+<<<[^;]*;", without_comments(text))


@pytest.mark.parametrize("variant", sampled(["streams", "graph"], 1))
def test_a_program_with_one_stream_has_the_launches_of_staged(variant):
    """What runs beside other launches has no place in a text that has one stream."""
    assert launched(variant) == launched("staged") and not any("ONLY, " in x or "BUT" in x for x in launched(variant))
    front = understand(Source("paths/graph.c", program("paths", 256)), options_of())
    made = registry.emit_schedule(f"gep:{variant}", front)
    assert isinstance(made, CudaLaunchesArtifact)
    assert len(made.one_stream) < len(made.launches) and len({x.stream for x in made.launches}) == 3


def test_arguments_of_launches_are_named():
    pivot, panels, rest = launched("staged")[2:5]
    assert pivot.endswith("memory, 0);") and panels.endswith("memory, 0, ROWS_FIRST, 0);")
    assert rest.endswith("memory, 0, 1, 0, 0, 0, ALL, 0);")
    text = c2cu.translate(program("paths", 256) + MAIN, p=2, schedule="gep:recursive")
    assert "c2cu_rest(..., first, last, i, j, done, mode, t)" in " ".join(text.split()).replace(" * ", " ")
    assert "NONE, ALL, 0);" in text and " -1," not in text


def test_a_recursion_says_what_each_launch_does():
    text = c2cu.translate(program("paths", 256) + MAIN, p=2, schedule="gep:recursive")
    notes = re.findall(r"^ +/\* ( *)(solve\(.*|k = .*) \*/$", text, re.M)
    solved = [(len(indent), what) for indent, what in notes if what.startswith("solve")]
    assert solved[:4] == [
        (0, "solve(0, 256):"),
        (2, "solve(0, 128):"),
        (4, "solve(0, 64):"),
        (6, "solve(0, 32): the tile of these rows and columns."),
    ]
    assert len(solved) == 2 * 8 - 1
    assert ("", "k = 0, ..., 127: rows 128 to 255, columns 128 to 255.") not in notes
    assert ("  ", "k = 0, ..., 127: rows 128 to 255, columns 128 to 255.") in notes
    assert "first the tile on the diagonal" not in text


def test_the_program_in_order_is_written_as_a_person_writes_it():
    """For one thread: the C's loops, with its line numbers, on the output."""
    lines = [x.strip() for x in text_of("paths", 64, "tiles").split("\n")]
    at = lines.index("for (int k = 0; k < 64; k++) { /* graph.c:5 */")
    assert lines[at + 1].startswith("for (int i = 0; i < 64; i++) {")
    assert lines[at + 2].startswith("for (int j = 0; j < 64; j++) {")
    assert lines[at + 3] == "if (out_D[i * 64 + k] + out_D[k * 64 + j] < out_D[i * 64 + j]) {"
    assert lines[at + 4] == "out_D[i * 64 + j] = out_D[i * 64 + k] + out_D[k * 64 + j];"


def test_names_of_matrices():
    plain, struct = (Region(n, FLOAT, (4,), "bulk") for n in ("D", "a.b"))
    assert matrix_name(plain) == "D" and matrix_name(struct) == region_name(struct)
    taken = ["D_at", "a_b_at1", "D_3", "D_u3"]  # another region's name, or a variable's
    assert all(matrix_name(Region(n, FLOAT, (4,), "bulk")) == f"{n}_at" for n in taken)


MAIN = """
int printf(const char *, ...);
int main(void) {
#pragma kernel
    f();
    printf("%f", D[1][2]);
    return 0;
}
"""


def test_an_input_is_done_again_only_where_it_can_have_to_be():
    """Minima are taken where nothing is below 0, and then no cycle is negative; where sums are made greatest, it may be."""
    paths, longest = (text_of(name, 20, "tiles") for name in ("paths", "longest"))
    assert "if (!MINIMA && again)" in paths and "if (again)" in longest
    assert "again" not in without_comments(text_of("closure", 20, "tiles"))
    kernels = [
        re.findall(r"c2cu_\w+(?=\(PARAMETERS)", text_of(name, 300, v))
        for name, v in (("truth", "bits"), ("closure", "bits"), ("closure", "staged"), ("paths", "staged"))
    ]
    assert ["c2cu_again" in k for k in kernels] == [False, True, False, True]


def test_numbers_are_written_as_a_person_writes_them():
    assert "< 0.0f" in text_of("paths", 20, "tiles")
