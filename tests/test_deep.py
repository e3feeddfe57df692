"""Room for deep recursion: any number of threads, and the process's limits as they were."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import c2cu
from c2cu.frontend.options import Options
from c2cu.frontend.parse import DEPTH, deep
from c2cu.frontend.preprocess import Source
from c2cu.pipeline import understand
from c2cu.report import stages
from c2cu.report.explain import explanation
from tests.sample import sampled


def down(n: int) -> int:
    return 0 if n == 0 else 1 + down(n - 1)


@pytest.fixture
def limits():
    before = sys.getrecursionlimit(), threading.stack_size()
    yield
    assert (sys.getrecursionlimit(), threading.stack_size()) == before


@pytest.mark.usefixtures("limits")
def test_eight_threads_in_check():
    text = "int a[8];\nvoid k(void) { for (int i = 0; i < 8; i++) a[i] = a[7 - i]; }\n"
    with ThreadPoolExecutor(8) as pool:
        assert all(r.oblivious for r in pool.map(c2cu.check, [text] * 24))


@pytest.mark.usefixtures("limits")
def test_the_limit_stays_until_the_last_thread_ends():
    """Seven end while the eighth is still deep down."""
    begun, ended = threading.Barrier(8), threading.Event()

    def work(k: int) -> int:
        begun.wait(60)
        if k == 0:
            ended.wait(60)
            assert sys.getrecursionlimit() == DEPTH
        return down(20_000)

    with ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(deep, lambda k=k: work(k)) for k in range(8)]
        assert [t.result(60) for t in tasks[1:]] == [20_000] * 7
        ended.set()
        assert tasks[0].result(60) == 20_000


@pytest.mark.usefixtures("limits")
def test_what_fails_inside_is_raised_outside():
    def work() -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        deep(lambda: deep(work))


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "x = " + " + ".join(f"a[{k % 64}] * {k}.0" for k in range(20_000)) + ";",
        "if (x == 0) x = 1;" + "".join(f" else if (x == {k}) x = {k * 7};" for k in range(1, 3000)),
        "switch ((int)x) {" + "".join(f" case {k}: x = {k * 7}; break;" for k in range(3000)) + "}",
    ],
    ids=["terms", "else if", "cases"],
)
def test_long_programs_are_analysed(body):
    """In seconds: each stage takes time in proportion, or nearly."""
    assert c2cu.check(f"double a[64], x;\nvoid k(void) {{ {body} }}\n").oblivious


@pytest.mark.parametrize(
    "body, line",
    [
        pytest.param("if (x)\n" * 1001 + "x++;", 1002, id="if"),
        pytest.param("for (;;)\n" * 1001 + "x++;", 1002, id="for"),
        pytest.param("x =\n" * 25_001 + "x;", 25_000, id="assignment", marks=pytest.mark.slow),
    ],
)
def test_what_is_nested_too_deeply_is_an_error_with_its_line(body, line):
    with pytest.raises(c2cu.ParseError, match="nested more than") as e:
        c2cu.check(f"int x;\nvoid k(void) {{ {body} }}\n")
    assert e.value.code == "C2CU106" and abs(e.value.line - line) < 9


@pytest.mark.parametrize(
    "head, body",
    [
        ("", "for (; x > 9;) " * 51 + "x -= 7;"),
        ("", "x = " + "x > 9 ? 1 : " * 1001 + "2;"),
        ("", "x = x > 3" + " && x < 90" * 1001 + ";"),
        pytest.param(
            "static int f0(int a) { return a; }\n"
            + "".join(f"static int f{k}(int a) {{ return f{k - 1}(a); }}\n" for k in range(1, 1010)),
            "x = f1009(x);",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["loops", "ternaries", "conjunction", "calls"],
)
def test_what_is_nested_too_deeply_for_analyses_runs_natively(head, body):
    text = f"int x;\n{head}void k(void) {{ {body} }}\n"
    program = c2cu.compile(text, fn="k", backend="cpu")
    assert "nested more than" in program.report.why_not and program.plan.schedule == "native"


@pytest.mark.slow
def test_else_ifs_are_not_nested():
    text = "if (x == 0) x = 1;" + "".join(f" else if (x == {k}) x = {k * 7};" for k in range(1, 1100))
    assert not c2cu.check(f"int x;\nvoid k(void) {{ {text} }}\n").why_not


@pytest.mark.costly
@pytest.mark.parametrize(
    "work",
    sampled(
        [
            lambda text: c2cu.translate(text, p=3),
            lambda text: c2cu.translate(text, p=3, target="cpu"),
            lambda text: stages.emit(Source("k.c", text), Options(), "ast"),
            lambda text: stages.emit(Source("k.c", text), Options(), "ir"),
            lambda text: explanation(understand(Source("k.c", text), Options()), "cpu", "auto", 3, "exact", "here"),
        ],
        1,
    ),
    ids=["cuda", "cpu", "ast", "ir", "explain"],
)
def test_what_is_printed_may_be_deep_too(work):
    body = "x = x" + "".join(f" * {k}.5f + x" for k in range(600)) + ";"
    assert work(
        f"float x;\nvoid k(void) {{ {body} }}\nint main(void) {{\n#pragma kernel\n    k();\n    return 0;\n}}\n"
    )
