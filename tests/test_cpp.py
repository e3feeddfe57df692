"""The preprocessor for machines without a compiler gives what the compiler's gives."""

import os
import random
import re
import subprocess

import pytest

import c2cu
from c2cu.base import toolchain
from c2cu.frontend.cpp import preprocessed
from c2cu.frontend.preprocess import HEADERS, Source, preprocess
from tests.workloads import EXAMPLES

COUNT = int(os.environ.get("C2CU_PROGRAMS", "2000"))
CHARACTERS = (  # the source of an #if each
    r"""L'\xff' == 255
U'\xff' > 0
L'é' == 233
'abcde' == 'bcde'
'\0\xff' == 255
'\377' == -1
'é' == 0xc3a9
U'a' > -1
u'a' > -1
L'a' > -1
U'\xffffffff' == 0xffffffff
L'\xffffffff' == -1
L'ab' == 'b'
'\u00e9' == 0xc3a9
L'\u20ac' == 0x20ac
u'\U0001F600' == 0xde00
u'😀' == 0xde00
'\E' == 27
'\q' == 'q'
'\x1ff' == -1
'\xff\xff\xff\xff' == -1
0x1ffffffffffffffff > 0
1llu && 1LLU && 1ull && 1Lu && 1uL && 1lu"""
).split("\n")
CASES = {
    "the standard's example 3": "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\nf(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\np() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };",
    "example 5": "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
    "no ## of an argument": "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
    "itself": "#define f(x) x+f(x)\n#define AA BB\n#define BB AA\nf(f(1)) AA BB f",
    "a call that its own text ends": "#define f(a) a*g\n#define g(a) f(a)\n#define foo() bar\nf(2)(9) foo()()",
    "a name that comes out of a call": "#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)",
    "not before the next scan": "#define DEFER(x) x EMPTY()\n#define EMPTY()\n#define EXPAND(x) x\n#define A() 123\nDEFER(A)() EXPAND(DEFER(A)())",
    "a negative macro behind a minus": "#define M -5\nint a = -M, b=- M, c = a-M, d=M; x=-M+M;",
    "signs that must not join": "#define P +\n#define E\n#define G >\n+P P+ -E- a G= b G> c &E& d /E/ e <E< f x.E.y 1.E.2 1E+2 1E 2 aE b",
    "numbers are not names": "#define L 100\n#define f 7\n#define E5 8\n#define x10 3\n#define e 4\nlong a = 1ULL + 5LL; float b = 1.f + 2E5 + .5f + 1.e+5 + 0x10 + 1e-5f + 0x1.8p-3f;",
    "suffixes in #if": "#if 1ULL && 0xffffffffffffffffu > 1 && -1 > 0u && 10LL == 012 - 0\nyes\n#endif\n#if 0x7fffffffffffffffL + 1 < 0\nwraps\n#endif",
    "__STDC__": "#if __STDC__ && __STDC_VERSION__ >= 201112L && defined __GNUC__ && __CHAR_BIT__ == 8\n__INT_MAX__ __SIZE_TYPE__\n#endif",
    "// goes on after a backslash": "int a; // no \\\nint b;\nint c; /* \n */ int d; // \\ \nint e;\nint f;",
    "backslashes": "int long_na\\\nme = 1 + \\\n 2;\n#define F(a) \\\n  a \\\n + 1\nF(3) F\\\n(4)\n  x",
    "conditions": "#if 1 ? 2 : 0 ? 3 : 4\n#endif\n#if (1 ? 2 : 0 ? 3 : 4) == 2\nright\n#else\nwrong\n#endif\n#if 0 && 1 / 0 || 1 ? 1 : 2 % 0\nlazy\n#endif\n#if 'a' == 97 && '\\377' < 0 && '\\n' == 10 && -1 >> 1 == -1 && 1 << 3 == 8 && ~0 < 0 && !1 == 0 && -7 / 2 == -3 && (2, 0) == 0\nall\n#endif",
    **{f"#if {x}": f"#if {x}\nyes\n#else\nno\n#endif" for x in CHARACTERS},
    "comparisons are signed": "#if (2u > 1u) - 2 < 0\nright\n#endif\n#if (1 ? -1 : 0u) > 0\nunsigned\n#endif\n#if -1 < 0u || 0xFFFFFFFF < 0\nwrong\n#endif",
    "elif": "#define A 2\n#if A == 1\n1\n#elif A == 2\n2\n#if 0\n3\n#elif 1/0\n#else\n4\n#endif\n#elif A == 2\n5\n#else\n6\n#endif\n#if 0\n#elif 0\n#else\n7\n#endif",
    "defined": "#define A\n#define B defined A && !defined(C)\n#if B && defined ( A ) && !defined C && ! defined(D)\nyes\n#endif\n#ifdef C\n#elif defined A\nalso\n#endif\n#ifndef A\nno\n#else\nelse\n#endif\n",
    "what is skipped is not read": "#if 0\nit's #error no\n#error no\n#include <no.h>\n#if 1/0\n#else garbage\n#endif\n#nonsense\n#endif\nx",
    "variadic": "#define E(...) f(__VA_ARGS__)\nE() E(1) E(1,2) E((1,2),3) E( a , b )\n#define F(a, ...) f(a, __VA_ARGS__)\nF(1,2) F(1, 2, 3) F(1,)\n#define S(...) #__VA_ARGS__\nS(a, b  ,c) S()",
    "GNU's comma": "#define F(a,...) f(a,##__VA_ARGS__)\nF(1) F(1,2) F(1, 2, 3) F(1,)\n#define v(fmt, args...) p(fmt, ## args)\nv(1) v(1,2) v(1, x y)\n#define N(x...) n(0, ##x)\nN() N(1)",
    "# and strings": '#define S(x) #x\n#define X(x) S(x)\n#define L 7\nS(a "b\\n" \'c\\\'\' \\ d) S( a  +  b ) S(L) X(L) X(S(L)) S() S("") S(a/* c */b) S(\n a\n b)',
    "spaces": "#define F(x, y) x y+x\n#define G(x)x\n#define H() \n#define O (1)\nF(a,b)F( a , b )  G (c)G(d)e H()f -H()-x (O)[O]O  O+1 a O(b)",
    "empty arguments": "#define CAT(a,b) a##b+b\n#define T(a, b, c) <a|b|c>\nCAT(x,)CAT(,y)CAT(,) T(,,) T(1,,3) T( , (,) , )",
    "lines": "int a = __LINE__;\n#define H __LINE__\nint b = H;\n\n\n\n\n\n\n\n\n\n\n\nint c = H; F\n#define F(x) x\nF(\n__LINE__\n)\n",
    "lines of calls over lines": "#define F(x, y) x __LINE__ y\nF(__LINE__,\n\n__LINE__\n)\n#define PUT(x) a[__LINE__] += x\nPUT(1 +\n 2);\nF(PUT(\n3),\n PUT(4\n) F(5,\n __LINE__)\n PUT(6))\n#define G F\nG\n(1\n,PUT(\n\n__LINE__ __LINE__))\n#define S(x) #x\n#define X(x) S(x)\nX(__LINE__ \n __LINE__ S(__LINE__))\n/*\n\n*/ __LINE__ \\\n __LINE__\n",
    "lines of calls over lines in calls": "#define F(x) x\n#define L __LINE__\n#define PUT(x) [__LINE__ x]\n#define G F\n#define K() F\n#define E\nF(\nE G(\n__LINE__))\nK(\n)(\n__LINE__ PUT(\n__LINE__))\nF(\nE\n G(__LINE__)\n__LINE__ L G\n(__LINE__) L __LINE__)\nG(F(\n__LINE__) __LINE__\nL PUT(\n__LINE__) __LINE__)\nF(\n__LINE__)",
    "lines of directives": "#if \\\n__LINE__ == 2 && \\\n __LINE__ == 3\nright\n#endif\n#define L __LINE__ + \\\n  __LINE__\n#if L == 16\nboth\n#endif\nL",
    "a call over lines": "#define F(x, y) x + y\nint a = F(1,\n  2);\nint b = F\n(3, 4)\n; int c;\n   F(5, /* c\n */ 6) d\n  e;",
    "a name at the end": "#define F(x) [x]\n#define G F\nG(1) G (2) G\n(3) F\n#define K\nF K (1) F",
    "file and counter": "__FILE__ __COUNTER__ __COUNTER__\n#define C __COUNTER__\nC C",
    "arguments count once": "#define C(x, y) y x #x x y\n#define D(x) C(x, x __COUNTER__) x\nC(__COUNTER__, +) __COUNTER__ D(__COUNTER__) D(C(__COUNTER__, __COUNTER__))",
    "asked what exists": '#if defined __has_include && defined __has_builtin && defined __has_attribute && defined _Pragma\nyes\n#endif\n#define H <stdint.h>\n#if __has_include(<stdint.h>) && __has_include("limits.h") && __has_include ( H )\nyes\n#endif\n__INCLUDE_LEVEL__ __VERSION__',
    "__has_include in the text": "__has_include(<stdint.h>)",
    "digraphs": "%:define S(x) %:x\n#define C(a, b) a %:%: b\n#define O %:\nS(a <: b) C(x, y) O <: :> <% %> a<:0:>\n%: if 0\nno\n%:endif",
    "a header's name": '#define __C2CU_ONCE\n#include <.//stdint.h>\n#include ".//limits.h"\n#if __has_include(<.//stdint.h>)\nyes\n#endif\nint8_t a;',
    "a backslash at the end": "int a; \\",
    "a backslash at a directive's end": "#define N 3 \\\n\\\nN",
    "pragmas": '#pragma kernel\n  #  pragma   GCC  unroll 4\nint a; _Pragma("omp \\"x\\"") int b;\n#define DO(x) _Pragma(#x) x\nDO(omp parallel) c;\nint d;',
    "null directive": "#\n # \nx\n#define\tT(a)\ta\nT(1)\n#undef T\nT(1)\n#undef nothing",
    "includes": '#include <stdint.h>\n#include "limits.h"\n#define H <stdbool.h>\n#include H\nint a = INT_MAX; uint8_t b = UINT64_C(5); bool c = true;\n#include <stdint.h>',
    "odd characters": 'char *a = "é ü"; // ñ\nint $b = 1; @ ` \\ x\n\f int c;\v int d;',
    "an apostrophe in skipped text": "#if 0\n  don't /* yet\n#endif\n#define N 4\n#if 0\n/* sizes */\n#endif\n#ifndef N\n#define N 8\n#endif\nN",
    "a quote in skipped text": '#if 0\n 5" // disk \\\n /* more\n#endif\n#if 0\n L"x /*\n u8"y /*\n u\'z /*\n#endif\na /* b */ c',
    "an unclosed quote": "#define S(x) #x\n#define a 1\nS(a) a 'a a // b\na \"a /* b\na",
    "an empty argument before ##": "#define D(p, n) static int p##n;\nD(,x) D(a,x)\n#define O(x) 1 x##2 3\nO() O(4)\n#define T(x, y) a x##y b\nT(,) T(,c)",
    "what follows a paste": "#define F(x) 1 ## x\nF(e+5) F(.5)",
    "what follows __LINE__": "#define C __LINE__.x __COUNTER__.y\nC",
    "dollars": "#define b 5\n$b 1$b b$b b",
    "wide": "L'a' u8\"x\" L\"y\" u'z'\n#define L 1\nL 'a' L\"s\"",
}
REFUSED = {
    "#error": ("\n #error it is wrong\n", "#error it is wrong", 2),
    "too many arguments": ("#define F(x, y) x y\nF({a, b}, c)", 'macro "F" passed 3 arguments, but takes just 2', 2),
    "too few": ("#define F(x, y) x y\n F(1)", "just 1", 2),
    "an empty character": ("#if ''\n#endif", "", 1),
    "no digits": ("#if '\\x'\n#endif", "", 1),
    "no character": ("#if '\\U99999999'\n#endif", "", 1),
    "half a character": ("#if u'\\ud800'\n#endif", "", 1),
    "a suffix around": ("#if 1lul\n#endif", "", 1),
    "a suffix of two cases": ("#if 1lL\n#endif", "", 1),
    "other digits": ("#if 1٣\n#endif", "", 1),
    "#undef defined": ("#undef defined", "", 1),
    "#undef of no name": ("#undef 3", "", 1),
    "a pragma's error": ('\n#pragma GCC error "no"', "no", 2),
    "a _Pragma's error": ('\n_Pragma("GCC error \\"no\\"")', "no", 2),
    "no end of arguments": ("#define F(x) x\nF(1", "unterminated argument list", 2),
    "no #endif": ("int a;\n#if 1\nint b;", "unterminated #if", 2),
    "no #if": ("#endif", "#endif without #if", 1),
    "#else twice": ("#if 1\n#else\n#else\n#endif", "#else after #else", 3),
    "a paste of two": ("#define P(a, b) a##b\nP(+, x)", "does not give a valid preprocessing token", 2),
    "no such header": ('int a;\n#include "none.h"', "none.h: No such file or directory", 2),
    "division by zero": ("#if 1 / 0\n#endif", "division by zero", 1),
    "a function in #if": ("#if F(1)\n#endif", 'missing binary operator before token "("', 1),
    "a number that is none": ("#if 1.0\n#endif", "", 1),
    "nothing to compare": ("#if 1 ==\n#endif", "", 1),
    "no expression": ("#if\n#endif", "#if with no expression", 1),
    "no name": ("#define 3", "", 1),
    "parameters": ("#define F(a b) a", "", 1),
    "# of no parameter": ("#define F(a) #b", "'#' is not followed by a macro parameter", 1),
    "## at the end": ("#define F(a) a##", "'##' cannot appear at either end of a macro expansion", 1),
    "unterminated comment": ("int a;\n /* int b;\n", "unterminated comment", 2),
}


