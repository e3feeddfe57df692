"""Arrays that are hard to take: overlapping, misaligned, masked, too large. Each is right, or an error with a way on."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import c2cu
from c2cu.base import memory
from c2cu.runtime import arrays

ADD = "float a[4], b[4];\nvoid k(void) { for (int i = 0; i < 4; i++) b[i] = a[3 - i] + 1; }\n"
STEP = "int a[4];\nvoid k(void) { for (int i = 0; i < 4; i++) a[i] = 3 * a[i] + 1; }\n"
TWO = "float a[4], b[4], c[4];\nvoid k(void) { for (int i = 0; i < 4; i++) { b[i] = a[i] + 1; c[i] = a[i] + 2; } }\n"
SHARED = "float w[4], a[4];\nvoid k(void) { for (int i = 0; i < 4; i++) a[i] += w[3 - i]; }\n"
SET = "int x;\nvoid k(void) { x = 3; }\n"
P = 1000


def rows(p=P, seed=1):
    return np.random.default_rng(seed).random((p, 4), dtype=np.float32)


def bulk(text, *arguments, **options):
    return c2cu.bulk(text, *arguments, backend="cpu", **options)


@pytest.mark.parametrize("schedule", ["gang", "auto"])
@pytest.mark.parametrize(
    "views",
    {
        "the input itself": lambda x: (x[:P], x[:P]),
        "the next": lambda x: (x[:P], x[1 : P + 1]),
        "the one before": lambda x: (x[1 : P + 1], x[:P]),
        "in reverse": lambda x: (x[:P][::-1], x[:P]),
        "an element on": lambda x: (x.reshape(-1)[: 4 * P].reshape(P, 4), x.reshape(-1)[1 : 4 * P + 1].reshape(P, 4)),
        "every other": lambda x: (x[: P // 2], x[:P:2]),
    }.values(),
)
def test_an_output_may_overlap_the_input(views, schedule):
    source, out = views(rows(P + 8))
    expected = source[:, ::-1] + 1
    assert bulk(ADD, source, out=out, schedule=schedule) is out
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("first", [0, 1, 5])
def test_an_output_may_overlap_the_inputs_own_variable(first):
    x = np.arange(4 * P + 32, dtype=np.int32).reshape(-1, 4)
    source, out = x[:P], x[first : P + first]
    expected = 3 * source + 1
    bulk(STEP, source, out=out)
    assert np.array_equal(out, expected)


def test_an_output_may_overlap_what_all_inputs_share():
    x = rows()
    expected = x + x[7][::-1]
    assert np.array_equal(bulk(SHARED, {"a": x}, shared={"w": x[7]}, out=x), expected)


def test_outputs_share_no_memory():
    x = rows(8)
    for b, c in ((x[:4], x[2:6]), (x[:4], x[:4]), (x[:4], x[3::-1])):
        with pytest.raises(c2cu.InputError, match="out 'b' and 'c' share memory"):
            bulk(TWO, {"a": rows(4)}, out={"b": b, "c": c})
    wide = np.zeros((4, 8), np.float32)
    bulk(TWO, {"a": rows(4)}, out={"b": wide[:, ::2], "c": wide[:, 1::2]})
    assert np.array_equal(wide[:, ::2] + 1, wide[:, 1::2])


@pytest.mark.parametrize("strides", [(0, 4), (8, 4), (16, 0), (4, 4), (-8, 4), (12, 4)])
def test_elements_of_an_output_share_no_memory(strides):
    out = as_strided(np.zeros(400, np.float32)[200:], (10, 4), strides)
    with pytest.raises(c2cu.InputError, match="elements of out 'b' share memory"):
        bulk(ADD, rows(10), out=out)


@pytest.mark.parametrize(
    "shape, strides", [((10, 4), (4, 40)), ((10, 4), (-16, 4)), ((10, 4), (200, 8)), ((1, 4), (0, 4))]
)
def test_any_other_strides_are_right(shape, strides):
    out = as_strided(np.zeros(2000, np.float32)[1000:], shape, strides)
    source = rows(shape[0])
    bulk(ADD, source, out=out)
    assert np.array_equal(out, source[:, ::-1] + 1)


def misaligned(p):
    return np.zeros(16 * p + 1, np.uint8)[1:].view(np.float32).reshape(p, 4)


def test_misaligned_arrays():
    source, out = misaligned(P), misaligned(P)
    source[...] = rows()
    assert not source.flags.aligned and bulk(ADD, source, out=out) is out
    assert np.array_equal(out, rows()[:, ::-1] + 1)
    bound = arrays.bind(c2cu.compile(ADD, backend="cpu").slots, source, {}, out, "row")
    assert all(a.flags.aligned for a in (*bound.inputs, *bound.outputs) if a is not None)


def test_one_input_many_times():
    one = np.float32([[1, 2, 3, 4]])
    for repeated in (np.broadcast_to(one, (P, 4)), as_strided(one, (P, 4), (0, 4)), as_strided(one, (P, 4), (0, 0))):
        assert np.array_equal(bulk(ADD, repeated), repeated[:, ::-1] + 1)


@pytest.mark.parametrize("masked", [np.ma.masked_array(rows(3)), np.ma.masked_less(rows(3), 0.5)])
def test_masked_arrays(masked):
    for call in (lambda: bulk(ADD, masked), lambda: bulk(ADD, rows(3), out=masked)):
        with pytest.raises(TypeError, match="is a masked array") as e:
            call()
        assert ".filled(value)" in e.value.diagnostic.hint
    assert bulk(ADD, masked.data).shape == (3, 4)


@pytest.mark.parametrize("dtype", [object, ">f4", "f8", "f2", "U3", "M8[s]", "V4", "i4", "c8"])
def test_other_types(dtype):
    other = np.zeros((3, 4), dtype)
    for call in (lambda: bulk(ADD, other), lambda: bulk(ADD, rows(3), out=other)):
        with pytest.raises(TypeError, match="expected float32"):
            call()


@pytest.mark.parametrize("p", [1 << 40, 1 << 60, (1 << 62) - 1])
def test_too_many_inputs(p):
    with pytest.raises(c2cu.CompileError, match="not enough memory") as e:
        bulk(SET, p=p)
    assert "c2cu.stream" in e.value.diagnostic.hint
    few = as_strided(rows(1), (min(p, 1 << 58), 4), (0, 4))
    with pytest.raises(c2cu.CompileError, match="not enough memory"):
        bulk(ADD, few)


@pytest.mark.parametrize("p", [-1, -(1 << 70), (1 << 62) + 1, 1 << 63, 1 << 70])
def test_no_number_of_inputs(p):
    with pytest.raises(c2cu.InputError, match="p cannot be"):
        bulk(SET, p=p)


POINTERS = "void k(float *a, float *b) { b[0] = a[0]; }\n"


@pytest.mark.parametrize("bits", [40, 44])
def test_too_large_an_output(bits):
    with pytest.raises(c2cu.CompileError, match="not enough memory"):
        bulk(POINTERS, {"a": rows(3)}, shapes={"b": 1 << bits})


@pytest.mark.parametrize("bits", [48, 53, 56, 62, 63, 64, 70, 200])
def test_an_extent_that_no_machine_has(bits):
    with pytest.raises(c2cu.InputError, match="'b' has .* bytes for each input"):
        bulk(POINTERS, {"a": rows(3)}, shapes={"b": 1 << bits})
    with pytest.raises(c2cu.Error, match="too large|has .* bytes for each input|not enough memory"):
        bulk(f"char a[1ul << {min(bits, 63)}], b[2];\nvoid k(void) {{ a[0] = 1; }}\n", p=1)


@pytest.mark.parametrize("declaration", ["char a[1l << 40]", "static char a[1l << 40]", "char a[1l << 33][1l << 29]"])
def test_an_object_of_the_program_that_is_too_large(declaration):
    with pytest.raises(c2cu.Error, match="bytes for each input|exceeds maximum object size"):
        bulk(f"int x;\nvoid k(void) {{ {declaration}; *(char *)a = x; x = *(char *)a; }}\n", np.ones(3, np.int32))


def test_a_machine_with_little_memory(monkeypatch):
    monkeypatch.setattr(memory, "most_memory", lambda: 1000)
    assert bulk(SET, p=250).shape == (250,)
    with pytest.raises(c2cu.CompileError, match="not enough memory"):
        bulk(SET, p=251)
    out = np.zeros(300, np.int32)
    assert bulk(SET, p=300, out=out) is out


def test_extents_follow_through_typedefs():
    text = (
        "#define N 4\n#define M 3\ntypedef float row[M]; typedef row table[N];\ntable g; row h;\n"
        "float k(void) { float s = 0; for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) s += g[i][j] * h[j];\n"
        "return s; }"
    )
    g, h = np.arange(90, dtype=np.float32).reshape(3, 5, 6), np.arange(18, dtype=np.float32).reshape(3, 6)
    assert (c2cu.bulk(text, {"g": g, "h": h}, backend="cpu") == np.einsum("pij,pj->p", g, h)).all()
    trace = "#define N 2\ntypedef double matrix[N][N];\ndouble k(matrix a) { double s = 0; for (int i = 0; i < N; i++) s += a[i][i]; return s; }"
    a = np.arange(98.0).reshape(2, 7, 7)
    assert (c2cu.bulk(trace, a, backend="cpu") == np.trace(a, axis1=1, axis2=2)).all()


UNION = """typedef union { float array[3]; struct { float x, y, z; } axis; } vector;
typedef struct { vector v; float g; } state;
float k(const state *s) { return s->v.axis.x + 10 * s->v.axis.y + 100 * s->v.axis.z + s->g; }
"""


def test_a_union_is_given_as_what_is_in_it():
    axis = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    for inside in ("f4", (3,)), axis, "V12":
        s = np.zeros(2, np.dtype([("v", *inside) if isinstance(inside, tuple) else ("v", inside), ("g", "f4")]))
        s.view("f4").reshape(2, 4)[:, :3] = [1, 2, 3]
        assert c2cu.bulk(UNION, {"s": s}, backend="cpu").tolist() == [321, 321]
    for t in [("v", "f4", (4,))], [("v", ">f4", (3,))], [("v", "S12")]:
        other = np.zeros(2, np.dtype([*t, ("g", "f4")]))
        with pytest.raises(c2cu.Error) as refused:
            c2cu.bulk(UNION, {"s": other}, backend="cpu")
        assert "astype" not in str(refused.value) and "fill its members" in str(refused.value)


def test_an_array_of_unions_is_given_as_what_is_in_them():
    text = "struct s { union { float f; short s[2]; } y[2]; int n; };\nint k(const struct s *v) { return v->y[1].s[1] + v->n; }\n"
    v = np.zeros(3, np.dtype([("y", "i2", (2, 2)), ("n", "i4")]))
    v["y"][:, 1, 1], v["n"] = 7, [0, 10, 20]
    assert c2cu.bulk(text, {"v": v}, backend="cpu").tolist() == [7, 17, 27]


@pytest.mark.parametrize("body", [
    "int *b = (int *)x; return b[3];", "unsigned char *b = (unsigned char *)x; b[9] = 1; return 0;", "int *b = (int *)x; return b[-1];",
    "float *q = (float *)x; double *r = (double *)q; return r[1] > 0;", "struct p { int a[4]; } *q = (struct p *)x; return q->a[2];",
])  # fmt: skip
def test_what_lies_behind_the_one_element_of_a_pointer(body):
    with pytest.raises(c2cu.Error) as refused:
        c2cu.bulk(f"int k(double *x) {{ {body} }}\n", {"x": np.zeros(3)}, backend="cpu")
    assert refused.value.code == "C2CU201"


def test_the_bytes_of_one_struct_are_no_more_than_it():
    text = """#include <stddef.h>
    typedef struct { unsigned a, b; } packet;
    static unsigned sum(const void *p, size_t n) { const unsigned char *d = p; unsigned c = 0; while (n--) c += *d++; return c; }
    unsigned k(packet *p) {
        const unsigned char *d = (const unsigned char *)p;
        unsigned c = sum(p, sizeof *p);
        for (int i = 0; i < 8; i++) c = c * 31 + d[i];
        return p->b = c;
    }
    """
    p = np.random.default_rng(1).integers(0, 1 << 32, (5, 2), np.uint32)
    structs = p.view(np.dtype([("a", "u4"), ("b", "u4")]))[:, 0]
    by_gang, by_native = (
        c2cu.bulk(text, {"p": structs}, fn="k", backend="cpu", schedule=s) for s in ("gang", "native")
    )
    assert by_gang["return"].tolist() == by_native["return"].tolist() == by_gang["p"]["b"].tolist()
