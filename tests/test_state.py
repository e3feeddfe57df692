"""Variables that stay from step to step, against gcc's build of the same C whose function is called again and again."""

import ctypes
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base.mathematics import mathematics
from tests.compiled import compiled_once, loaded
from tests.oracle import FLAGS, same

ROOT = Path(__file__).parents[1]
WALK = """unsigned seed = 1;
double x, total = 0.5;
static int n;
struct body { short pos; double v; } body = {3, 1.5};
int goal = 7, action;
float view[4];
int reached;
double walk(double push) {
    seed = seed * 1664525u + 1013904223u;
    n++;
    x += action * push + (seed >> 28);
    total += x;
    body.pos += action;
    body.v *= 0.75;
    reached = body.pos == goal;
    for (int j = 0; j < 4; j++) view[j] = body.v * j + n;
    return total;
}
"""
SKIP = """int left, n;
void f(int k) { while (left > k) left -= 3; n += left; left += 5; }
"""


FIRST: dict[tuple, bytes] = {}  # what a library's variables are before anything runs


class Loop:
    """p copies of a program's own variables, whose kernel gcc's build calls step after step.

    ``variables``: dtype and shape of the globals, by name; ``parameters``: the C types of the kernel's parameters."""

    def __init__(self, text, fn, variables, parameters, p, returns=None):
        text += "".join(f"\nvoid *address_of_{n}(void) {{ return (void *)&{n}; }}" for n in variables)
        path = compiled_once(["gcc", "-O1", *FLAGS, "-shared", "-fPIC", "-x", "c", "-", "-lm"], text)
        library = loaded(path)
        self.fn = getattr(library, fn)
        self.fn.argtypes, self.fn.restype = parameters, returns
        self.p, self.at, self.values = p, {}, {}
        for name, (dtype, shape) in variables.items():
            address = getattr(library, f"address_of_{name}")
            address.restype = ctypes.c_void_p
            nbytes = np.dtype(dtype).itemsize * int(np.prod(shape))
            self.at[name] = address(), nbytes
            start = FIRST.setdefault((path, name), ctypes.string_at(address(), nbytes))
            row = np.frombuffer(start, dtype).reshape(shape)
            self.values[name] = np.repeat(row[None], p, 0).copy()

    def step(self, arguments, **inputs):
        """One step of each; what they return."""
        for name, value in inputs.items():
            self.values[name][...] = value
        returned = []
        for k in range(self.p):
            for name, (address, nbytes) in self.at.items():
                ctypes.memmove(address, self.values[name][k : k + 1].tobytes(), nbytes)
            returned.append(self.fn(*(a[k].item() for a in arguments)))
            for name, (address, nbytes) in self.at.items():
                row = np.frombuffer(ctypes.string_at(address, nbytes), self.values[name].dtype)
                self.values[name][k] = row.reshape(self.values[name].shape[1:])
        return returned


BODY = np.dtype({"names": ["pos", "v"], "formats": ["i2", "f8"], "offsets": [0, 8], "itemsize": 16})
VARIABLES = {
    "seed": ("u4", ()), "x": ("f8", ()), "total": ("f8", ()), "n": ("i4", ()), "body": (BODY, ()),
    "goal": ("i4", ()), "action": ("i4", ()), "view": ("f4", (4,)), "reached": ("i4", ()),
}  # fmt: skip
STAYS = ("seed", "x", "total", "n", "body")


def compiled(text, **options):
    return c2cu.compile(text, backend="cpu", **options)


@pytest.mark.parametrize("schedule", ["gang", "native"])
@pytest.mark.parametrize("p", [1, 37])
def test_steps_are_those_of_the_loop(schedule, p):
    state = compiled(WALK, schedule=schedule).state(p)
    loop = Loop(WALK, "walk", VARIABLES, [ctypes.c_double], p, ctypes.c_double)
    rng = np.random.default_rng(0)
    assert state.names == STAYS and list(state) == list(STAYS) and len(state) == 5
    for name in STAYS:
        assert same(state[name], loop.values[name]), name
    for _ in range(6):
        action, push = rng.integers(-3, 4, p).astype("i4"), rng.random(p)
        result = state.step({"action": action, "push": push})
        returned = loop.step([push], action=action)
        assert list(result) == ["view", "reached", "return"]
        assert same(result["return"], np.array(returned))
        for name in ("view", "reached"):
            assert same(result[name], loop.values[name]), name
        for name in STAYS:
            assert same(state[name], loop.values[name]), name
    assert len(state._calls) == 1