def table(text: str) -> dict[tuple[str, int], str]:
    """What stands on each line of each file."""
    found: dict[tuple[str, int], str] = {}
    file, line = "", 0
    for row in text.split("\n"):
        marker = re.match(r'# (\d+) "(.*?)"', row)
        if marker:
            file, line = marker[2], int(marker[1])
            continue
        if row.strip() and not file.startswith(("/usr", "<built-in>", "<command")):
            found[file, line] = found.get((file, line), "") + row
        line += 1
    return found


def tokens(text: str) -> list[str]:
    return re.findall(
        r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\.?\d(?:[eEpP][+-]|[\w.])*|\w+|->|\+\+|--|[-+*/%&|^=!<>]=|&&|\|\||<<|>>|\S",
        text,
    )


def compilers(text: str, name: str = "<input>") -> tuple[str, str]:
    """(its text, its first complaint)."""
    command = [*toolchain.find_compiler(), "-E", "-x", "c", "-std=gnu11", "-w", "-I", str(HEADERS), "-"]
    body = f'# 1 "{name}"\n{text}\n'.encode("utf-8", "surrogateescape")
    done = subprocess.run(command, input=body, capture_output=True, env={**os.environ, "LC_ALL": "C"})
    complaint = re.search(r"error: (.*)", done.stderr.decode())
    return done.stdout.decode("utf-8", "surrogateescape"), complaint[1] if complaint else ""


