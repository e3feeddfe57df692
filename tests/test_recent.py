"""What a process remembers is bounded: programs, loaded libraries; and a header that changes is noticed."""

import gc
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import c2cu
from c2cu import api, pipeline
from c2cu.base.recent import Recent
from c2cu.runtime import cpu

TEXT = "float a[8];\nvoid k(void) { for (int i = 0; i < 8; i++) a[i] += %d.5f; }\n"


def test_the_least_recently_used_value_goes():
    table, made = Recent(2), []

    def value(key):
        return table.of(key, lambda: made.append(key) or key)

    assert [value(k) for k in "abab"] == list("abab") and made == ["a", "b"]
    assert value("c") == "c" and "a" not in table and len(table) == 2
    assert value("b") == "b" and value("a") == "a" and made == ["a", "b", "c", "a"]


def test_one_thread_makes_a_value_and_the_others_wait():
    table, made = Recent(4), []

    def make():
        time.sleep(0.05)
        made.append(0)
        return object()

    with ThreadPoolExecutor(8) as pool:
        values = set(pool.map(lambda _: table.of("a", make), range(32)))
    assert len(values) == len(made) == 1


def test_what_failed_is_made_anew():
    table, failing = Recent(4), threading.Event()
    failures = []

    def make():
        if not failures:
            failures.append(0)
            failing.wait(10)
            raise KeyError("a")
        return 1

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(table.of, "a", make)
        while not failures:
            time.sleep(0.001)
        second = pool.submit(table.of, "a", make)
        failing.set()
        with pytest.raises(KeyError):
            first.result()
        assert second.result() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_does_not_wait_for_its_parents_threads():
    table, started, end = Recent(4), threading.Event(), threading.Event()
    table.of("known", lambda: 1)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(table.of, "a", lambda: started.set() or end.wait(60))
        started.wait(10)
        child = os.fork()
        if not child:
            os._exit(int((table.of("a", lambda: 2), table.of("known", lambda: 3)) != (2, 1)))
        end.set()
    assert os.waitpid(child, 0)[1] == 0


def libraries() -> int:
    """How many compiled programs are mapped."""
    gc.collect()
    with open("/proc/self/maps") as maps:
        return len({line.split()[-1] for line in maps if line.rstrip().endswith(".so") and "c2cu" in line})


@pytest.mark.slow
def test_programs_and_libraries_are_bounded(monkeypatch, tmp_path):
    monkeypatch.setattr(api, "_programs", Recent(2))
    monkeypatch.setattr(cpu, "_loaded", Recent(2))
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "c2cu"))
    before, a = libraries(), np.zeros((3, 8), np.float32)
    for n in range(5):
        assert np.array_equal(c2cu.bulk(TEXT % n, a, backend="cpu", schedule="gang"), a + n + np.float32(0.5))
    assert len(api._programs) == len(cpu._loaded) == 2 and libraries() - before <= 2
    program = c2cu.compile(TEXT % 7, backend="cpu", schedule="gang")
    for n in range(3):
        c2cu.bulk(TEXT % n, a, backend="cpu", schedule="gang")
    assert np.array_equal(program(a), a + np.float32(7.5)), "a program in use keeps its library"


HEADED = '#include "step.h"\nfloat a[8];\nvoid k(void) { for (int i = 0; i < 8; i++) a[i] += STEP; }\n'


@pytest.fixture
def preprocessed(monkeypatch):
    """How often the preprocessor ran."""
    runs, original = [], pipeline.preprocess
    monkeypatch.setattr(pipeline, "preprocess", lambda *a: runs.append(a) or original(*a))
    return runs


def test_a_header_that_did_not_change_is_not_preprocessed_again(tmp_path, preprocessed):
    source = tmp_path / "k.c"
    source.write_text(HEADED)
    header = tmp_path / "step.h"
    header.write_text("#define STEP 1\n")
    os.utime(header, (1, 1))  # not while the preprocessor runs
    a = np.zeros((3, 8), np.float32)
    for _ in range(3):
        assert np.array_equal(c2cu.bulk(source, a, backend="cpu"), a + 1)
    assert len(preprocessed) == 1


@pytest.mark.parametrize("include", ['"step.h"', "<step.h>", "NAME"])
def test_a_header_that_changes_is_noticed(tmp_path, include):
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    define = "#define NAME <step.h>\n" if include == "NAME" else ""
    text = define + HEADED.replace('"step.h"', include)
    a, dirs = np.zeros((3, 8), np.float32), [tmp_path / "first", tmp_path / "second"]

    def run():
        return c2cu.bulk(text, a, backend="cpu", include_dirs=dirs)[0, 0]

    header = tmp_path / "second" / "step.h"
    header.write_text("#define STEP 1\n")
    assert run() == 1
    header.write_text('#include "more.h"\n')
    (tmp_path / "second" / "more.h").write_text("#define STEP 2\n")
    assert run() == 2
    (tmp_path / "second" / "more.h").write_text("#define STEP 3\n")
    assert run() == 3
    (tmp_path / "first" / "step.h").write_text("#define STEP 4\n")
    assert run() == 4, "it is found earlier"
    (tmp_path / "first" / "step.h").unlink()
    assert run() == 3
    header.unlink()
    with pytest.raises(c2cu.ParseError):
        run()


@pytest.mark.slow
def test_lengths_of_a_program_are_bounded(monkeypatch):
    monkeypatch.setattr("c2cu.program.extents.LENGTHS", 3)
    monkeypatch.setattr("c2cu.program.build.LENGTHS", 3)
    program = c2cu.compile("void k(float *a, int n) { for (int i = 0; i < n; i++) a[i] += 1; }\n", backend="cpu")
    for n in (4, 5, 6, 7, 8, 4):
        a = np.zeros((2, n), np.float32)
        assert np.array_equal(program({"a": a, "n": n}), a + 1)
    assert len(program._builds) == len(program._understandings) == 3
