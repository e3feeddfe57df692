"""Multiplication and addition of long numbers by the carry flag: equal to gcc for any words, the assembly executed."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest

from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.registry import emit_schedule
from tests.cuda_host import run_on_cpu
from tests.oracle import Original, same
from tests.programs import share
from tests.ptx import assembly_as_cpp
from tests.sample import sampled
from tests.workloads import WORKLOADS

P = 70
PROGRAMS = share(800, 16)
HEAD = "#include <stdint.h>\n#define N {n}\nuint32_t x[N], y[N], m[N], t[2 * N + 2], r[2 * N + 2];\n"
ROW = """for (int j = 0; j < N; j++) {{
            uint64_t s = (uint64_t)x[j] * {y} + {t}[j] + carry;
            {t}[j] = (uint32_t)s;
            carry = s >> 32;
        }}"""


def artifact(text: str):
    return emit_schedule("registers", pipeline.understand(read_source(text), pipeline.Options(fn="k")))


def words(rng, p: int, n: int) -> np.ndarray:
    """Any words, and many of those at the ends."""
    ends = np.array([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF])
    a = np.where(rng.random((p, n)) < 0.5, rng.integers(0, 1 << 32, (p, n)), rng.choice(ends, (p, n)))
    a[0], a[1] = 0xFFFFFFFF, 0
    a[2:8] = np.where(rng.random((6, n)) < 0.9, 0xFFFFFFFF, a[2:8])
    return a.astype(np.uint32)


def judge(text: str, variables: dict[str, int], seed: int = 1, plain: bool = False) -> str:
    """The schedule's text; its results are those of gcc by the assembly, and where ``plain`` by the C++ too."""
    a = artifact(text)
    rng = np.random.default_rng(seed)
    inputs = {name: words(rng, P, n) for name, n in variables.items()}
    expected = Original(text, "k", [(name, "uint32", (n,)) for name, n in variables.items()]).bulk(inputs, P)
    inputs = {s.name: inputs[s.name] for s in a.slots}
    for how in (replace(a, text=assembly_as_cpp(a.text)), *[a] * plain):
        for name, array in run_on_cpu(how, inputs, P).items():
            assert same(array, expected[name]), f"{name} differs\n{text}\n{how.text}"
    return a.text


def numbers(n: int) -> dict[str, int]:
    return {"x": n, "y": n, "m": n, "t": 2 * n + 2, "r": 2 * n + 2}


def calls(text: str, name: str) -> int:
    """How often the kernel calls functions of this name."""
    return len(re.findall(rf"\b{name}_\d+\w*\(", text.split("c2cu_run(")[1]))


@pytest.mark.parametrize("name", sampled(["montgomery-512", "montgomery-512-shared"], 1))
def test_montgomery_needs_one_sum(name):
    w = next(w for w in WORKLOADS if w.name == name)
    options = pipeline.Options(defines={n: str(v) for n, v in w.defines.items()}, shared=w.shared)
    a = emit_schedule("registers", pipeline.understand(read_source(w.path), options))
    assert calls(a.text, "multiply_add_pairs") == 64  # 16 words, each a row of products and one of the reduction
    assert calls(a.text, "add_words") == calls(a.text, "subtract_words") == 1
    inputs = w.inputs(P)
    expected = w.expected(inputs, P)
    result = run_on_cpu(replace(a, text=assembly_as_cpp(a.text)), inputs, P)
    assert all(same(result[n], e) for n, e in expected.items())


MONTGOMERY = """
void k(void) {{
    uint32_t u[N + 2] = {{0}};
    for (int i = 0; i < N; i++) {{
        uint64_t carry = 0;
        {row}
        uint64_t top = (uint64_t)u[N] + carry;
        u[N] = (uint32_t)top;
        u[N + 1] = (uint32_t)(top >> 32);
        uint32_t q = u[0] * m[0];
        carry = ((uint64_t)q * m[0] + u[0]) >> 32;
        for (int j = 1; j < N; j++) {{
            uint64_t s = (uint64_t)q * m[j] + u[j] + carry;
            u[j - 1] = (uint32_t)s;
            carry = s >> 32;
        }}
        top = (uint64_t)u[N] + carry;
        u[N - 1] = (uint32_t)top;
        u[N] = u[N + 1] + (uint32_t)(top >> 32);
    }}
    for (int j = 0; j <= N; j++) r[j] = u[j];
}}
"""


@pytest.mark.parametrize("n", sampled([5, 4, 7, 8], 4))
def test_montgomery_of_any_words(n):
    """Even moduli, x and y above the modulus, a word that is no inverse: the top words matter."""
    text = HEAD.format(n=n) + MONTGOMERY.format(row=ROW.format(y="y[i]", t="u"))
    assert calls(judge(text, numbers(n), plain=n == 5), "add_words") == 1


