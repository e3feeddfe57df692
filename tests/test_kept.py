"""What one process has found out about a program serves the next."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu import pipeline
from c2cu.api import remembered
from c2cu.base import package
from c2cu.frontend import link
from c2cu.frontend.parse import parse
from c2cu.frontend.preprocess import preprocess
from c2cu.program import kept, preprocessed
from c2cu.schedule import choose

pytestmark = pytest.mark.usefixtures("kept_programs")

EXAMPLES = Path(__file__).parent.parent / "examples"
SORTS = EXAMPLES / "bitonic_sort.c"
SUMS = "void sums(int n, float a[n]) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }"
COUNTS = "int k(unsigned n[1]) { int turns = 0; while (n[0]) { n[0] >>= 1; turns++; } return turns; }"


@pytest.fixture
def again(monkeypatch):
    """From when it is called on, programs are only what they were found to be."""

    def forbid():
        def refuse(*_):
            raise AssertionError("it is understood again")

        for stage in ("asked", "understand", "refuse_numbers"):
            monkeypatch.setattr(pipeline, stage, refuse)
        for stage in ("choose", "scheduled"):
            monkeypatch.setattr(choose, stage, refuse)

    return forbid


@pytest.mark.parametrize("source, inputs, shared", [
    (SORTS, np.random.default_rng(1).random((40, 32), np.float32), None),
    (SUMS, {"a": np.ones((9, 7), np.float32), "n": 7}, None),
    (SUMS, {"a": np.ones((9, 7), np.float32)}, {"n": 7}),
    (EXAMPLES / "floyd_warshall.c", np.random.default_rng(1).random((5, 64, 64), np.float32), None),
    ("double k(double x, float y) { return x / y; }", {"x": np.arange(9.0), "y": np.ones(9, np.float32)}, None),
])  # fmt: skip
@pytest.mark.parametrize("schedule", ["auto", "native"])
def test_a_program_is_understood_once(source, inputs, shared, schedule, again):
    options = {"backend": "cpu", "schedule": schedule}
    first = c2cu.compile(source, **options)
    right = first(inputs, shared=shared)
    plan, slots, text = first.plan, first.slots, first.source
    again()
    second = c2cu.compile(source, **options)
    assert np.array_equal(second(inputs, shared=shared), right)
    assert (second.plan, second.slots, second.source, repr(second)) == (plan, slots, text, repr(first))
    assert second.fingerprints() == first.fingerprints()


def test_a_warning_comes_each_time(again):
    warned = []
    for _ in range(2):
        with pytest.warns(c2cu.NotObliviousWarning) as caught:
            c2cu.compile(COUNTS, backend="cpu")
        warned.append([str(w.message) for w in caught])
        again()
    assert warned[0] == warned[1]


def test_what_is_not_kept_is_made_again():
    first, second = (c2cu.compile(COUNTS, backend="cpu", strict=False) for _ in range(2))
    assert second.report == first.report
    assert second.report.findings
    front = kept.asked(c2cu.api.read_source(COUNTS), c2cu.api.options_of())
    assert isinstance(front, kept.Recalled)
    assert front.analysis is not None and front.program.kernel.name == "k" == front.kernel_name


def test_what_it_is_made_from_counts(tmp_path):
    header, source = tmp_path / "n.h", tmp_path / "k.c"
    header.write_text("#ifndef MORE\n#define MORE 1\n#endif\n")
    source.write_text('#include "n.h"\nint k(int a) { return a + MORE; }\n')
    a = np.arange(5, dtype=np.int32)
    assert (c2cu.compile(source, backend="cpu")(a) == a + 1).all()
    header.write_text(header.read_text().replace("1", "2"))
    assert (c2cu.compile(source, backend="cpu")(a) == a + 2).all()
    assert (c2cu.compile(source, backend="cpu", defines={"MORE": 5})(a) == a + 5).all()
    source.write_text("\n" + source.read_text().replace("a +", "a -"))
    program = c2cu.compile(source, backend="cpu")
    assert (program(a) == a - 2).all()
    assert program.slots[0].loc.line == 3


def test_a_file_of_the_package_that_is_changed_counts(monkeypatch):
    before = package.state()
    monkeypatch.setattr(package, "__version__", "another")
    package.state.cache_clear()
    assert package.state() != before
    package.state.cache_clear()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x05K\x01.", None])
def test_an_entry_that_is_broken_is_made_anew(content, tmp_path):
    a = np.random.default_rng(2).random((6, 32), np.float32)
    assert (c2cu.compile(SORTS, backend="cpu")(a) == np.sort(a)).all()
    entries = list((tmp_path / "cache").glob("*.kept"))
    assert entries
    for e in entries:
        if content is None:
            e.unlink()
        else:
            e.write_bytes(content)
    assert (c2cu.compile(SORTS, backend="cpu")(a) == np.sort(a)).all()


def test_another_process_needs_no_analysis():
    text = f"""
