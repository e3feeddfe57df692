"""Macros and headers: what a program may call its macros, which header is taken, and what -D may say."""

import re

import pytest

import c2cu
from c2cu.frontend.options import Options
from c2cu.frontend.preprocess import HEADERS, Source, preprocess, read_source
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
        if line.startswith(("#", "extern", "typedef struct", "struct")):
            continue
        words = re.findall(r"[ *]([a-z]\w*)[,)\[]", line)
        assert {w for w in words if not w.endswith(("_t", "va_list"))} <= {"int", "long", "float", "double"}, line