def ours(text: str, name: str = "<input>") -> str:
    return preprocessed(text, name, ".", [str(HEADERS)], [])


def is_gcc() -> bool:
    return "clang" not in toolchain.compiler_version(toolchain.find_compiler())


@pytest.mark.parametrize("name", CASES)
def test_as_the_compiler(name):
    theirs, complaint = compilers(CASES[name])
    if complaint:
        with pytest.raises(c2cu.ParseError):
            ours(CASES[name])
        return
    assert tokens(" ".join(table(ours(CASES[name])).values())) == tokens(" ".join(table(theirs).values()))
    if is_gcc() and "over lines" not in name:  # there gcc breaks lines in its own way
        assert table(ours(CASES[name])) == table(theirs)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.c")), ids=lambda p: p.stem)
def test_examples(path):
    text = path.read_text()
    theirs, _ = compilers(text, str(path))
    found = table(ours(text, str(path)))
    assert {k: tokens(v) for k, v in found.items()} == {k: tokens(v) for k, v in table(theirs).items()}
    if is_gcc():
        assert found == table(theirs)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    text, words, line = REFUSED[name]
    with pytest.raises(c2cu.ParseError) as caught:
        ours(text)
    error = caught.value
    assert words in error.diagnostic.message
    assert (error.code, error.file, error.line) == ("C2CU002", "<input>", line)
    assert text.split("\n")[line - 1] in str(error)
    assert compilers(text)[1]


