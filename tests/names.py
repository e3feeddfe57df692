"""Programs that give names of generated text to things of their own, and what gcc's runs of them print."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable

from c2cu.frontend.preprocess import KEYWORDS
from tests.oracle import FLAGS, executable

_NO_CODE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|^[ \t]*#[ \t]*include.*?$', re.S | re.M
)
_NAME = re.compile(r"\b[A-Za-z]\w*\b")
_ERROR = re.compile(r":(\d+):\d+: error")
_EXPANDED = re.compile(r": note: in expansion of macro .(\w+)")
RUNS = ("3 1\n", "-5 2\n", "7 0\n")
#: A kernel of Gaussian-elimination type, in which no other names may stand.
PATHS = """
for (int qzk = 0; qzk < 12; qzk++)
    for (int qzi = 0; qzi < 12; qzi++)
        for (int qzj = 0; qzj < 12; qzj++)
            if (qzd[qzi][qzk] + qzd[qzk][qzj] < qzd[qzi][qzj]) qzd[qzi][qzj] = qzd[qzi][qzk] + qzd[qzk][qzj];
"""
_FIRST = "for (int qz = 0; qz < 144; qz++) qzd[qz / 12][qz % 12] = (qz * 37 + qza[0] + qzs) % 101 + 20;\n"


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in the code of texts that C does not reserve."""
    found = {n for t in texts for n in _NAME.findall(_NO_CODE.sub(" ", t))}
    return sorted(n for n in found if n != "main" and not n.startswith(("c2cu_", "C2CU_", "qz")))


def _lines(names: Iterable[str], line: Callable[[str, int], str]) -> str:
    return "\n".join(line(n, k % 7 + 2) for k, n in enumerate(names))


def program(kind: str, names: list[str], paths: bool = False) -> str:
    """A whole program in which each of ``names`` is a ``kind`` of thing. Each stands on lines of its own. ``paths``: the
    kernel is `PATHS`."""
    top, kernel, before, after = KINDS[kind]
    inside = (
        PATHS if paths else f"int qzs = qza[0], qzc = 0;\n{_lines(names, kernel)}\nqzo[0] = qzs; qzo[1] = qza[1] + qzc;"
    )
    first, result = (_FIRST, "qzd[2][3] + qzd[11][7]") if paths else ("", "qzo[0] % 1000")
    return (
        "#include <stdio.h>\nint qza[2], qzo[3], qzd[12][12];\n"
        + _lines(names, top)
        + f"\nvoid qzk(void) {{\n{inside}\n}}\nint main(void) {{\nint qzs = 1, qzc = 0;\n"
        + 'if (scanf("%d %d", &qza[0], &qza[1]) != 2) return 3;\n'
        + _lines(names, before)
        + f"\nqzo[2] = qzs + qzc;\n{first}#pragma kernel\nqzk();\nqzs = {result}; qzc = 0;\n"
        + _lines(names, after)
        + '\nprintf("%d %d %d %d\\n", qzo[0], qzo[1], qzo[2], qzs + qzc);\nreturn 0;\n}\n'
    )


def _nothing(n: str, k: int) -> str:
    return ""


def _adds(n: str, k: int) -> str:
    return f"qzs = qzs % 1000 * 3 + {n};"


def _calls(n: str, k: int) -> str:
    return f"qzs = qzs % 1000 + {n}(qzs % 100);"


def _loops(n: str, k: int) -> str:
    return f"qzc = 0; {n}: qzs = qzs % 1000 * 3 + {k}; if (qzc++ < 2) goto {n};"


