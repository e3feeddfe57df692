"""What is measured beside the papers' tables: the harness, on the CPU."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from benchmarks import papers, papers_measure, papers_standalone
from benchmarks.measure import Host
from benchmarks.papers_standalone import CASES, PAPER

SMALL = [c for c in CASES if c.quick and c.workload.defines.get("N", 0) <= 64]


@pytest.mark.slow
def test_every_part_is_measured(tmp_path):
    out = tmp_path / "papers.json"
    assert papers.main(["--measure", str(out), "--backend", "cpu", "--quick", "--seconds", "300"]) == 0
    measured = json.loads(out.read_text())
    assert measured["quick"] and measured["cores"] >= 1 and measured["watts"] is None
    rows = measured["rows"]
    assert {r["part"] for r in rows} == {"graphs", "figures", "standalone", "copies", "transfers", "cpu"}
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

    class Built:
        def result(self, timeout):
            return papers_standalone.Built(case, "auto", "gang", "")

    papers_measure.standalone(run, {(case.name, "auto"): Built()})
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
