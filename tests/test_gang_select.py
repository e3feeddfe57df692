"""Branches that choose a minimum or a maximum become selects: with C's NaN, signed zeros and aliases."""

import numpy as np
import pytest

import c2cu
from tests.oracle import Original, same
from tests.sample import sampled

N = 6
OPERATORS = ("<", "<=", ">", ">=")
TYPES = {
    "float": "f4",
    "double": "f8",
    "int": "i4",
    "unsigned": "u4",
    "long": "i8",
    "unsigned long": "u8",
    "short": "i2",
}
SHAPES = """
        o[{r}][i] = b[i];
        if (a[i] {op} o[{r}][i]) o[{r}][i] = a[i];
        o[{r} + 1][i] = b[i];
        if (!(a[i] {op} o[{r} + 1][i])) o[{r} + 1][i] = a[i];
        T m{r};
        if (a[i] {op} b[i]) m{r} = a[i]; else m{r} = b[i];
        o[{r} + 2][i] = m{r};
        o[{r} + 3][i] = a[i];
        o[{r} + 4][i] = b[i];
        if ((o[{r} + 3][i] {op} o[{r} + 4][i]) == (i % 2 == 0)) {{
            T t = o[{r} + 3][i];
            o[{r} + 3][i] = o[{r} + 4][i];
            o[{r} + 4][i] = t;
            o[{r} + 5][i] = 1;
        }}
        o[{r} + 6][i] = a[i] {op} 0 ? a[i] : -(T)0;
        o[{r} + 7][i] = a[i];
        if (c[i]) if (b[i] {op} o[{r} + 7][i]) o[{r} + 7][i] = b[i];
"""
ROWS = 8
ALIASES = """
T a[{n}], b[{n}], last; int n = {n};
void kern(void) {{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {{
            if (a[i] > a[j]) {{ T t = a[i]; a[i] = a[j]; a[j] = t; last = t; }}
            if (b[i] < b[j]) b[i] = b[j]; else b[j] = 7;
            if (!(a[i] < b[j])) {{ a[i] = b[j]; b[j] = a[i]; last = b[j]; }}
            if (!(a[i] < a[j])) {{ a[i] = a[j]; a[j] = 3; last = a[i]; }}
            if (b[i] > b[j]) {{ last = b[i]; b[i] = 7; b[j] = last; }} else b[i] = 5;
        }}
}}
"""


def values(c_type: str, p: int, seed: int) -> np.ndarray:
    """Few values, so that many are equal, with NaN, zeros of both signs and the ends of the type's range among them."""
    t = np.dtype(TYPES[c_type])
    if t.kind == "f":
        chosen = np.array([0.0, -0.0, 1.0, -1.0, np.nan, -np.nan, np.inf, -np.inf, 1e-40, 2.5], t)
    else:
        chosen = np.array([0, 1, 2, 7, np.iinfo(t).max, np.iinfo(t).min, np.iinfo(t).max // 2 + 1], t)
    return np.random.default_rng(seed).choice(chosen, (p, N))


def judge(text: str, borders: list[tuple], inputs: dict[str, np.ndarray], shared: dict[str, int]) -> str:
    """Compare a program with gcc's; its generated text."""
    p = len(inputs["a"])
    expected = Original(text, "kern", borders).bulk(inputs, p)
    program = c2cu.compile(text, fn="kern", backend="cpu", schedule="gang", shared=list(shared))
    results = program(inputs, shared=shared)
    for name, array in results.items() if isinstance(results, dict) else [("o", results)]:
        assert same(array, expected[name]), f"{name}\n{text}"
    return program.source


@pytest.mark.costly
@pytest.mark.parametrize("rolled", (False, True), ids=("unrolled", "rolled"))
@pytest.mark.parametrize("c_type", sampled(TYPES, 12))
def test_every_comparison(c_type, rolled):
    body = "".join(SHAPES.format(op=op, r=ROWS * k) for k, op in enumerate(OPERATORS))
    rows, t = ROWS * len(OPERATORS), TYPES[c_type]
    text = (
        f"typedef {c_type} T; T a[{N}], b[{N}], o[{rows}][{N}]; int c[{N}]; int n = {N};\n"
        f"void kern(void) {{ for (int i = 0; i < {'n' if rolled else N}; i++) {{{body}}} }}\n"
    )
    inputs = {"a": values(c_type, 61, 1), "b": values(c_type, 61, 2), "o": np.zeros((61, rows, N), t)}
    inputs["c"] = np.random.default_rng(3).integers(0, 2, (61, N), dtype="i4")
    borders = [("a", t, (N,)), ("b", t, (N,)), ("c", "i4", (N,)), ("o", t, (rows, N))]
    source = judge(text, borders, inputs, {"n": N} if rolled else {})
    if c_type != "short":  # which C compares as int
        assert "= min_" in source and "= max_" in source


@pytest.mark.costly
@pytest.mark.parametrize("c_type", ("float", "int", "double"))
def test_subscripts_that_may_meet(c_type):
    text, t = f"typedef {c_type} T;" + ALIASES.format(n=N), TYPES[c_type]
    inputs = {"a": values(c_type, 61, 4), "b": values(c_type, 61, 5), "last": values(c_type, 61, 6)[:, 0].copy()}
    source = judge(text, [("a", t, (N,)), ("b", t, (N,)), ("last", t, ())], inputs, {"n": N})
    assert "= max_" in source
