"""`translate --lines`: a compiler takes what comes from the user's file to stand there, and all else where it stands."""

import re
import subprocess
from shutil import which

import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from c2cu.schedule import registry
from tests import nvcc
from tests.sample import slow
from tests.test_standalone_library import emulated
from tests.test_standalone_library import on_cpu as compiled
from tests.test_standalone_schedules import CASES, built, stdin_of
from tests.whole_programs import original, together
from tests.workloads import Workload

SCHEDULES = [
    *(("cuda", s) for s in (None, *registry.all_names("cuda"))),
    *(("cpu", s) for s in (None, *registry.all_names("cpu"))),
]
TEXT = """#include <stdio.h>
int n, sum[4];

static int twice(int x) {
    int y = x;
    y += x;
    return y;
}

void k(void) {
    for (int i = 0; i < 4; i++) {
        if (i * n > 5)
            sum[i] = twice(n);
        else
            sum[i] = i;
    }
}

int main(void) {
    if (scanf("%d", &n) != 1) return 1;
    k();
    printf("%d %d\\n", sum[0], sum[3]);
    return 0;
}
"""
KERNEL = {"loop": 11, "branch": 12, "call": 13, "other": 15}
OF_MAIN = {20, 22}


def places(text: str, name: str) -> list[tuple[str, int, str]]:
    """Where a compiler takes each line to stand: file, line, text. Lines that are the text's own stand where they say."""
    at, out = (name, 1), []
    for number, line in enumerate(text.split("\n"), 1):
        if m := re.fullmatch(r'#line (\d+)(?: "(.*)")?', line):
            at = m[2] or at[0], int(m[1])
            continue
        if at[0] == name:
            assert at[1] == number, line
        out.append((*at, line))
        at = at[0], at[1] + 1
    return out


def without(text: str) -> str:
    """Without what says places: directives, or the comments of loops."""
    bare = re.sub(r"^#line .*\n| /\* \S+:\d+ \*/$", "", text, flags=re.M)
    return bare.replace(" -lineinfo", "").replace("cc -O3 -g", "cc -O3")


def options(target: str, schedule: str | None, source: object) -> dict:
    shared = source.shared if isinstance(source, Workload) else ()
    return {"p": 9, "target": target, "schedule": schedule, "shared": shared}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("target, schedule", SCHEDULES)
@pytest.mark.parametrize("name", [n if n in ("fw-5", "structs") else slow(n) for n in CASES])
def test_each_line_is_where_it_says_and_nothing_else_differs(name, target, schedule):
    text, source = CASES[name]
    try:
        plain = c2cu.translate(text, **options(target, schedule, source))
    except c2cu.UnsupportedError:
        return
    made = c2cu.translate(text, **options(target, schedule, source), lines="made.cu")
    assert "".join(without(made).split()) == "".join(without(plain).split())  # a line of the user's is not broken
    lines = text.split("\n")
    users = {line for file, line, _ in places(made, "made.cu") if file == "<input>"}
    assert users and max(users) <= len(lines)
    assert any(re.search("printf|put", lines[line - 1]) for line in users), (
        "the part of main after the kernel is the user's"
    )


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize(
    "name, target, schedule",
    [("structs", "cpu", "gang"), ("fw-5", "cpu", "gep"), ("structs", "cuda", "registers"), ("fw-5", "cuda", "block")],
)
def test_it_runs_as_ever(name, target, schedule):
    text, source = CASES[name]
    runs = stdin_of(source, 9) if isinstance(source, Workload) else source[:9]
    program = built(c2cu.translate(text, **options(target, schedule, source), lines="made.c"), target)
    done = subprocess.run([program], input="\n".join(runs).encode(), capture_output=True)
    assert (done.stdout, done.returncode) == together([original(text, r) for r in runs])


