"""Macros and headers: what a program may call its macros, which header is taken, and what -D may say."""

import re
import subprocess

import numpy as np
import pytest

import c2cu
from c2cu.frontend.options import Options
from c2cu.frontend.parse import parse
from c2cu.frontend.preprocess import HEADERS, Source, preprocess, read_source
from c2cu.frontend.whole_text import whole_text
from c2cu.pipeline import understand
from c2cu.report.stages import emit


def test_macros_that_are_given():
    text = "#define N 4\n#ifndef M\n#define M 2\n#endif\nint a[N * M];\nvoid k(void) { for (int i = 0; i < N * M; i++) a[i] += M; }\n"
    front = understand(Source("<input>", text), Options("k", {"N": "8", "M": "3"}))
    assert [s.shape for s in front.slots] == [(24,)]


@pytest.mark.parametrize("name", ["M", "__CHAR_BIT__"])
def test_a_definition_without_effect_is_refused(name):
    text = f"#undef {name}\n#define {name} 5\nint a[{name} + 1];\n"
    guarded = f"#ifdef {name}\n{text}#endif\n"
    with pytest.raises(c2cu.ParseError, match=f"-D {name} has no effect") as e:
        preprocess(Source("<input>", guarded), {name: "3"})
    assert e.value.code == "C2CU135"