def test_data_ends_the_loops():
    p, rng = 50, np.random.default_rng(0)
    left = rng.integers(0, 90, p).astype("i4")
    state = compiled(SKIP).state(p, {"left": left})
    loop = Loop(SKIP, "f", {"left": ("i4", ()), "n": ("i4", ())}, [ctypes.c_int], p)
    loop.values["left"][:] = left
    for _ in range(5):
        k = rng.integers(-5, 20, p).astype("i4")
        assert state.step(k) == {}
        loop.step([k])
        assert same(state["left"], loop.values["left"]) and same(state["n"], loop.values["n"])


def test_first_values_may_be_given_and_come_again():
    x, program = np.arange(3.0), compiled(WALK)
    state = program.state(3, {"x": x, "goal": 4, "total": 2.0})
    first = {n: state[n].copy() for n in state}
    assert state.names == (*STAYS, "goal") and state["goal"].tolist() == [4] * 3 and state["total"].tolist() == [2] * 3
    x += 1  # is the user's
    action, push = np.array([1, 0, 0], "i4"), np.ones(3)
    assert state.step({"action": action, "push": push})["reached"].tolist() == [1, 0, 0]
    after = {n: state[n].copy() for n in state}
    state.reset(np.array([False, True, False]))
    for n in state:
        assert same(state[n][1], first[n][1]) and same(state[n][::2], after[n][::2])
    state.reset()
    assert all(same(state[n], first[n]) for n in state)


def test_views_can_be_written_to():
    state, two = compiled(WALK).state(2), np.zeros(2)
    inputs = {"action": np.zeros(2, "i4"), "push": two}
    state.step(inputs)
    x = state["x"]
    state["x"] = two
    state["n"][1] = 40
    state["total"] = 1
    state.step(inputs)
    assert state["x"] is x and state["n"].tolist() == [2, 41] and np.array_equal(state["total"], 1 + x)


def test_results_are_new_arrays_or_the_users():
    state, inputs = compiled(WALK).state(2), {"action": np.ones(2, "i4"), "push": np.ones(2)}
    results = [state.step(inputs)["view"] for _ in range(4)]
    assert [r[0, 0] for r in results] == [1, 2, 3, 4]
    out = np.empty((2, 4), "f4")
    for n in (5, 6):
        assert state.step(inputs, out={"view": out})["view"] is out and out[0, 0] == n


@pytest.mark.slow
def test_outputs_that_are_named_come_out_as_copies():
    program = compiled(WALK, outputs=["n", "reached"])
    state, inputs = program.state(2), {"action": np.ones(2, "i4"), "push": np.ones(2)}
    results = [state.step(inputs) for _ in range(4)]
    assert [sorted(r) for r in results] == [["n", "reached"]] * 4
    assert [r["n"].tolist() for r in results] == [[k, k] for k in (1, 2, 3, 4)]
    one = compiled(WALK, outputs=["n"]).state(2)
    assert one.step(inputs).tolist() == [1, 1]


@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_what_is_only_written_comes_out(schedule):
    """Though elements that a step does not write stay from the step before, as in C."""
    text = "int a[3], n, out[3], sum;\nvoid f(void) { for (int i = 0; i < n; i++) { out[i] = a[i]; sum += a[i]; } }\n"
    state = c2cu.compile(text, backend="cpu", schedule=schedule).state(2)
    results = [
        state.step({"a": np.full((2, 3), k, "i4"), "n": np.array(n, "i4")}) for k, n in ((5, [3, 2]), (6, [1, 0]))
    ]
    assert [r.tolist() for r in results] == [[[5, 5, 5], [5, 5, 0]], [[6, 5, 5], [5, 5, 0]]]
    assert state["sum"].tolist() == [21, 10]


def test_an_input_may_be_a_view_of_the_state():
    text = "int a[4], b[4], c[4];\nvoid f(void) { for (int i = 0; i < 4; i++) { a[i] += c[3 - i]; b[i] = a[i]; } }\n"
    state, plain = compiled(text).state(5), compiled(text).state(5)
    rows = np.arange(20, dtype="i4").reshape(5, 4)
    state["a"] = plain["a"] = rows
    for _ in range(3):
        plain.step(plain["a"].copy())
        state.step(state["a"])
        assert same(state["a"], plain["a"])


