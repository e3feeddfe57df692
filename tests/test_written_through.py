"""Which variables a program that is not analysed may write: they are its outputs."""

import numpy as np
import pytest

import c2cu

#: Each writes `y` in a way that is seen in its flow of addresses alone; `setjmp` keeps it from being analysed.
PROGRAMS = {
    "a constant parameter, through a pointer": "static void put(const int *p) { *(int *)p = in + 1; }\n"
    "static void (*const put_it[1])(const int *) = {put};\nstatic void go(void) { put_it[0](&y); }",
    "one that goes to a global": "static const int *kept; static void keep(const int *p) { kept = p; }\n"
    "static void go(void) { void (*f)(const int *) = keep; f(&y); *(int *)kept = in + 1; }",
    "a struct by value": "struct S { const int *p; }; static void put(struct S s) { *(int *)s.p = in + 1; }\n"
    "static void go(void) { void (*f)(struct S) = put; struct S s = {&y}; f(s); }",
    "what bsearch compares": "#include <stdlib.h>\nstatic int put(const void *key, const void *p) { *(int *)p = in + 1; return 0; }\n"
    "static void go(void) { int key = 0; bsearch(&key, &y, 1, sizeof y, put); }",
    "the key of bsearch": "#include <stdlib.h>\nstatic int table[1]; static int put(const void *key, const void *p) { *(int *)key = in + 1; return 0; }\n"
    "static void go(void) { bsearch(&y, table, 1, sizeof(int), put); }",
    "a pointer's address in an initialiser": "static int *p; static int **const pp = &p;\nstatic void go(void) { *pp = &y; *p = in + 1; }",
    "a number that no cast made": "static void go(void) { long at = &y; *(int *)at = in + 1; }",
    "a subscript": "static void go(void) { ((char *)0)[(long)&y] = in + 1; }",
    "a sum": "static void go(void) { *(char *)((char *)0 + (long)&y) = in + 1; }",
}  # fmt: skip
HEAD = "#include <setjmp.h>\nint in, y;\nstatic jmp_buf away;\n"


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_an_output(name):
    text = HEAD + PROGRAMS[name] + "\nvoid kern(void) { if (!setjmp(away)) { go(); longjmp(away, 1); } }\n"
    x = np.arange(3, dtype="i4")
    out = c2cu.bulk(text, {"in": x}, fn="kern", backend="cpu")
    y = out["y"] if isinstance(out, dict) else out
    assert np.array_equal(y, x + 1)


def test_a_long_expression_is_read_in_time():
    """Each of its operators is looked at once."""
    terms = " + ".join(f"in * {k}" for k in range(3000))
    text = HEAD + f"void kern(void) {{ if (!setjmp(away)) y = {terms}; }}\n"
    x = np.arange(3, dtype="i4")
    out = c2cu.bulk(text, {"in": x}, fn="kern", backend="cpu")
    assert np.array_equal(out["y"] if isinstance(out, dict) else out, x * sum(range(3000)))