@pytest.mark.parametrize(
    "text",
    [
        "#line 7",
        "#include_next <stdio.h>",
        "#if 0\n#elifdef X\n#endif",
        '#pragma push_macro("X")',
        '# 1 "x"',
        "#if __has_builtin(x)\n#endif",
        "#if __has_attribute(x)\n#endif",
        "#ifdef __SSE2__\n#endif",
        "#if __SIZEOF_INT128__\n#endif",
        "#if __has_include(<no.h>)\n#endif",
        "__BASE_FILE__",
        '_Pragma("push_macro(\\"X\\")")',
        'char *s = u8R"(a)";',
    ],
)
def test_what_only_a_compiler_knows_is_refused(text):
    with pytest.raises(c2cu.ParseError, match="not understood without a C compiler|only a C compiler knows"):
        ours(f"int a;\n{text}\nint b;\n")


def test_an_apostrophe_in_skipped_text_hides_no_macro():
    """Those of the text are known where there is a compiler, too."""
    text = "#if 0\ndon't /* yet\n#endif\n#define N 4\n/* sizes */\nint n = N;\n"
    assert list(preprocess(Source("<input>", text)).macros) == ["N"]


def test_headers_beside_their_includers(tmp_path, monkeypatch):
    """The same files are found under the same names, once each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "inc").mkdir()
    files = {
        "src/a.h": '#include "deep/b.h"\n#include "b.h"\nint in_a;\n',
        "src/b.h": "int b_of_src;\n",
        "src/deep/b.h": '#pragma once\n#include "c.h"\n#include "only.h"\nint b_of_deep = __LINE__;\n',
        "src/deep/c.h": "#ifndef C\n#define C\nint in_c;\n#endif\n",
        "inc/only.h": "int only;\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    text = '#include "a.h"\n#include "deep/b.h"\n#include "deep/c.h"\nint main_file;\n'
    found = table(preprocessed(text, "src/m.c", "src", ["inc", str(HEADERS)], []))
    assert found == {
        ("src/deep/c.h", 3): "int in_c;",
        ("inc/only.h", 1): "int only;",
        ("src/deep/b.h", 4): "int b_of_deep = 4;",
        ("src/b.h", 1): "int b_of_src;",
        ("src/a.h", 3): "int in_a;",
        ("src/m.c", 4): "int main_file;",
    }


def test_predefined():
    """All that the compiler predefines is predefined alike, or an error."""
    if not is_gcc():
        pytest.skip("these are gcc's")
    command = [*toolchain.find_compiler(), "-E", "-dM", "-x", "c", "-std=gnu11", os.devnull]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "#define __GNUC__ 12\n" not in theirs or "#define __x86_64__ 1\n" not in theirs:
        pytest.skip("these are gcc 12's on x86_64")
    for name, parameter in re.findall(r"#define (\w+)(\(.*?\))?", theirs):
        use = name + (parameter and "(7)")
        try:
            found = table(ours(f"#ifndef {name}\n#error {name}\n#endif\n{use}"))
        except c2cu.ParseError as e:
            assert "is not understood without a C compiler" in str(e), name
            continue
        assert tokens("".join(found.values())) == tokens("".join(table(compilers(use)[0]).values())), name


def included(text: str, folder) -> tuple[list[str], list[str]]:
    """The tokens of a file in a folder: ours, the compiler's."""
    (folder / "m.c").write_text(text)
    command = [*toolchain.find_compiler(), "-E", "-P", "-w", "-std=gnu11", str(folder / "m.c")]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = table(preprocessed(text, str(folder / "m.c"), str(folder), [], []))
    return tokens(" ".join(found.values())), tokens(theirs)


