"""Output that is discarded: what prints is analysed, and what its arguments do is done."""

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.frontend.preprocess import read_source
from c2cu.schedule.choose import choose
from tests.cuda_host import run_on_cpu
from tests.sample import slow

TEXT = r"""
#include <stdio.h>
double x, y;
int n;
static int next(void) { return n = 3 * n + 1; }
static void own(const char *text) { n += text[0] == 'o'; }
static int report(const char *name, int code) {
    printf("%s: %d\n", name, code);
    if (code < 0) code = 0;
    fprintf(stderr, "%d %d\n", n++, next());
    if (x > 5) puts("large"), fflush(stdout), n += 2;
    else perror(name);
    for (putchar('a'); n % 4 > 1; putchar('\n'), n++) (void)putchar('0' + n++ % 10);
    x > 3 ? puts("a") : puts("b");
    x > 3 && printf("%d", n += 5);
    switch (code) {
    case 1: puts("1"); break;
    case 2: __builtin_printf("%d", next());
    default: own("own"); fputs("else", stdout);
    }
again:
    puts("label");
    do puts("body"); while (0);
    return n;
}
void kern(void) { y = x * 2; if (x < 3 || x > 6) y += report("kern", (int)x % 3); }
"""


@pytest.mark.parametrize("schedule", ["gang", slow("private"), slow("thread")])
def test_the_rest_is_done(schedule):
    inputs = {"x": np.linspace(-4, 9, 14), "n": np.arange(14, dtype=np.int32)}
    expected = c2cu.bulk(TEXT, inputs, fn="kern", backend="cpu", schedule="native", stdio="discard")
    if schedule == "gang":
        results = c2cu.bulk(TEXT, inputs, fn="kern", backend="cpu", schedule="gang", stdio="discard")
    else:
        front = pipeline.understand(read_source(TEXT), pipeline.Options(fn="kern", stdio="discard"))
        results = run_on_cpu(choose(front, "cuda", schedule)[1], inputs, 14)
    assert all(np.array_equal(results[name], expected[name]) for name in expected)


def test_only_if_it_is_discarded():
    c2cu.check(TEXT, fn="kern", stdio="discard")
    with pytest.raises(c2cu.UnsupportedError, match="the kernel prints with 'printf'"):
        c2cu.check(TEXT, fn="kern")


def test_what_the_program_calls_so_itself():
    """A function of the user's with such a name prints nothing; a value that is used is not known."""
    text = 'int x, y; static int puts(const char *s) { return y = s[x & 1]; }\nvoid kern(void) { puts("ab"); }\n'
    result = c2cu.bulk(
        text, {"x": np.array([0, 1], np.int32)}, fn="kern", backend="cpu", schedule="gang", stdio="discard"
    )
    assert result.tolist() == [97, 98]
    used = '#include <stdio.h>\nint x, y; void kern(void) { y = printf("%d", x); }\n'
    assert "prints" in c2cu.check(used, fn="kern", stdio="discard").why_not


@pytest.mark.parametrize(
    "text",
    [
        'int x, y; static int mine(const char *s) { y = x; return 0; }\nstatic int (*puts)(const char *) = mine; void k(void) { puts("a"); }',
        '#include <stdio.h>\nint x, y; void k(void) { int n = 7; printf("%d%n", x, &n); y = n + x; }',
        '#include <stdio.h>\nint x, y; void k(void) { int n = 7; const char *f = "%d%n"; printf(f, x, &n); y = n + x; }',
    ],
)
def test_what_does_more_than_print_stays(text):
    x = np.array([3, 40], np.int32)
    results = [
        c2cu.bulk(text, {"x": x}, fn="k", backend="cpu", schedule=s, stdio="discard", outputs=["y"], verify=False)
        for s in ("auto", "native")
    ]
    assert np.array_equal(*results) and results[0].any()
