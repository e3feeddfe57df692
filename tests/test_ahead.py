"""What goes on beside something else: native compiled while a program is traced, functions compared while a text that
relies on them is compiled."""

import threading

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.base.aside import Aside
from c2cu.runtime import native
from c2cu.schedule.gang import same_bits

pytestmark = pytest.mark.usefixtures("kept_programs")


def tree(depth: int, at: int = 1) -> str:
    """Branches on data, as a decision tree has them."""
    if not depth:
        return f"y += {at}; z *= y;"
    return f"if (x[{at % 4}] < {at % 7}) {{ {tree(depth - 1, 2 * at)} }} else {{ {tree(depth - 1, 2 * at + 1)} }}"


TREES = "\n".join(tree(6, k) for k in range(1, 9))
FOREST = f"double x[4];\ndouble forest(void) {{\ndouble y = 0, z = 1;\n{TREES}\nreturn y + z;\n}}\n"
SUMS = "double x[4];\ndouble sums(void) { double y = 0; for (int i = 0; i < 4; i++) y += x[i]; return y; }\n"
SINES = "#include <math.h>\ndouble k(double x) { return sin(x) + exp(x); }\n"


@pytest.fixture
def builds(monkeypatch):
    """The texts that native is compiled of; one waits for `begun`."""
    texts, build = [], native.build
    begun = threading.Event()

    def noted(artifact, *rest):
        texts.append(artifact.text)
        begun.set()
        return build(artifact, *rest)

    monkeypatch.setattr(native, "build", noted)
    return texts, begun


@pytest.mark.parametrize("schedule", ["auto", "native"])
def test_native_is_compiled_while_the_program_is_traced(schedule, builds, monkeypatch):
    texts, begun = builds
    trace, early = pipeline.trace, []

    def traced(*which, **numbers):
        early.append(begun.wait(20))
        return trace(*which, **numbers)

    monkeypatch.setattr(pipeline, "trace", traced)
    program = c2cu.compile(FOREST, backend="cpu", schedule=schedule, verify=False)
    assert early == [True] and len(texts) == 1
    assert program.plan.schedule == "native" and program.source == texts[0]
    x = np.random.default_rng(0).uniform(-9, 9, (99, 4))
    assert np.array_equal(program(x), c2cu.bulk(FOREST, x, backend="cpu", schedule="gang", verify=False))


def test_what_does_not_run_under_native_is_not_compiled_for_it(builds):
    assert c2cu.compile(SUMS, backend="cpu", verify=False).plan.schedule == "gang"
    assert c2cu.compile(FOREST, backend="cpu", schedule="gang", verify=False).plan.schedule == "gang"
    assert not builds[0]


def test_what_fails_ahead_fails_where_it_is_needed(monkeypatch):
    def fails(*_):
        raise c2cu.CompileError("C2CU000", "no room")

    monkeypatch.setattr(native, "build", fails)
    with pytest.raises(c2cu.CompileError, match="no room"):
        c2cu.compile(FOREST.replace("z = 1", "z = 3"), backend="cpu", verify=False)


def test_an_output_that_there_is_not_is_told_after_what_is_wrong_with_the_program():
    wrong = FOREST.replace("return y + z", "return y + x[4]")
    with pytest.raises(c2cu.UnsupportedError, match="outside"):
        c2cu.compile(wrong, backend="cpu", outputs=["nothing"])


def test_functions_are_compared_while_the_text_is_compiled(monkeypatch):
    kinds, compared = [], same_bits.compared

    def noted(names):
        kinds.append(threading.current_thread().name)
        return compared(names)

    monkeypatch.setattr(same_bits, "compared", noted)
    program = c2cu.compile(SINES, backend="cpu", schedule="gang", verify=False)
    if not program.loaded.artifact.functions:
        pytest.skip("the functions of this machine's library are others")
    assert kinds == ["c2cu-aside"] and program.loaded.artifact.functions == ("exp", "sin")


def test_a_function_that_turns_out_to_be_another_is_not_in_the_text(monkeypatch):
    monkeypatch.setattr(same_bits, "NEEDS", set())
    monkeypatch.setattr(same_bits, "compared", lambda names: dict.fromkeys(names, b"different") | {"exp": b"equal"})
    for _ in range(2):  # made, and kept
        program = c2cu.compile(SINES, backend="cpu", schedule="gang", verify=False)
        assert "lanes_sin" not in program.source and "lanes_exp" in program.source
        assert (program.loaded.artifact.functions, program.loaded.artifact.alone) == (("exp",), ("sin",))


def test_a_call_beside_has_a_result_or_raises():
    assert Aside(lambda: 6 * 7).result() == 42
    with pytest.raises(ZeroDivisionError):
        Aside(lambda: 1 // 0).result()