def test_pragma_once_knows_a_file_by_its_content(tmp_path):
    """Under whatever name; a copy of another time is another file."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.h").write_text("#pragma once\nint a;\n")
    for name in ("sub/same.h", "sub/later.h", "sub/other.h"):
        (tmp_path / name).write_text("#pragma once\nint a;\n" + "//\n" * ("other" in name))
    (tmp_path / "link.h").symlink_to(tmp_path / "a.h")
    for name, time in {"a.h": 10.2, "sub/same.h": 10.7, "sub/later.h": 20, "sub/other.h": 10}.items():
        os.utime(tmp_path / name, (time, time))
    names = ("a.h", "./a.h", "sub/../a.h", "link.h", "sub/same.h", "sub/later.h", "sub/other.h")
    mine, theirs = included("".join(f'#include "{name}"\n0\n' for name in names), tmp_path)
    assert mine == theirs
    assert mine.count("int") == 3


def test_lines_that_end_with_carriage_returns(tmp_path):
    (tmp_path / "crlf.h").write_bytes(
        b"#define A 1 + \\\r\n 2\r\n#define S(x) #x\r\n#if A == 3\r\nint a = A;\r\n#endif\r\n"
    )
    mine, theirs = included('#include "crlf.h"\nS(A)\n', tmp_path)
    assert mine == theirs


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_header_that_cannot_be_read(tmp_path):
    (tmp_path / "x.h").write_text("int x;")
    (tmp_path / "x.h").chmod(0)
    with pytest.raises(c2cu.ParseError, match="x.h: Permission denied"):
        preprocessed('#include "x.h"\n', "<input>", str(tmp_path), [], [])


def test_a_header_that_cannot_be_opened(tmp_path):
    (tmp_path / "x.h").symlink_to("x.h")
    with pytest.raises(c2cu.ParseError, match="x.h: Too many levels"):
        preprocessed('#include "x.h"\n', "<input>", str(tmp_path), [], [])


@pytest.mark.parametrize("defines", [{"N": 5}, {"__CHAR_BIT__": 9}, {"M": 3}])
def test_a_definition_without_effect(defines, monkeypatch):
    """-D is refused alike where the program, or the compiler, says something else."""
    text = "#ifdef N\n#undef N\n#endif\n#define N 8\nint n[N + __CHAR_BIT__ + M];\n"
    said = []
    for compiler in (toolchain.compiler, lambda: None):
        monkeypatch.setattr(toolchain, "compiler", compiler)
        try:
            said.append(preprocess(Source("<input>", text), defines).text.split("\n")[-2])
        except c2cu.ParseError as e:
            said.append(str(e))
    assert said[0] == said[1]


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / "x.h").write_text('#include "x.h"\n')
    with pytest.raises(c2cu.ParseError, match="nest"):
        preprocessed('#include "x.h"\n', "<input>", str(tmp_path), [], [])


# random macros

NAMES = ("A", "B", "C", "F", "G", "H")
WORDS = (*NAMES, *NAMES, "x", "y", "1", "2", "(", ")", ",", "+", "-", "-", "(x)", "(1, 2)", "()", "[", "]")


def random_macros(seed: int) -> str:
    """Definitions that use one another, and a text that uses them."""
    rng = random.Random(seed)
    lines = []
    for name in NAMES:
        params = rng.choice([(), ("x",), ("x", "y"), ("x", "..."), ("...",)]) if name in "FGH" else None
        words = [w for w in rng.choices(WORDS, k=rng.randrange(7)) if w not in "()[]," or rng.random() < 0.7]
        for p in (p.replace("...", "__VA_ARGS__") for p in params or ()):
            words.insert(rng.randrange(len(words) + 1), p)
            if rng.random() < 0.2:
                words.insert(words.index(p), "#")
            elif rng.random() < 0.3:
                words.insert(words.index(p), "x ##")
        glue = rng.choice(["", " ", " "])
        lines.append(f"#define {name}{'' if params is None else '(' + ', '.join(params) + ')'} {glue.join(words)}")
        if rng.random() < 0.1:
            lines.append(f"#undef {rng.choice(NAMES)}")
    for _ in range(6):
        calls = [f"{n}({', '.join(rng.choices(WORDS, k=rng.randrange(4)))})" for n in rng.choices("FGH", k=2)]
        lines.append(rng.choice([" ", "", "\n"]).join(rng.choices([*WORDS, *calls, *calls], k=rng.randrange(1, 7))))
    return "\n".join(lines)


@pytest.mark.parametrize("part", range(8))
def test_random_macros(part):
    for number in range(max(3, COUNT // 40)):
        text = random_macros(part * 10**6 + number)
        theirs, complaint = compilers(text)
        if complaint:
            with pytest.raises(c2cu.ParseError):
                ours(text)
        else:
            found = " ".join(table(ours(text)).values())
            assert tokens(found) == tokens(" ".join(table(theirs).values())), text