def test_a_struct_that_a_pointer_parameter_points_to():
    text = """typedef struct { int position; float speed; } Car;
float drive(Car *car, float force) { car->speed += force; car->position += car->speed; return car->speed; }
"""
    dtype = np.dtype([("position", "i4"), ("speed", "f4")])
    program = compiled(text)
    with pytest.raises(c2cu.InputError, match="'car' is missing(.|\n)*initial values"):
        program.state(3)
    state = program.state(3, {"car": np.zeros(3, dtype)})
    for _ in range(3):
        speed = state.step(np.ones(3, "f4"))
    assert speed.tolist() == [3, 3, 3] and state["car"]["position"].tolist() == [6, 6, 6]


def test_lengths_that_the_first_values_tell():
    text = "#define N 4\nint a[N], w[N];\nvoid f(int k) { for (int i = 0; i < N; i++) a[i] += k * w[i]; }\n"
    w = np.arange(14, dtype="i4")
    state = compiled(text, shared=["w"]).state(3, {"a": np.zeros((3, 7), "i4")}, shared={"w": w[::2]})
    for _ in range(3):
        state.step({"k": 2})
    assert state["a"].tolist() == [(6 * w[::2]).tolist()] * 3


def test_column_layout():
    action, push = np.ones(3, "i4"), np.arange(3.0)
    text = "int a[4], k;\nvoid f(void) { for (int i = 0; i < 4; i++) a[i] += k * i; }\n"
    rows, columns = compiled(text).state(3), compiled(text, layout="column").state(3)
    for _ in range(3):
        rows.step(action)
        columns.step(action)
    columns.reset(push > 1)
    assert (
        columns["a"].shape == (4, 3) and same(columns["a"].T[:2].copy(), rows["a"][:2]) and not columns["a"][:, 2].any()
    )


def test_what_ends_early_keeps_what_it_was():
    text = "#include <stdlib.h>\nint n;\nint f(int k) { n += k; if (n > 4) exit(3); n += 10 * (k < 0); return n; }\n"
    state, k = compiled(text).state(2), np.array([1, 3], "i4")
    assert state.step(k).tolist() == [1, 3]
    for expected in (6, 9):
        with pytest.raises(c2cu.ExitError) as e:
            state.step(k)
        assert e.value.status.tolist() == [0, 3] and e.value.outputs[0] == state["n"][0]
        assert state["n"][1] == expected
    state.reset(e.value.early)
    assert state["n"].tolist() == [3, 0]
    told = compiled(text, status=True).state(2)
    results = [told.step(k) for _ in range(3)]
    assert [r["status"].tolist() for r in results] == [[0, 0], [0, 3], [0, 3]]


def test_verified_at_first(monkeypatch):
    monkeypatch.setenv("C2CU_VERIFY", "strict")
    state = compiled(WALK).state(2)
    for n in (1, 2, 3):
        state.step({"action": np.ones(2, "i4"), "push": np.ones(2)})
        assert state["n"].tolist() == [n, n]


LOST = {
    "a static local": ("int f(int a) { static int n = 3; n += a; return n; }\n", "static local 'n'"),
    "tokens": (
        '#include <string.h>\nchar a[8];\nint x;\nvoid f(void) { x += strtok(a, ",") != 0; }\n',
        "'strtok' remembers",
    ),
    "an address": ("int *q, a[4], x;\nvoid f(int k) { if (k) q = a; x += q ? q[1] : 0; }\n", "the address in 'q'"),
    "an address in a struct": (
        "struct s { int n, *at; } s;\nint a[4];\nvoid f(int k) { if (s.n) s.n += *s.at; else s.at = a + 1, s.n = k; }\n",
        "the address in 's.at'",
    ),
}


@pytest.mark.parametrize("text, what", LOST.values(), ids=LOST)
def test_what_no_variable_holds_is_refused(text, what):
    with pytest.raises(c2cu.UnsupportedError, match=f"{what} would be lost"):
        compiled(text).state(3)


