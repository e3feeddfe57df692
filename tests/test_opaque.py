"""Contexts of bytes that hide another struct, as libraries have them: variables of their types are that struct."""

import numpy as np
import pytest

import c2cu

TEXT = """
#include <string.h>
#include <stddef.h>
struct context {{ size_t aligner; unsigned char opaque[72]; }};
struct state {{ unsigned char buffer[8]; size_t left; unsigned short r[6], h[6]; double d; int *at; unsigned char final; }};
unsigned char m[40]; int x, r;
static void init(struct context *c) {{
    struct state *s = (struct state *)c;
    s->left = 0; s->final = 1; s->d = 0.5; s->at = &x;
    for (int i = 0; i < 6; i++) s->r[i] = i * 3 + 1, s->h[i] = 0;
}}
static void update(struct context *c, const unsigned char *p, size_t n) {{
    struct state *s = (struct state *)c;
    for (size_t i = 0; i < n; i++) {{
        s->buffer[s->left++] = p[i];
        if (s->left < 8) continue;
        for (int j = 0; j < 6; j++) s->h[j] += s->r[j] * s->buffer[j] + s->final;
        s->d *= 1.5; s->left = 0;
    }}
}}
static int finish(struct context *c) {{
    struct state *s = (struct state *)c;
    int sum = s->left + *s->at + (int)s->d;
    for (int j = 0; j < 6; j++) sum = sum * 31 + s->h[j];
    memset(c, 0, sizeof *c);
    return sum + s->final;
}}
{more}
void kern(void) {{ {body} }}
"""
BODIES = {
    "one": "struct context c; init(&c); update(&c, m, 40); r = finish(&c);",
    "cleared first": "struct context c; memset(&c, 0, sizeof c); init(&c); update(&c, m, 40); r = finish(&c);",
    "begun with zeros": "struct context c = {0}; init(&c); update(&c, m, 37); r = finish(&c);",
    "two": "struct context a, b; init(&a); init(&b); update(&a, m, 9); update(&b, m + 9, 31); r = finish(&a) ^ finish(&b);",
    "a turn's": "r = 0; for (int i = 0; i < 3; i++) { struct context c; init(&c); update(&c, m + i, 11); r += finish(&c); }",
    "copied": "struct context a, b; init(&a); update(&a, m, 9); memcpy(&b, &a, sizeof b); update(&b, m, 15); r = finish(&b) - finish(&a);",
    "assigned": "struct context a, b; init(&a); update(&a, m, 9); b = a; update(&b, m, 15); r = finish(&b) - finish(&a);",
    "one of two": "struct context a, b; init(&a); init(&b); update(x > 2 ? &a : &b, m, 20); r = finish(&a) * 7 + finish(&b);",
    "until": "struct context c; init(&c); for (int i = 0; i < x; i++) update(&c, m + i, 3); r = finish(&c);",
    "by bytes": "struct context c; init(&c); update(&c, m, 40); unsigned char *p = (unsigned char *)&c; r = p[1] + p[8] * 3; r += finish(&c);",
}  # fmt: skip
OTHERS = {
    "a member that is named": ("struct context c; c.opaque[0] = x; r = c.opaque[0]; init(&c); update(&c, m, 40); r += finish(&c);", ""),
    "two that it hides": ("struct context c; other(&c); r = ((struct more *)&c)->k; init(&c); update(&c, m, 40); r += finish(&c);",
        "struct more { int k; }; static void other(struct context *c) { ((struct more *)c)->k = x; }"),
    "what is longer": ("struct small s; struct big *b = (struct big *)&s; r = (b->k[0] = x) + m[3];", "struct small { char c[4]; }; struct big { int k[2]; };"),
    "an array": ("struct context c[2]; for (int i = 0; i < 2; i++) init(c + i), update(c + i, m, 20 + i); r = finish(c) ^ finish(c + 1);", ""),
    "a static": ("static struct context c; init(&c); update(&c, m, 40); r = finish(&c);", ""),
}  # fmt: skip


def compared(text: str, schedules: tuple[str, ...]) -> None:
    rng = np.random.default_rng(0)
    given = {"m": rng.integers(0, 256, (20, 40)).astype("u1"), "x": np.arange(20, dtype="i4") % 7}
    right = c2cu.bulk(text, given, fn="kern", schedule="native", outputs=("r",))
    for schedule in schedules:
        assert np.array_equal(c2cu.bulk(text, given, fn="kern", schedule=schedule, outputs=("r",), verify=False), right)
    assert len({*right.tolist()}) > 5


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", BODIES)
def test_lanes_have_what_native_has(name):
    analysed = name != "assigned"  # what lies between members is copied too
    compared(TEXT.format(more="", body=BODIES[name]), ("gang", "auto") if analysed else ("auto",))


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_others_stay_what_they_are(name):
    body, more = OTHERS[name]
    compared(TEXT.format(more=more, body=body), ("auto",))