@pytest.mark.parametrize("n", sampled([9, 4, 5, 8], 4))
def test_whole_product(n):
    """Operand scanning: each row leaves its lowest word, and a new one on top."""
    row = ROW.format(y="y[i]", t="r").replace("r[j]", "r[i + j]")
    text = HEAD.format(n=n) + (
        f"void k(void) {{ for (int i = 0; i < 2 * N; i++) r[i] = 0;\n    for (int i = 0; i < N; i++) {{\n"
        f"        uint64_t carry = 0;\n        {row}\n        r[i + N] = (uint32_t)carry;\n    }}\n}}\n"
    )
    assert calls(judge(text, numbers(n)), "add_words") == 1


def rows(n: int, top: str, count: int = 5, between: str = "", y: str = "y[i & 3]") -> str:
    """Rows on t that do not move: what C does with the carry is ``top``."""
    return HEAD.format(n=n) + (
        f"void k(void) {{\n    for (int i = 0; i < {count}; i++) {{\n        uint64_t carry = 0;\n"
        f"        {ROW.format(y=y, t='t')}\n        {top}\n        {between}\n    }}\n}}\n"
    )


def zeroed(text: str) -> str:
    """Rows on zero: what they come to is bounded, so that they are linked."""
    return text.replace("void k(void) {", "void k(void) { for (int i = 0; i < N + 2; i++) t[i] = 0;")


TOPS = {
    "dropped": "",
    "word": "t[N] = (uint32_t)carry;",
    "wraps": "t[N] += (uint32_t)carry;",
    "one word": "uint64_t top = (uint64_t)t[N] + carry; t[N] = (uint32_t)top;",
    "two words": "uint64_t top = (uint64_t)t[N] + carry; t[N] = (uint32_t)top; t[N + 1] = (uint32_t)(top >> 32);",
    "two words, sum": "uint64_t top = carry + t[N]; t[N] = (uint32_t)top; t[N + 1] = (uint32_t)(top >> 32) + t[N + 1];",
    "lowest": "uint64_t top = carry + t[0]; t[N] = (uint32_t)top; t[N + 1] += (uint32_t)(top >> 32);",
    "twice": "t[N] = (uint32_t)carry; t[N + 1] = (uint32_t)carry + 1;",
}


@pytest.mark.parametrize("start", sampled(["given", "zero"], 1))
@pytest.mark.parametrize("top", sampled(TOPS, 12))
def test_tops(top, start):
    """Where words above wrap, or are read once more, the result is still that of C."""
    for n in (4, 5):
        text = rows(n, TOPS[top])
        judge(zeroed(text) if start == "zero" else text, numbers(n))


READ = {"r[i] = t[0];": 1, "r[i] = t[2];": 5, "r[i] = t[N];": 5, "r[i] = t[N + 1]; t[1] ^= y[0];": 5}


@pytest.mark.parametrize("between", sampled(READ, 3))
def test_words_that_are_read_between(between):
    """The lowest word is known after each row; another one ends the chain of rows."""
    text = zeroed(rows(6, TOPS["two words, sum"], between=between))
    assert calls(judge(text, numbers(6)), "add_words") == READ[between]


@pytest.mark.slow
def test_factors_from_the_number_itself():
    """A factor, or an addend, that an earlier link of the same row makes; one that the row before leaves."""
    for y in ("t[0]", "t[N - 1]", "(t[0] * m[0])", "(j ? t[j - 1] : 7u)"):
        judge(zeroed(rows(5, TOPS["two words, sum"], y=y)), numbers(5))
    chained = rows(5, TOPS["word"]).replace("t[j] + carry", "(j ? t[j - 1] : t[j]) + carry")
    judge(chained, numbers(5))


def test_a_known_modulus():
    """Constants among the factors, zero and one too."""
    text = HEAD.format(n=6).replace("m[N], ", "") + "const uint32_t m[N] = {4294966319u, 1, 0, 4294967295u, 0, 7};\n"
    text += MONTGOMERY.format(row=ROW.format(y="y[i]", t="u"))
    judge(text, {name: n for name, n in numbers(6).items() if name != "m"})