DRAWS = """#include <stdlib.h>
int total, last, again;
double sum;
void draw(int many) {
    for (int i = 0; i < many; i++) last = rand() % 100;
    total += last;
    sum += drand48();
    if (total > again) srand(total), again += 1000;
}
"""
SEEDS = np.array([0, 1, 2, 127773, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)


def drawn(seed: int, many: int, steps: int) -> tuple[int, float]:
    """What DRAWS has after so many steps from a seed, by the C library's own functions."""
    libc = ctypes.CDLL("libc.so.6")
    libc.drand48.restype = ctypes.c_double
    libc.srand(ctypes.c_uint(seed))
    libc.srand48(ctypes.c_long(seed))
    total = last = again = 0
    total_sum = 0.0
    for _ in range(steps):
        for _ in range(many):
            last = libc.rand() % 100
        total += last
        total_sum += libc.drand48()
        if total > again:
            libc.srand(total)
            again += 1000
    return total, total_sum


@pytest.mark.skipif(not mathematics().startswith("glibc"), reason="the numbers are glibc's")
@pytest.mark.parametrize("layout", ["row", "column"])
@pytest.mark.parametrize("schedule", ["gang", "native"])
def test_random_numbers_go_on_from_step_to_step(schedule, layout):
    program = c2cu.compile(DRAWS, fn="draw", backend="cpu", schedule=schedule, layout=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = program.state(len(SEEDS), {"srand": SEEDS, "srand48": SEEDS})
        for _ in range(2):
            for _ in range(25):
                state.step({"many": 3})
            expected = [drawn(int(s), 3, 25) for s in SEEDS]
            assert state["total"].tolist() == [total for total, _ in expected]
            assert state["sum"].tolist() == [s for _, s in expected]
            state.reset()


@pytest.mark.skipif(not mathematics().startswith("glibc"), reason="the numbers are glibc's")
def test_random_numbers_that_nobody_seeds_are_a_fresh_process_s():
    program = c2cu.compile(DRAWS, fn="draw", backend="cpu", outputs=["total"])
    script = "import ctypes; libc = ctypes.CDLL('libc.so.6'); print([libc.rand() % 100 for _ in range(2)][1])"
    state = program.state(3)
    last = int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
    assert state.step({"many": 2}).tolist() == [last] * 3
    state = program.state(3, {"srand": 1})
    assert state.step({"many": 2}).tolist() == [last] * 3
    with pytest.raises(c2cu.InputError, match="'srand'"):
        program.state(3, {"srand": np.ones(2, np.uint32)})
    with pytest.raises(c2cu.InputError, match="'srand'.*uint32"):
        program.state(3, {"srand": np.ones(3)})


def test_what_looks_like_it_and_is_not():
    """A table that is only read, and an address that is."""
    text = "static int a[4] = {1, 2, 3, 4}, *q = a + 1;\nint x;\nvoid f(int k) { static int w[2] = {3, 5}; x += q[1] * w[k & 1]; }\n"
    state = compiled(text).state(2)
    for _ in range(2):
        state.step({"k": np.array([0, 1], "i4")})
    assert state["x"].tolist() == [18, 30]


MISTAKES = {
    "unknown": (lambda s: s["y"], "unknown state variable 'y'"),
    "unknown, written": (lambda s: s.__setitem__("totl", 1), "did you mean 'total'"),
    "of the state": (lambda s: s.step({"x": np.ones(2), "action": np.ones(2, "i4")}), "'x' is a variable of the state"),
    "unknown input": (lambda s: s.step({"act": np.ones(2, "i4")}), "unknown input 'act'"),
    "another p": (lambda s: s.step({"action": np.ones(3, "i4"), "push": np.ones(2)}), "p is 2, but 'action' has 3"),
    "another dtype": (lambda s: s.step({"action": np.ones(2), "push": np.ones(2)}), "dtype"),
    "missing": (lambda s: s.step({"action": np.ones(2, "i4")}), "'push' is missing"),
    "bare": (lambda s: s.step(np.ones((3, 2))), "one array is given without a name"),
    "a value's shape": (lambda s: s.__setitem__("x", np.ones((2, 2))), "expected"),
    "a value's p": (lambda s: s.__setitem__("x", np.ones(3)), "p is 2, but 'x' has 3"),
    "a mask's shape": (lambda s: s.reset(np.ones(3, bool)), r"expected \(2,\) and bool"),
    "a mask's dtype": (lambda s: s.reset(np.ones(2, int)), r"expected \(2,\) and bool"),
    "no mask": (lambda s: s.reset([True, False]), r"expected \(2,\) and bool"),
    "out": (lambda s: s.step({"action": np.ones(2, "i4"), "push": np.ones(2)}, out={"x": np.ones(2)}), "unknown output"),
    "bare out": (lambda s: s.step({"action": np.ones(2, "i4"), "push": np.ones(2)}, out=np.ones(2)), "out= is one array"),
}  # fmt: skip


@pytest.fixture(scope="module")
def walking():
    return compiled(WALK).state(2)


@pytest.mark.parametrize("mistake, said", MISTAKES.values(), ids=MISTAKES)
def test_mistakes(walking, mistake, said):
    with pytest.raises(c2cu.InputError, match=said):
        mistake(walking)


def test_mistakes_at_first():
    program = compiled(WALK)
    for initial, said in (
        ({"y": 1}, "unknown state variable 'y'"),
        ({"view": np.ones((2, 4), "f4")}, "unknown state variable 'view'"),
        ({"x": np.ones(3)}, "p is 2, but 'x' has 3"),
        ({"x": np.ones(2, "f4")}, "dtype"),
        ({"n": 2.5}, "does not fit"),
        ([1], "a dict by the C names"),
    ):
        with pytest.raises(c2cu.InputError, match=said):
            program.state(2, initial)
    for p in (-1, "two"):
        with pytest.raises(c2cu.InputError):
            program.state(p)
    with pytest.raises(c2cu.UnsupportedError, match="leaves nothing for its next call"):
        compiled("int f(int a) { return a; }\n").state(3)


def test_no_inputs_at_all():
    state = compiled(WALK).state(0)
    assert state.step({"action": np.ones(0, "i4"), "push": np.ones(0)})["view"].shape == (0, 4)


def test_the_snake(capsys):
    """examples/snake: each player's games are those of the C program's own loop."""
    example = runpy.run_path(str(ROOT / "examples" / "snake" / "__main__.py"), run_name="snake")
    with warnings.catch_warnings():
        assert example["main"](20) == 0
    said = capsys.readouterr()
    assert "20,000 steps" in said.out and not said.err


def test_a_step_beside_calls_of_other_lengths(monkeypatch):
    """What a state remembers of a step is what the step was, whatever another thread has the program do meanwhile."""
    text = "void f(int n, int s[]) { for (int i = 0; i < n; i++) s[i]++; }"
    program = c2cu.compile(text, backend="cpu", shapes={"s": (8,)}, verify=False)
    state = program.state(2, {"s": np.zeros((2, 8), "i4")}, shared={"n": 8})
    remember = type(state)._remember

    def late(self, *how):
        program({"s": np.zeros((5, 8), "i4")}, shared={"n": 2})
        remember(self, *how)

    monkeypatch.setattr(type(state), "_remember", late)
    for _ in range(3):
        state.step()
    assert (state["s"] == 3).all()


def test_every_length_is_known_beforehand():
    text = (
        "void f(int n, float s[4], const float *x, float *y) { for (int i = 0; i < n; i++) s[0] += x[i]; *y = s[0]; }"
    )
    with pytest.raises(c2cu.InputError, match="C2CU050"):
        c2cu.compile(text, backend="cpu").state(2, {"s": np.zeros((2, 4), "f4")})


def test_ctrl_c_takes_nothing_along(monkeypatch):
    """Threads may go on with an interrupted step: not on what the state is from then on."""
    state = c2cu.compile("int n;\nvoid f(void) { n++; }", backend="cpu", verify=False).state(3)
    state.step()
    before = state["n"]

    def interrupted(*how):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(type(state), "_stepped", interrupted)
        state.step()
    before[...] = 99
    assert state["n"].tolist() == [1, 1, 1]
    state.step()
    assert state["n"].tolist() == [2, 2, 2]


def test_what_is_no_input_of_a_step_is_refused_with_the_inputs_of_one():
    program = c2cu.compile("int n, x;\nvoid step(int a) {\n    n += a;\n    x = n;\n}\n", backend="cpu")
    with pytest.raises(c2cu.InputError) as e:
        program.state(p=2).step({"zz": np.zeros(2, np.int32)})
    assert (e.value.code, e.value.diagnostic.hint) == ("C2CU041", "the inputs: a")


def test_a_static_array_that_data_chooses_from_stays():
    text = (
        "static int buf[4], pos;\nint x, o;\nvoid k(void) {\n    buf[pos & 3] = x;\n    pos++;\n    o = 0;\n"
        "    for (int i = 0; i < 4; i++) o += buf[i];\n}\n"
    )
    state = c2cu.compile(text, backend="cpu").state(2)
    steps = [state.step({"x": np.full(2, x, np.int32)}) for x in (1, 2, 3, 4, 5)]
    assert [int((s["o"] if isinstance(s, dict) else s)[0]) for s in steps] == [1, 3, 6, 10, 14]