@pytest.mark.parametrize("target, schedule", SCHEDULES)
def test_statements_of_the_kernel_and_of_main_stand_in_their_lines(target, schedule, tmp_path):
    (tmp_path / "k.c").write_text(TEXT)
    try:
        made = c2cu.translate(tmp_path / "k.c", p=3, target=target, schedule=schedule, lines="x.cu")
    except c2cu.UnsupportedError:
        return
    users: dict[int, str] = {}
    for file, line, text in places(made, "x.cu"):
        if file.endswith("k.c") and not set(text.strip()) <= set("{}"):
            users[line] = users.get(line, "") + text
    assert users.keys() >= OF_MAIN
    assert "printf" in users[22] and "scanf" in users[20]
    kernel = {KERNEL["branch"], 6}
    if schedule != "registers":  # which makes one choice of both arms, at the branch
        kernel |= {KERNEL["call"], KERNEL["other"]}
    if schedule in ("thread", "private", "native"):  # the others write the loop out
        kernel |= {KERNEL["loop"]}
    assert users.keys() >= kernel
    assert not users.keys() & {1, 3, 8, 9, 16, 17, 18}


def debug_lines(program, file: str) -> set[int]:
    """The lines of a file that a program's debug information names."""
    done = subprocess.run(["objdump", "--dwarf=decodedline", program], capture_output=True, text=True, check=True)
    return {int(m[1]) for m in re.finditer(rf"^\S*{re.escape(file)}\s+(\d+)", done.stdout, re.M)}


@pytest.mark.skipif(which("objdump") is None, reason="there is no objdump")
@pytest.mark.parametrize("schedule", [None, "gang"])
def test_a_debugger_finds_the_users_file(schedule, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(TEXT)
    command = ["translate", "k.c", "--p", "3", "-o", "made.c", "--lines"]
    done = CliRunner().invoke(main, [*command, *(["--schedule", schedule] if schedule else [])])
    assert done.exit_code == 0, done.output
    subprocess.run(["cc", "-g", "-O0", "made.c", "-o", "made", "-lpthread"], check=True)
    assert debug_lines("made", "k.c") >= OF_MAIN | {KERNEL["branch"], KERNEL["call"], KERNEL["other"], 6}
    first = (tmp_path / "made.c").read_text().split("static int __before(")[0].count("\n") + 1
    assert first in debug_lines("made", "made.c")


@nvcc.needed
@pytest.mark.parametrize("schedule", [None, "private", "registers"])
def test_a_profiler_finds_the_users_file(schedule, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(TEXT)
    text = c2cu.translate("k.c", p=3, schedule=schedule, lines="made.cu")
    (tmp_path / "made.cu").write_text(text)
    assert "-lineinfo" in text.split("*/")[0]
    subprocess.run(["nvcc", "-arch=sm_90", "-lineinfo", "-ptx", "made.cu"], check=True)
    ptx = (tmp_path / "made.ptx").read_text()
    number = re.search(r'^\s*\.file\s+(\d+) "[^"]*\bk\.c"', ptx, re.M)
    assert number is not None
    lines = {int(m[1]) for m in re.finditer(rf"^\s*\.loc\s+{number[1]} (\d+)", ptx, re.M)}
    assert lines & set(KERNEL.values()) and lines <= set(range(4, 24))


@pytest.mark.costly
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_library(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(TEXT.split("int main")[0])
    name, other = "many.cu" if target == "cuda" else "many.c", c2cu.library("k.c", "many", target=target)
    done = CliRunner().invoke(main, ["translate", "k.c", "--library", "--lines", "-o", name])
    assert done.exit_code == 0, done.output
    text = (tmp_path / name).read_text()
    assert "".join(without(text).split()) == "".join(other.source.split())
    assert {line for file, line, _ in places(text, name) if file == "k.c"} & set(KERNEL.values())
    made = c2cu.library("k.c", "many", target=target, lines=True)
    assert made.source == text
    assert (compiled(made) if target == "cpu" else emulated(made)).many


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_library_of_c_text_that_is_no_file(target):
    """It has the name by which diagnostics call it."""
    made = c2cu.library(TEXT.split("int main")[0], "many", target=target, lines=True)
    users = {line for file, line, _ in places(made.source, f"many.{target.replace('cuda', 'cu').replace('cpu', 'c')}")
             if file == "<input>"}  # fmt: skip
    assert users & set(KERNEL.values())


def test_it_is_for_programs_and_libraries(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(TEXT)
    assert CliRunner().invoke(main, ["translate", "k.c", "--emit", "c", "--lines"]).exit_code == 2
