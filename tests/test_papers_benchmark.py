"""What is measured beside the papers' tables: the harness, on the CPU."""

import json
import shutil
import subprocess
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from benchmarks import papers, papers_measure, papers_page, papers_standalone
from benchmarks.measure import Host
from benchmarks.papers_standalone import CASES, PAPER

PAGE = Path(__file__).parent.parent / "docs" / "papers.md"
SMALL = [c for c in CASES if c.quick and c.workload.defines.get("N", 0) <= 64]


@pytest.mark.slow
def test_every_part_is_measured(tmp_path):
    out = tmp_path / "papers.json"
    assert papers.main(["--measure", str(out), "--backend", "cpu", "--quick", "--seconds", "300"]) == 0
    measured = json.loads(out.read_text())
    assert measured["quick"] and measured["cores"] >= 1 and measured["watts"] is None
    rows = measured["rows"]
    assert {r["part"] for r in rows} == {"graphs", "figures", "standalone", "copies", "transfers", "cpu", "originals"}
    assert all(r["ms"] > 0 and not r.get("wrong") for r in rows if "skipped" not in r)
    assert {(r["kind"], r["graphs"], r["n"]) for r in rows if r["part"] == "graphs"} >= {("4-bit", 8, 128)}
    programs = {(r["program"], r["form"]) for r in rows if r["part"] == "standalone"}
    assert {("bitonic-32", "library"), ("bitonic-32", "auto"), ("fft-64", "auto")} <= programs


@pytest.mark.slow
def test_what_there_is_no_time_for_is_said(tmp_path):
    out = tmp_path / "papers.json"
    assert papers.main(["--measure", str(out), "--backend", "cpu", "--quick", "--seconds", "-1"]) == 0
    assert {r["skipped"] for r in json.loads(out.read_text())["rows"]} == {"no time left"}


@pytest.mark.parametrize("case", SMALL, ids=lambda c: c.name)
def test_a_program_has_the_inputs_that_the_library_is_given(case, tmp_path):
    built = papers_standalone.build(case, "auto", 3, "cpu", tmp_path)
    assert built.failed == ""
    row, sums = papers_standalone.run(built, 3, 60)
    expected = papers_standalone.library(case, 3, Host())[1]
    assert row["ms"] > 0 and np.array_equal(sums, expected) and len(set(sums)) == 3


def test_a_wrong_result_is_seen(monkeypatch, tmp_path):
    case = SMALL[0]
    run = papers_measure.Run(Host(), True, lambda rows: None, until=float("inf"))
    monkeypatch.setattr(papers_measure, "programs", lambda run: [(case, "auto", 2)])
    monkeypatch.setattr(papers_standalone, "run", lambda *_: ({"ms": 1.0}, np.zeros(2, np.uint32)))

    built: Future[papers_standalone.Built] = Future()
    built.set_result(papers_standalone.Built(case, "auto", "gang", ""))
    papers_measure.standalone(run, {(case.name, "auto"): built})
    assert [r.get("wrong") for r in run.rows] == [None, "not the library's results"]


@pytest.mark.parametrize("form", ["auto", PAPER])
def test_events_stand_around_the_launch(form):
    text = papers_standalone.c2cu.translate(SMALL[1].text(), p=100, schedule=form)
    timed = papers_standalone.timed(text, repeats=5)
    launch = "floyd_warshall<<<" if form == PAPER else "c2cu_launches(__slots"
    assert timed.count(launch) == 1 and "timed <= 5" in timed
    before, _, after = timed.partition(launch)
    assert before.rindex("cudaEventRecord(timed_from") > before.rindex("cudaMemcpy")  # the data is there anew
    assert after.index("cudaEventRecord(timed_to") < after.index("cudaMemcpy")
    with pytest.raises(ValueError, match="no launch"):
        papers_standalone.timed("int main(void) { return 0; }")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
