"""The analysis never calls uniform what is not: kernels executed lane by lane and in lockstep agree."""

import numpy as np
import pytest

import c2cu
from c2cu.analysis import webs
from c2cu.frontend.preprocess import Source
from c2cu.ir.verify import verify
from c2cu.pipeline import Options, understand
from tests import ir_interpreter
from tests.oracle import Original, same
from tests.programs import SEED, share, write
from tests.workloads import EXAMPLES

LANES = 4


def elements(name: str, array: np.ndarray):
    """(region's name, elements) of one input; a struct is one region a field."""
    if array.dtype.names:
        for field in array.dtype.names:
            yield from elements(f"{name}.{field}", array[field])
    else:
        yield name, array.ravel().tolist()


@pytest.mark.parametrize("number", range(share(20, 8)))
def test_uniform_is_uniform(number):
    program = write(SEED * 10**9 + number)
    front = understand(Source("<input>", program.text), Options(fn="kern"))
    if front.analysis is None:
        return
    verify(front.analysis.kernel)
    arrays = program.inputs(LANES, number)
    inputs = [dict(pair for n in arrays for pair in elements(n, arrays[n][k])) for k in range(LANES)]
    together = ir_interpreter.run(front.analysis.kernel, inputs, front.analysis)
    alone = [ir_interpreter.run(front.analysis.kernel, [one]).memory[0] for one in inputs]
    assert repr(together.memory) == repr(alone)
    assert together.split <= {f.kind for f in front.analysis.findings}, "it diverged where no finding says so"


ARMS = """
int a[800];
void kern(void) {
    for (int i = 0; i < 700; i++) {
        int k = i;
        if (a[799] > 0) {
            if (i < 200) k = 500;
            a[k] += 1;
        } else
            a[k] += 2;
    }
}
"""


def test_an_arm_keeps_what_the_other_assigns_to_uniform_variables():
    """Lanes in both arms: the second arm must not see the first one's k."""
    a = np.zeros((5, 800), np.int32)
    a[::2, 799] = 1
    expected = Original(ARMS, "kern", [("a", "int32", (800,))]).bulk({"a": a}, 5)["a"]
    assert same(c2cu.compile(ARMS, fn="kern", backend="cpu", schedule="gang")({"a": a}), expected)
    kernel = understand(Source("<input>", ARMS), Options(fn="kern")).analysis
    ran = ir_interpreter.run(kernel.kernel, [{"a": x.tolist()} for x in a], kernel)
    assert [m["a"] for m in ran.memory] == expected.tolist()


@pytest.mark.parametrize("name", ["floyd_warshall", "bitonic_sort", "montgomery", "prefix_sums"])
def test_ir_of_examples_is_valid(name):
    front = understand(Source(name, (EXAMPLES / f"{name}.c").read_text()), Options())
    assert front.kernel is not None and front.analysis is not None
    verify(front.kernel)
    verify(front.analysis.kernel)


def test_verify_sees_a_wrong_type():
    front = understand(Source("<input>", "float a[2]; void f(void) { a[0] = a[1] + 1; }\n"), Options())
    store = front.kernel.body[-1]
    broken = front.kernel.__class__(
        **{**vars(front.kernel), "body": (store.__class__(store.region, store.index, store.index),)}
    )
    with pytest.raises(AssertionError, match="a value of type .* in a region of type float"):
        verify(broken)


def test_loops_in_one_another_take_no_power_of_time(monkeypatch):
    """Each level goes through its body once more for the levels around it, and not twice as often."""
    visits = []
    original = webs._WebAnalysis.loop
    monkeypatch.setattr(webs._WebAnalysis, "loop", lambda a, s, state: visits.append(s) or original(a, s, state))
    body = "a[0] += 1;"
    for k in range(14):
        body = f"for (int i{k} = 0; i{k} < 2; i{k}++) {{ {body} }}"
    kernel = understand(Source("<input>", f"int a[4];\nvoid kern(void) {{ {body} }}\n"), Options()).kernel
    assert kernel is not None
    visits.clear()
    webs.webs(kernel)
    assert 14 <= len(visits) <= 14 * 14