import sys, numpy as np, c2cu
a = np.ones((4, 32), np.float32)
program = c2cu.compile({str(SORTS)!r}, backend="cpu")
program(a)
stages = {{"c2cu.pipeline", "c2cu.lower", "c2cu.schedule.gang", "pycparser", "jinja2"}}
sys.exit(hasattr(program._front, "again") and "trace" not in vars(program._front) and not stages & sys.modules.keys())
"""
    done = [subprocess.run([sys.executable, "-c", text], env=dict(os.environ), check=False) for _ in range(2)]
    assert [d.returncode for d in done] == [0, 1]


@pytest.fixture
def runs(monkeypatch):
    """How often the preprocessor was asked."""
    asked = []

    def preprocess(*given):
        asked.append(given)
        return kept_preprocess(*given)

    kept_preprocess = preprocessed.preprocess
    monkeypatch.setattr(preprocessed, "preprocess", preprocess)
    return asked


def written_before(file, text):
    """A file that was written long before the preprocessor runs."""
    file.write_text(text)
    os.utime(file, (1, 1))


def compiled_twice(source, **options):
    for _ in range(2):
        c2cu.compile(source, backend="cpu", **options)


def test_a_source_is_preprocessed_once(runs):
    compiled_twice(SORTS)
    compiled_twice([SORTS, "int one(void) { return 1; }"], fn="bitonic_sort")
    compiled_twice(SORTS, defines={"N": 64})
    assert len(runs) == 3


def test_files_are_parsed_once_for_all_that_a_call_decides(monkeypatch):
    """A global that no call brings is a constant, for which the program is understood once more."""
    parsed = []
    monkeypatch.setattr(link, "parse", lambda pre, *rest: parsed.append(pre.name) or parse(pre, *rest))
    files = ["int of[3] = {4, 5, 6};\nint twice(int x);\nint k(int i) { return twice(of[i % 3]); }\n"]
    files.append("static int two = 2;\nint twice(int x) { return two * x; }\n")
    assert c2cu.bulk(files, np.arange(4, dtype=np.int32), fn="k", backend="cpu").tolist() == [8, 10, 12, 8]
    assert len(parsed) == 2


def test_a_header_that_comes_to_stand_before_another_counts(runs, tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for f in folders:
        f.mkdir()
    written_before(folders[1] / "n.h", "#define MORE 1\n")
    source = "#include <n.h>\nint k(int a) { return a + MORE; }\n"
    compiled_twice(source, include_dirs=folders)
    assert len(runs) == 1
    (folders[0] / "n.h").write_text("#define MORE 2\n")
    a = np.arange(5, dtype=np.int32)
    assert (c2cu.compile(source, include_dirs=folders, backend="cpu")(a) == a + 2).all()


def test_a_header_of_the_system_that_is_another_one_counts(runs, tmp_path, monkeypatch):
    (tmp_path / "local").mkdir()
    monkeypatch.setattr(preprocessed, "_LOCAL", str(tmp_path / "local"))
    source = "#include <math.h>\ndouble k(double a) { return sqrt(a); }\n"
    compiled_twice(source)
    assert len(runs) == 1
    (tmp_path / "local" / "math.h").write_text("")
    compiled_twice(source)
    assert len(runs) == 2


@pytest.mark.parametrize("again", [c2cu.compile, remembered])
def test_a_header_that_is_written_while_the_preprocessor_runs_counts(again, tmp_path, monkeypatch):
    written_before(tmp_path / "n.h", "#define MORE 1\n")
    source, a, original = "#include <n.h>\nint k(int a) { return a + MORE; }\n", np.zeros(5, np.int32), preprocess

    def slow(*given):
        pre = original(*given)
        (tmp_path / "n.h").write_text("#define MORE 2\n")
        return pre

    def results():
        return again(source, include_dirs=(str(tmp_path),), backend="cpu")(a)

    monkeypatch.setattr(preprocessed, "preprocess", slow)
    results()
    monkeypatch.setattr(preprocessed, "preprocess", original)
    assert (results() == 2).all()


def test_where_the_working_folder_is_gone_programs_run(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    a = np.zeros((2, 32), np.float32)
    assert (c2cu.compile(SORTS, backend="cpu")(a) == a).all()


@pytest.mark.parametrize("text, environment", [
    ("int k(int a) { return a + sizeof(__TIME__); }\n", {}),
    ("#if __has_include(<math.h>)\nint k(int a) { return a; }\n#endif\n", {}),
    ("int k(int a) { return a; }\n", {"CPATH": "/"}),
])  # fmt: skip
def test_what_no_file_tells_is_preprocessed_again(text, environment, runs, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    compiled_twice(text)
    assert len(runs) == 2