#: What stands at the top of the file, in the kernel, before it and after it.
KINDS: dict[str, tuple[Callable[[str, int], str], ...]] = {
    "macro": (lambda n, k: f"#define {n} {k}", _adds, _adds, _adds),
    "extent": (
        lambda n, k: f"#define {n} {k}\nint qz_of_{n}[{n}];",
        lambda n, k: f"qz_of_{n}[{n} - 1] += qzs % 1000 - {n}; qzs += qz_of_{n}[1];",
        lambda n, k: f"for (int qzi = 0; qzi < {n}; qzi++) qz_of_{n}[qzi] = qzi;",
        lambda n, k: f"qzs += qz_of_{n}[{n} - 1];",
    ),
    "macro of a float": (
        lambda n, k: f"#define {n} ({'-' * (k % 2)}{k}.1{'f' * (k % 3 == 0)})",
        *(lambda n, k: f"qzs = qzs % 1000 + (int)({n} * 10000000 + 0.3f * {n});",) * 3,
    ),
    "macro like a function": (lambda n, k: f"#define {n}(q) ((q) * 3 + {k})", _calls, _calls, _calls),
    "function": (lambda n, k: f"static int {n}(int q) {{ return q * 3 + {k}; }}", _calls, _calls, _calls),
    "global": (
        lambda n, k: f"int {n} = {k};",
        lambda n, k: f"qzs = qzs % 1000 + {n}; {n} += qza[1];",
        lambda n, k: f"{n} *= 2; qzs = qzs % 1000 + {n};",
        _adds,
    ),
    "static global": (
        lambda n, k: f"static short {n}[2] = {{{k}, 1}};",
        lambda n, k: f"qzs = qzs % 1000 + {n}[0]; {n}[1] = qzs % 100;",
        lambda n, k: f"{n}[0] *= 2; qzs = qzs % 1000 + {n}[1];",
        lambda n, k: f"qzs = qzs % 1000 + {n}[1];",
    ),
    "constant": (
        lambda n, k: f"static const int {n}[2] = {{{k}, 1}};",
        *(lambda n, k: f"qzs = qzs % 1000 + {n}[qzs & 1];",) * 3,
    ),
    "local": (
        _nothing,
        lambda n, k: f"int {n} = qzs % 1000 + {k}; qzs = {n} * 3;",
        lambda n, k: f"int {n} = qzs % 1000 + {k}; qzs = {n} * 3;",
        _adds,
    ),
    "parameter": (
        lambda n, k: f"static int qz_of_{n}(int {n}) {{ return {n} * 3 + {k}; }}",
        *(lambda n, k: f"qzs = qzs % 1000 + qz_of_{n}(qzs % 100);",) * 3,
    ),
    "tag and member": (
        lambda n, k: f"struct {n} {{ int {n}; short qzother; }}; struct {n} qz_of_{n} = {{{k}, 1}};",
        lambda n, k: f"qzs = qzs % 1000 + qz_of_{n}.{n}; qz_of_{n}.{n} = qzs;",
        lambda n, k: f"qz_of_{n}.{n} *= 2;",
        lambda n, k: f"struct {n} *qzp_of_{n} = &qz_of_{n}; qzs = qzs % 1000 + qzp_of_{n}->{n} % 100;",
    ),
    "type": (
        lambda n, k: f"typedef short {n}; {n} qz_of_{n} = {k};",
        *(lambda n, k: f"qzs = qzs % 1000 + ({n})(qzs * 3001) % 10; qz_of_{n} += 1;",) * 3,
    ),
    "enumerator": (lambda n, k: f"enum qz_of_{n} {{ {n} = {k} }};", _adds, _adds, _adds),
    "label": (_nothing, _nothing, _loops, lambda n, k: ""),
    "label of the kernel": (_nothing, _loops, _nothing, _nothing),
    "static local": (
        _nothing,
        _nothing,
        lambda n, k: f"static int {n} = {k}; qzs = qzs % 1000 + {n}++;",
        _nothing,
    ),
}


def accepted(kind: str, names: list[str], paths: bool = False) -> list[str]:
    """Those of ``names`` that gcc takes for such a thing."""
    while names:
        text = program(kind, names, paths)
        done = subprocess.run(
            ["gcc", "-fsyntax-only", *FLAGS, "-x", "c", "-"], input=text, capture_output=True, text=True
        )
        if done.returncode == 0:
            return names
        lines = text.split("\n")
        wrong = {w for line in _ERROR.findall(done.stderr) for w in _NAME.findall(lines[int(line) - 1])}
        wrong |= {w.removeprefix("qz_of_") for w in wrong}
        wrong = KEYWORDS.intersection(_EXPANDED.findall(done.stderr)) or wrong  # which spoil the lines of others
        left = [n for n in names if n not in wrong]
        assert len(left) < len(names), done.stderr
        names = left
    return names


def runs_of_gcc(text: str) -> bytes:
    """What the runs print, one after the other."""
    return b"".join(subprocess.run([executable(text)], input=r.encode(), capture_output=True).stdout for r in RUNS)