def test_a_header_beside_the_source_comes_first(tmp_path, monkeypatch):
    """Before one of that name in the working directory."""
    (tmp_path / "src").mkdir()
    (tmp_path / "h.h").write_text("#define K 1\n")
    (tmp_path / "src" / "h.h").write_text("#define K 2\n")
    (tmp_path / "src" / "a.c").write_text('#include "h.h"\nint a[4];\nvoid f(void) { a[0] += K; }\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    assert "a[0] = (a[0] + 2)" in emit(read_source("src/a.c"), Options(), "ir")


def test_the_same_text_every_time():
    source = Source("a.c", "int a;\nvoid f(void) { a++; }\n")
    first, second = preprocess(source), preprocess(source)
    assert (first.plain, first.text) == (second.plain, second.text)


def test_macros_before_the_headers():
    """Headers name nothing but what C says: a program's own macros may have any other name."""
    names = "n x s a b p f c to from line status error size base key value name id t".split()
    macros = "".join(f"#define {name} 4\n" for name in names)
    headers = "".join(f"#include <{h.name}>\n" for h in sorted(HEADERS.glob("*.h")))
    assert headers
    text = f"{macros}{headers}int q[n];\nvoid k(void) {{ for (int j = 0; j < n; j++) q[j] += 1; }}\n"
    assert c2cu.check(text, fn="k").oblivious


@pytest.mark.parametrize("order", [1, -1], ids=["ours first", "ours last"])
def test_types_that_other_headers_of_the_system_define_too(order):
    """glibc's <sys/time.h> has a struct timespec, <sched.h> too, <wchar.h> struct tm and FILE."""
    names = ["time.h", "stdio.h", "sys/time.h", "sched.h", "wchar.h", "sys/stat.h", "pwd.h"]
    text = "".join(f"#include <{name}>\n" for name in names[::order])
    assert c2cu.check(f"{text}int n;\nvoid k(void) {{ n++; }}\n", fn="k").oblivious


@pytest.mark.parametrize("header", sorted(HEADERS.glob("*.h")), ids=lambda h: h.name)
def test_what_headers_name(header):
    for line in header.read_text().splitlines():
        if line.startswith(("#", "extern", "typedef ", "struct")):
            continue
        words = re.findall(r"[ *]([a-z]\w*)[,)\[]", line)
        assert {w for w in words if not w.endswith(("_t", "va_list"))} <= {"int", "long", "float", "double"}, line


@pytest.mark.parametrize("header", [*sorted(h.name for h in HEADERS.glob("*.h")), "sys/time.h", "unistd.h", "wchar.h"])
def test_the_parser_takes_all_of_a_header(header):
    """What it does not take makes it read the whole program four times, and each name in it stands for something
    unknown."""
    parsed = parse(preprocess(Source("a.c", f"#include <{header}>\nint n;\nvoid k(void) {{ n++; }}\n")))
    assert not parsed.lost and not parsed.bodies


@pytest.mark.parametrize("header", ["float", "inttypes", "limits", "math", "stdint", "stdlib"])
def test_what_the_preprocessor_can_ask_of_a_header(header):
    """Else #if would choose other lines for the analysis than the compiler does for the program."""
    posix = {  # and what glibc's headers bring along from others
        "limits": re.compile(r"(?!CHAR_|[SU]?(CHAR|SHRT|INT|LONG|LLONG)_|MB_|SSIZE|PATH|NAME)"),
        "stdlib": re.compile(r"(?!BIG_|LITTLE_|BYTE_|EXIT|RAND|be|le|ht)"),
    }.get(header, re.compile("(?!)"))
    theirs, ours = (_macros(header, *options) for options in ((), ("-I", str(HEADERS), "-D__C2CU__=1")))
    names = {n for n in theirs if not n.startswith("_") and not posix.match(n)}
    assert not names - ours


def _macros(header: str, *options: str) -> set[str]:
    command = ["gcc", "-E", "-dM", *options, "-x", "c", "-"]
    text = subprocess.run(command, input=f"#include <{header}.h>\n", capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^#define (\w+)", text, re.M))


def test_the_order_of_bytes_and_the_c_library():
    text = """#include <stdlib.h>
#include <float.h>
    int a[3];
    void k(void) {
    #if BYTE_ORDER == BIG_ENDIAN
        a[0] += 1;
    #endif
    #ifdef __GLIBC__
        a[1] += LDBL_MANT_DIG > 53;
    #endif
    }
"""
    unit = preprocess(Source("a.c", text))
    assert "a[0]" not in unit.text and "a[1]" in unit.text


@pytest.mark.parametrize("schedule", ["native", "gang"])
def test_a_macro_for_the_systems_headers(schedule):
    """Headers ask for _GNU_SOURCE and its like; the program itself need not name it."""
    text = "#include <string.h>\nint a[2];\nvoid k(void) { a[0] += 3; }\n"
    result = c2cu.bulk(text, np.ones((2, 2), "i4"), backend="cpu", schedule=schedule, defines={"_GNU_SOURCE": ""})
    assert (result == [4, 1]).all()


def test_large_tables_that_nothing_mentions_are_not_parsed():
    """A file of a library's tables may have hundreds of thousands of numbers, of which a kernel reads a few."""
    numbers = ", ".join(map(str, range(1, 8_000)))
    tables = "".join(f"const int {name}[] = {{{numbers}}};\n" for name in ("used", "unused"))
    refers = "struct T { const int *p; };\nconst struct T t[] = {{by}};\n"
    refers += f"const int by[] = {{{numbers}}};\n#pragma kernel shared(named)\nconst int named[] = {{{numbers}}};\n"
    declared = "extern const int used[], unused[], other[];\n"
    kernel = "int a;\nvoid k(void) { a += used[2] + t[0].p[1]; }\n"
    parsed = parse(preprocess(Source("a.c", declared + tables + refers + kernel)))
    defined = {n.name for n in parsed.ast.ext if getattr(n, "init", None) is not None}
    assert defined == {"used", "by", "named", "t"}
    other = f"const int other[] = {{{numbers}}};\n"
    several = [Source("a.c", declared + kernel.replace("t[0].p[1]", "other[0]")), Source("b.c", tables + other)]
    front = understand(read_source([s.text for s in several]), Options("k"))
    tables_of = {n.name for n in front.linked.parsed.ast.ext if getattr(n, "init", None) is not None}
    assert tables_of == {"used", "other"}


def test_what_stands_before_a_large_table_stays():
    numbers = ", ".join(map(str, range(1, 30_000)))
    text = f"const int t[4 == 4 ? 3 : 1], large[] = {{{numbers}}};\nint a;\nvoid k(void) {{ a += t[1] + 1; }}\n"
    assert c2cu.bulk(text, np.arange(3, dtype="i4"), backend="cpu", schedule="gang").tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "declared",
    [
        "const int tab[] = {%s};",
        "static int seen[3];\nconst int (tab[]) = {%s};",
        "int seen[3]; const int first = 3, tab[] = {%s};",
        "const int tab[] = {%s}, last = 2;",
        "extern const int tab[];\nconst int tab[] = {%s};",
    ],
)
@pytest.mark.parametrize("in_another_file", [False, True])
def test_a_large_table_that_is_mentioned_stays(declared, in_another_file):
    table = declared % ", ".join(map(str, range(5, 2505)))
    kernel = "int a[2];\nvoid k(void) { a[0] = tab[a[1] & 1023]; }\n"
    sources = [f"extern const int tab[];\n{kernel}", f"{table}\n"] if in_another_file else f"{table}\n{kernel}"
    a = np.array([[1, 2], [3, 1000]], "i4")
    result = c2cu.bulk(sources, a, fn="k", backend="cpu", schedule="gang", verify=False)
    assert result[:, 0].tolist() == [7, 1005]


def test_a_header_that_shows_how_it_is_used_does_not_include_itself(tmp_path):
    """As a text for a compiler that has no other files: what stands in comments and strings is no directive."""
    header = tmp_path / "h.h"
    header.write_text('/* use it so:\n#include "h.h"\n*/\nstatic const char *line = "/* ";\nenum { H = 4 };\n')
    text = whole_text('#include "h.h"\n#include <stdio.h>\nint x[H];\n', tmp_path, (), {})
    assert text == header.read_text().rstrip("\n") + "\n#include <stdio.h>\nint x[H];\n"
    header.write_text('#include "h.h"\n')
    assert whole_text('#include "h.h"\n', tmp_path, (), {}) == ""
