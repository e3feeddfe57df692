"""Long lines of generated text: each goes on in the next, and a compiler sees the same."""

import re
import subprocess
from pathlib import Path

import pytest

import c2cu
from c2cu.base.diagnostics import Loc
from c2cu.codegen.positions import kept_positions, marked
from c2cu.schedule import registry
from c2cu.standalone import library, program
from c2cu.standalone.wrap import WIDTH, wrapped
from tests.sample import sampled, slow

ROOT = Path(__file__).parent.parent
LONG = "a_rather_long_name " * 9
FILES = [
    *sorted((ROOT / "examples").glob("*.c")),
    *sorted((ROOT / "examples").glob("*/*.c")),
    *sorted((ROOT / "benchmarks" / "programs").glob("*.c")),
]
SCHEDULES = [
    *(("cuda", s) for s in (None, *registry.all_names("cuda"))),
    *(("cpu", s) for s in (None, *registry.all_names("cpu"))),
]


def longest(text: str) -> str:
    return max(text.split("\n"), key=len)


def seen(text: str) -> str:
    """What a compiler sees of a text: its tokens, strings that stand side by side as one, but for __LINE__."""
    bare = re.sub(r"^\s*#\s*(include|error).*$", "", text, flags=re.M)  # without headers, the library's own is missing
    done = subprocess.run(["cc", "-E", "-P", "-x", "c", "-"], input=bare, capture_output=True, text=True, check=True)
    text = re.sub(r'"<stdin>", \d+', "", done.stdout)  # what CUDA's errors say
    parts = re.split(r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')", text)  # strings, with their spaces, between all else
    return "".join(x if k % 2 else "".join(x.split()) for k, x in enumerate(parts)).replace('""', "")


CODE = {
    "a call": f"    f({', '.join(['x * (y + 1)'] * 20)});",
    "strings": "    printf(" + ", ".join(['"%d, // \\" /* "'] * 12) + ");",
    "one string": '    puts("' + "not one word of this is to change, " * 6 + '");',
    "two spaces": '    puts("' + "a  b   c" * 30 + '");',
    "characters": "    g(" + ", ".join(["'\"'", "'\\''", "' '"] * 12) + ");",
    "a comment behind": f"    int x = 3; /* {'so be it ' * 14} */ int y;",
    "a comment before": f"/* {'so be it ' * 14} */ int y;",
    "a comment": f"    /* {LONG} */",
    "a line comment": f"    int x; // {LONG}",
    "a macro": f'#define M(a, b) ({LONG.replace(" ", " + ")} 1 + (a) + "{"x y " * 9}" /* {"z " * 9} */)\nint m = M(1, 2);',
    "a condition": f"#if {' || '.join(['defined(SOMETHING)'] * 9)} || 1\nint yes;\n#endif",
    "a macro of two lines": f"#define N {LONG}\\\n    {LONG}\nN;",
    "no spaces": f"    x={'(a+b)*' * 30}c;",
    "commas": f"    int t[]={{{','.join(['1'] * 90)}}};",
    "numbers": f"    h({', '.join(['0x1.8p-3f', '1e+5', '2ull', '.5'] * 9)});",
    "a prefix": '    w(L"' + "wide and far " * 12 + '", 3);',
}


@pytest.mark.parametrize("name", CODE)
def test_what_a_compiler_sees_is_the_same(name):
    text = CODE[name]
    made = wrapped(text)
    assert seen(made) == seen(text)
    if name not in ("a line comment", "no spaces", "a prefix"):
        assert len(longest(made)) <= WIDTH, made


def test_a_line_ends_outside_of_brackets_if_it_can():
    made = wrapped(
        "        if (first_of_all(a, b, c) && second(d, e, f) && third(g, h, i)) take(j, " + "k, " * 12 + "l, m);"
    )
    first, second = made.split("\n")
    assert first.endswith("third(g, h, i))") and second.startswith("            take(j,")


def test_a_comment_goes_on_as_one():
    made = wrapped("/* " + "word " * 40 + "*/\nint x;\n/*\n * " + "word " * 40 + "\n */").split("\n")
    assert all(line.startswith((" * word", "/*", " */", "int")) for line in made) and len(made) == 7


def test_what_is_short_or_a_user_s_stays():
    text = "int a;\n" + "x" * WIDTH + "\n\tb();\n"
    assert wrapped(text) == text
    with kept_positions(True):
        line = marked(f"    f({LONG.strip().replace(' ', ', ')});", Loc("k.c", 3))
    assert wrapped(line) == line


def texts(file: Path, target: str, schedule: str | None) -> list[str]:
    """The program and the library's two texts, as far as there are such."""
    made = []
    try:
        made.append(c2cu.translate(file, p=1000, target=target, schedule=schedule))
        lib = c2cu.library(file, "many", target=target, schedule=schedule or "auto")
        made += [lib.source, lib.header]
    except c2cu.Error:
        pass
    return made


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("target, schedule", [s if s == ("cpu", "gang") else slow(s) for s in SCHEDULES])
@pytest.mark.parametrize("file", sampled(FILES, 6), ids=lambda f: f.stem)
def test_no_line_is_long(file, target, schedule, monkeypatch):
    for text in texts(file, target, schedule):
        assert len(longest(text)) <= WIDTH, longest(text)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("target, schedule", [("cpu", "auto"), ("cpu", None), ("cuda", "private"), ("cuda", "auto")])
@pytest.mark.parametrize("file", sampled(FILES, 6), ids=lambda f: f.stem)
def test_a_compiler_sees_the_same_of_programs(file, target, schedule, monkeypatch):
    made = texts(file, target, schedule)
    for module in (program, library):
        monkeypatch.setattr(module, "wrapped", lambda text: text)
    for text, plain in zip(made, texts(file, target, schedule), strict=True):
        assert seen(text) == seen(plain)


def test_statements_begin_where_the_first_one_does():
    made = wrapped("    if (a) " + " ".join(f"take_this_one_too({k}, a, b);" for k in range(9)))
    assert all(re.match(r"    (if|take)", line) for line in made.split("\n"))
    made = wrapped("    one_of(" + "some_template<unsigned char>(a), " * 6 + "b);")
    assert not any(line.endswith("unsigned") for line in made.split("\n"))