@pytest.mark.parametrize("form", ["auto", PAPER])
def test_nvcc_takes_what_is_timed(form, tmp_path):
    source = tmp_path / "x.cu"
    source.write_text(papers_standalone.timed(papers_standalone.c2cu.translate(SMALL[0].text(), p=9, schedule=form)))
    command = ["nvcc", "-arch=sm_90", "-O1", str(source), "-o", str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_the_page_is_what_was_measured():
    """python benchmarks/papers.py --page docs/papers.md"""
    measured = json.loads(papers.MEASURED.read_text()) if papers.MEASURED.exists() else {}
    text = papers_page.page(papers_page.Ours(measured))
    assert PAGE.read_text() == text
    assert all(len(line) <= 120 or line.startswith("|") for line in text.splitlines())


def graph(n, ms, **which):
    return {"part": "graphs", "kind": "float", "graphs": 1, "n": n, "ms": ms, **which}


def test_ours_stand_beside_theirs():
    figure = {"part": "figures", "workload": "fw-16", "p": 131072}
    alone = {"part": "standalone", "program": "fft-64", "p": 7}
    rows = [
        *(graph(512 << k, 2.0**k) for k in range(5)),  # in proportion to n
        graph(256, 0.02, kind="4-bit", graphs=8),
        {**figure, "form": "auto", "ms": 0.213, "schedule": "gep"},
        {**figure, "form": "thread", "ms": 99.0, "run_ms": 42.0},
        {"part": "originals", "workload": "fw-16", "ms": 0.001},
        {**figure, "workload": "montgomery-1048576", "form": "auto", "skipped": "one thread takes 2.1e+09 steps"},
        {**alone, "form": "library", "ms": 2.0},
        {**alone, "form": "auto", "ms": 2.1, "schedule": "registers"},
        {**alone, "form": "thread", "ms": 21.0},
    ]
    about = {"device": "GPU", "host": "CPU", "cores": 3, "version": "9", "watts": 200.0}
    text = papers_page.page(papers_page.Ours({**about, "rows": rows}))
    assert "| 1,024 | 2,405 | 408 | 108 | 42.8 | 27.4 | 2 | 13.7x |" in text  # Lund and Smith: the fastest to ours
    assert "| 512 | 3.1 | 48.1 | 121.4 | 781x |" in text  # their fastest CPU's 781 ms
    assert "| x | 3.02 | 3.23 | 3.62 | 2.94 | 2.59 | 1 |" in text
    assert f"| 512 | 38.6 | 5.08 | 3.17 | {2 * 512**3 / 1e6:.0f} |" in text
    assert f"| 512 | 173 | 35.6 | 44.1 | 19.1 | 2.9 | {1e3 * 2 * 512**3 / 1e6 / 200:,.0f} |" in text
    assert "| 8 | ratio |  | 6.6x |" in text  # 0.132 of table 3.7
    assert "| 42.6 | 42 | 0.213 | gep | 200x | 54x | 615x |" in text
    assert "`montgomery-1048576` was not run: one thread takes 2.1e+09 steps." in text
    assert "| fft-64 | 7 | 2 | 2.1 | registers | 1.05 | 21 | 10x |" in text
    assert "papers.png" in text and papers_page.NO in text


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.plot_papers import figure

    rows = [
        {"part": "figures", "workload": "fw-16", "form": form, "p": p, "ms": ms * p, "run_ms": ms * p / 2}
        for form, ms in (("auto", 0.5), ("thread", 2.0))
        for p in (64, 128)
    ]
    rows.append({"part": "originals", "workload": "fw-16", "ms": 4.0})
    drawn = figure(papers_page.Ours({"device": "GPU", "rows": rows}))
    times, speedup = drawn.axes[1], drawn.axes[4]
    assert [list(np.asarray(line.get_ydata())) for line in times.lines[:2]] == [
        [32, 64],
        [64, 128],
    ]  # alone, of the paper's form
    assert [list(np.asarray(line.get_ydata())) for line in speedup.lines[:2]] == [[8, 8], [4, 4]]
    assert speedup.lines[2].get_ydata() == [54]
