"""Libraries of schedule ``native``: the kernel as it stands, each thread with variables of its own."""

import numpy as np
import pytest

import c2cu
from tests.oracle import same
from tests.sample import sampled
from tests.test_standalone_library import called, on_cpu
from tests.workloads import WORKLOADS

WORDS = """
#include <stdlib.h>
#include <string.h>
#define W 3
#define begin first
typedef struct node { int key; struct node *left, *right; } node;
typedef int (*step)(int);
enum { worker = 7 };
union cell { float f; int *at; unsigned bits; };
static node *root;
static int pair[2] = { 4, 5 }, *inside = &pair[1];
static const struct { int *at, **of; } places[] = { { pair, &inside }, { &pair[1], 0 } };
static int twice(int x) { return 2 * x; }
static int less(int x) { return x - W; }
static const step steps[] = { twice, less };
int slot[4] = { 1, 2, 3 }, first, out[8], count;
static node *add(node *n, int key) {
    static int calls = 5;
    if (!n) {
        n = malloc(sizeof *n);
        n->key = key + calls++, n->left = n->right = NULL;
        return n;
    }
    if (key < n->key) n->left = add(n->left, key);
    else n->right = add(n->right, key);
    return n;
}
static void walk(const node *n) {
    if (!n) return;
    walk(n->left);
    out[count++ & 7] = steps[n->key & 1](n->key);
    walk(n->right);
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int kern(const int *keys, int p, char *text) {
    union cell c = { .f = p };
    extern int first;
    int *copy = calloc(6, sizeof(int));
    memcpy(copy, keys, 6 * sizeof(int));
    copy = realloc(copy, 9 * sizeof(int));
    qsort(copy, 6, sizeof(int), order);
    for (int k = 0; k < 6; k++) root = add(root, copy[k] ^ slot[k & 3]);
    walk(root);
    free(copy);
    char *name = strdup("kern"), *part = strndup(name, 2);
    free(name);
    count += strlen(part);
    static int *again = pair + 1;
    (*places[0].at)++, ++*again, inside = places[0].at;
    first += *inside + **places[0].of + *places[1].at;
    first += begin + 1;
    slot[p & 3] += count;
    text[p & 3]++;
    goto done;
done:
    return c.bits + worker + first;
}
"""


def test_what_lanes_cannot_take():
    """Recursion, memory, unions with pointers, function pointers, a sort, static locals; names of the text around it."""
    r = np.random.default_rng(3)
    p = 53
    inputs = {
        "keys": r.integers(-50, 50, (p, 6)).astype(np.int32),
        "p": r.integers(0, 9, p).astype(np.int32),
        "text": r.integers(0, 99, (p, 4)).astype(np.int8),
        "pair": r.integers(0, 9, (p, 2)).astype(np.int32),
        "slot": r.integers(0, 9, (p, 4)).astype(np.int32),
    }
    shapes = {"keys": (6,), "text": (4,)}
    program = c2cu.compile(WORDS, backend="cpu", fn="kern", schedule="native", shapes=shapes, outputs=None)
    expected = program(inputs)
    for schedule in ("native", "auto"):
        library = c2cu.library(WORDS, "many", target="cpu", schedule=schedule, fn="kern", shapes=shapes)
        code = on_cpu(library)
        for n, threads in ((p, 1), (p, 3), (1, 2), (p, 100), (0, 1)):
            first = {name: a[:n] for name, a in inputs.items()}
            results = called(library, code, first, program.slots, n, threads)
            for name, value in expected.items():
                assert same(results[name], value[:n]), (name, n, threads)


def one(text: str, p: int = 3, threads: int = 1) -> list[int]:
    """Of a program with ``int k, o``: o for k = 0, 1, 2."""
    library = c2cu.library(text, "many", target="cpu", schedule="native", fn="kern")
    slots = c2cu.compile(text, backend="cpu", schedule="native", fn="kern").slots
    inputs = {"k": np.arange(p, dtype=np.int32)}
    return called(library, on_cpu(library), inputs, slots, p, threads)["o"].tolist()


def test_names_and_strings_of_the_program_are_its_own():
    text = 'int W = 3, k, o; static const char *s = "c2cu_slot";\nvoid kern(void) { o = k + s[k] + W++; }\n'
    assert one(text) == [ord("c"), ord("2") + 1, ord("c") + 2]  # `called` gives W, which goes in and out, as 0
    assert one("#define NULL 0\nint k, o;\nvoid kern(void) { int *p = NULL; o = k + !p; }\n") == [1, 2, 3]
    for text in (
        "int k, o; static int many = 3;\nvoid kern(void) { o = many; }",
        "static int many_slot(int x) { return x; }\nint k, o;\nvoid kern(void) { o = many_slot(k); }",
    ):
        with pytest.raises(c2cu.InputError, match="C2CU420"):
            c2cu.library(text, "many", target="cpu", schedule="native", fn="kern")


def test_memory_is_as_the_c_library_gives_it():
    head = "#include <stdlib.h>\n#include <string.h>\nint k, o;\n"
    text = head + 'void kern(void) { char *a = __builtin_strdup("abc"); o = strlen(a) + k; free(a); }'
    assert one(text) == [3, 4, 5]
    text = head + "void kern(void) { int *a = malloc(4); *a = k; o = *a; a = realloc(a, 0); o += a == 0; }"
    assert one(text) == [1, 2, 3]


@pytest.mark.parametrize("w", sampled(WORKLOADS, 8), ids=lambda w: w.name)
def test_workloads(w):
    library = c2cu.library(w.path, "many", target="cpu", schedule="native", defines=w.defines, shared=w.shared)
    code, slots = on_cpu(library), w.compile(backend="cpu", schedule="native").slots
    inputs = w.inputs(19)
    expected = w.expected(inputs, 19)
    for threads in (1, 3):
        results = called(library, code, w.first(inputs, 19), slots, 19, threads)
        assert all(same(results[n], expected[n]) for n in w.outputs)


REFUSED = (
    ("int k, o; static int *q = (int[]){ 1, 2, 3 };\nvoid kern(void) { q[0] += k; o = q[0]; }", "C2CU187", (1, 27)),
    ("#include <errno.h>\nint k, o;\nvoid kern(void) { o = errno; errno = k; }", "C2CU187", (3, 23)),
    ("#include <fenv.h>\nint o;\nvoid kern(void) { o = fetestexcept(FE_DIVBYZERO); }", "C2CU187", (3, 23)),
    (
        "int o, v; __attribute__((constructor)) static void c(void) { v = 7; }\nvoid kern(void) { o = v; }",
        "C2CU187",
        (1, 11),
    ),
    ("int v, o;\nvoid k(void) {\n    static int *const p = &v; *p += 3, o = *p;\n}", "C2CU186", (3, 28)),
    ("#include <stdlib.h>\nint o;\nvoid k(void) { o = rand(); }", "C2CU187", (3, 20)),
    ("#include <string.h>\nchar s[9]; int o;\nvoid k(void) { o = strtok(s, s) != 0; }", "C2CU187", (3, 20)),
)


@pytest.mark.parametrize("text, code, place", REFUSED)
def test_what_threads_would_share(text, code, place):
    with pytest.raises(c2cu.UnsupportedError) as e:
        c2cu.library(text, "many", target="cpu", schedule="native", fn="kern" if "kern" in text else None)
    assert (e.value.code, e.value.line, e.value.column) == (code, *place)