SUMS = {
    "sum": "s = (uint64_t)x[j] + y[j] + carry; r[j] = (uint32_t)s; carry = s >> 32;",
    "sum in place": "s = carry + x[j] + t[j]; t[j] = (uint32_t)s; carry = s >> 32;",
    "difference": "s = (uint64_t)x[j] - y[j] - carry; r[j] = (uint32_t)s; carry = s >> 63;",
    "bit 32": "s = (uint64_t)t[j] - y[j] - carry; t[j] = (uint32_t)s; carry = (s >> 32) & 1;",
    "both at once": "s = (uint64_t)x[j] - (y[j] + carry); r[j] = (uint32_t)s; carry = s >> 63;",
    "other way": "s = carry - x[j]; s -= y[j]; r[j] = (uint32_t)s; carry = s >> 63;",
    "high word": "s = (uint64_t)x[j] - y[j] - carry; r[j] = (uint32_t)s; carry = s >> 32;",
    "read back": "s = (uint64_t)x[j] + (j ? r[j - 1] : 3) + carry; r[j] = (uint32_t)s; carry = s >> 32;",
    "borrow first": "s = (uint64_t)y[j] - (j ? r[j - 1] : 3) - carry; r[j] = (uint32_t)s; carry = s >> 63;",
    "own carry": "s = carry + carry + x[j]; r[j] = (uint32_t)s; carry = s >> 32;",
}
BY_FLAG = {"sum", "sum in place", "difference", "bit 32", "both at once"}


@pytest.mark.parametrize("name", sampled(SUMS, 6))
@pytest.mark.slow
def test_sums(name):
    """Long sums and differences, their carry used; what only looks like one stays as it is."""
    for n in (4, 9):
        text = HEAD.format(n=n) + (
            "void k(void) {\n    uint64_t carry = 0, s;\n"
            f"    for (int j = 0; j < N; j++) {{ {SUMS[name]} }}\n    r[N] = (uint32_t)carry ^ (uint32_t)(carry >> 32);\n}}\n"
        )
        printed = judge(text, numbers(n), plain=n == 9)
        assert calls(printed, "(?:add|subtract)_words") == (name in BY_FLAG)


def random_program(seed: int) -> tuple[str, int]:
    """Rows on one number, moved down or not, with any of the tops, and reads between them."""
    rng = random.Random(seed)
    n = rng.choice([4, 5, 6, 7])
    lines = ["uint64_t carry, top, s;", "uint32_t q;"]
    if rng.random() < 0.8:
        lines.append("for (int j = 0; j < 2 * N + 2; j++) t[j] = 0;")
    for i in range(rng.randint(2, 7)):
        factor = rng.choice([f"y[{i % n}]", "t[0] * m[0]", "q + m[1]", "0xffffffffu", "t[0]"])
        number = rng.choice("xm")
        moved = rng.random() < 0.5
        lines += [f"q = {factor if i or 'q' not in factor else 'y[0]'}; carry = 0;"]
        if moved:
            lines.append(f"carry = ((uint64_t)q * {number}[0] + t[0]) >> 32;")
        to = "t[j - 1]" if moved else "t[j]"
        lines.append(f"for (int j = {int(moved)}; j < N; j++) {{")
        lines.append(f"    s = (uint64_t)q * {number}[j] + t[j] + carry; {to} = (uint32_t)s; carry = s >> 32;")
        lines.append("}")
        at = "N - 1" if moved else "N"
        high = "t[N + 1] + " * (rng.random() < 0.9) + "(uint32_t)(top >> 32)"
        both = f"top = t[N] + carry; t[{at}] = (uint32_t)top; t[{at} + 1] = {high};"
        lines.append(
            rng.choice([both, both, both, both, both, f"t[{at}] = (uint32_t)carry;", f"t[{at}] += (uint32_t)carry;"])
        )
        if moved and rng.random() < 0.9:
            lines.append("t[N + 1] = 0;")
        if rng.random() < 0.3:
            lines.append(f"r[{i}] = t[{rng.choice(['0', '0', '0', '1', 'N', 'N - 1'])}];")
    return HEAD.format(n=n) + "void k(void) {\n    " + "\n    ".join(lines) + "\n}\n", n


@pytest.mark.slow
def test_random_programs_have_linked_rows():
    printed = [artifact(random_program(seed)[0]).text for seed in range(16)]
    linked = [calls(text, "multiply_add_pairs") > 2 * calls(text, "add_words") for text in printed]
    assert sum(linked) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(range(4), 4))
def test_random_rows(part):
    for seed in range(part, PROGRAMS, 4):
        text, n = random_program(seed)
        judge(text, numbers(n), seed)


def test_the_interpreter_of_assembly_sees_faults():
    """A carry that none has made, an instruction that it does not know; and what it leaves is C++."""
    text = artifact(rows(4, TOPS["word"], 1)).text
    with pytest.raises(AssertionError, match="no carry"):
        assembly_as_cpp(text.replace("mad.lo.cc", "madc.lo.cc"))
    with pytest.raises(AssertionError, match="mul"):
        assembly_as_cpp(text.replace("mad.lo.cc", "mul.lo.cc"))
    assert "#ifdef __CUDA_ARCH__" in text and "#ifdef __CUDA_ARCH__" not in assembly_as_cpp(text)
    assert "asm" in text and "asm" not in assembly_as_cpp(text)
