"""What a program costs: the model's time units, the machine's limits, loops, and the picture of both."""

import json
import random
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from c2cu import pipeline
from c2cu.analysis.facts import Conflict, Fault, LoopFacts, RegionFacts, Trace
from c2cu.base.diagnostics import InputError, Loc
from c2cu.cli import main
from c2cu.frontend.preprocess import read_source
from c2cu.ir.nodes import Region
from c2cu.report import cost
from c2cu.report.explain import explanation, text
from c2cu.report.idioms import idioms
from c2cu.report.umm import addresses, formula, simulate
from c2cu.schedule.roofline import Limits, roofline
from c2cu.verdict import report_of
from tests.sample import sampled

SUMS = "float b[8];\nvoid sums(void) {\n    float r = 0;\n    for (int i = 0; i < 8; i++) {\n        r = r + b[i];\n        b[i] = r;\n    }\n}\n"
LIMITS = Limits("a machine", 1e9, "measured: here", {"float": 1e8, "integer": 2e8}, "nominal: there")


def understood(source):
    return pipeline.understand(read_source(source), pipeline.Options())


def run(arrangement, elements, n, p, w, l, **options):  # noqa: E741
    return simulate((addresses(arrangement, e, n, p) for e in elements), w, l, **options)


# The model


def test_two_warps_of_which_one_wants_three_groups():
    assert simulate([[0, 1, 4, 9, 12, 13, 14, 15]], 4, 5) == 3 + 1 + 5 - 1


def shapes():
    """Random (width, warps, latency, elements beyond the width), and a source of more."""
    for seed in range(150):
        rng = random.Random(seed)
        yield rng.randint(1, 8), rng.randint(1, 5), rng.randint(1, 12), rng.randint(0, 9), rng


def test_simulation_equals_the_lemma():
    for w, warps, l, beyond, rng in shapes():  # noqa: E741
        n, p = w + beyond, w * warps
        elements = [rng.randrange(n) for _ in range(rng.randint(0, 12))]
        for arrangement in ("row", "column"):
            assert run(arrangement, elements, n, p, w, l) == formula(arrangement, len(elements), p, w, l)


def test_without_lockstep_a_warp_waits_for_itself_alone():
    for w, warps, l, _, rng in shapes():  # noqa: E741
        t = rng.randint(1, 12)
        units = run("column", [0] * t, 1, w * warps, w, l, lockstep=False)
        assert units == max(t * l + warps - 1, t * warps + l - 1) <= formula("column", t, w * warps, w, l)


def test_fewer_words_than_the_width():
    """n divides w: a warp's rows are n groups, not w."""
    assert run("row", [0, 1, 0], 2, 16, 8, 5) == 3 * (16 * 2 // 8 + 5 - 1) < formula("row", 3, 16, 8, 5)


@pytest.mark.parametrize("p", [1, 5, 9, 15])
def test_inputs_that_do_not_fill_their_warps(p):
    w, l, n = 4, 3, 6  # noqa: E741
    assert run("row", [0, 1, 5], n, p, w, l) == formula("row", 3, p, w, l)
    first, any_row = (run("column", [e], n, p, w, l) for e in (0, 3))
    assert first == formula("column", 1, p, w, l) <= any_row <= 2 * -(-p // w) + l - 1
    assert run("column", [1], n, 5, w, l) > formula("column", 1, 5, w, l)  # addresses 5-8 | 9


def test_a_table_that_all_inputs_share_is_one_group():
    assert run("row", [7], 6, 16, 4, 5) == run("column", [7], 6, 16, 4, 5) == 16 // 4 + 5 - 1


def test_a_warp_without_requests_is_not_dispatched():
    assert simulate([[None] * 4 + [0, 1, 2, 3], [None] * 8], 4, 5) == 5
    assert simulate([], 4, 5) == 0


# The machine


def test_roofline_takes_the_longer_of_the_two():
    r = roofline(100, 400, {"float": 5, "integer": 20}, LIMITS, p=10)
    assert (r.memory, r.compute) == (pytest.approx(1e-6), pytest.approx(10 * (5 / 1e8 + 20 / 2e8)))
    assert r.binds == "operations" and r.seconds == r.compute and r.every_access == pytest.approx(4e-6)
    assert r.peak == pytest.approx(250 / r.compute) and r.intensity == pytest.approx(0.25)
    assert roofline(100, 100, {"float": 1}, LIMITS).binds == "memory"


def test_operations_without_a_rate_are_named_and_not_counted():
    r = roofline(8, 8, {"float": 1, "divide": 3}, LIMITS, p=2)
    assert r.unrated == {"divide": 6} and r.operations == 2


def test_a_bandwidth_is_measured_once(tmp_path, monkeypatch):
    from c2cu.report import machine
    from c2cu.runtime import cpu

    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path))
    rates = iter([1e10, 2e10])
    monkeypatch.setattr(cpu, "copy_bandwidth", lambda: next(rates))
    assert [machine.limits("cpu").bandwidth, machine.limits("cpu").bandwidth] == [1e10, 1e10]
    assert machine.limits("cpu", again=True).bandwidth == machine.limits("cpu").bandwidth == 2e10


def test_a_copy_takes_time():
    from c2cu.runtime import cpu

    assert 1e7 < cpu.copy_bandwidth(1 << 20) < 1e14


# The idioms that fp=fast may use

IDIOMS = """float a[4], b[4], m; double d[2]; int n[2];
void k(void) {
    for (int i = 0; i < 4; i++)
        a[i] = a[i] < b[i] ? a[i] : b[i];
    if (b[0] > a[0] + 1)
        b[0] = a[0] + 1;
    if (m < a[1]) m = a[1];
    d[0] = d[0] >= d[1] ? d[0] : d[1];
    m = b[1] > m ? m : b[1];
    if (a[0] < b[0]) a[0] = b[1];
    if (n[0] < n[1]) n[0] = n[1];
}
"""


def test_minima_and_maxima_are_found():
    calls = idioms(understood(IDIOMS).analysis.kernel)
    assert [(i.name, i.loc.line) for i in calls] == [
        ("fminf", 4),
        ("fminf", 5),
        ("fmaxf", 7),
        ("fmax", 8),
        ("fminf", 9),
    ]


def test_what_more_freedom_gains():
    def gain(source, schedule, fp="exact"):
        return explanation(understood(source), "cuda", schedule, None, fp, "some GPU")["fp_gain"]

    choices = "fminf at <input>:4, fminf at <input>:5, fmaxf at <input>:7 and 2 more in place of compare and select"
    assert gain(IDIOMS, "registers") == f"with fast: {choices}, products and sums fused"
    assert gain(SUMS, "registers") == "with fast: products and sums fused"
    assert gain("int a;\nvoid f(void) { a++; }\n", "registers") == "nothing: there is no floating point"
    assert gain(IDIOMS, "thread") == "nothing: schedule thread rounds as C does under every value"
    assert gain(IDIOMS, "registers", "fast") == "nothing: 'fast' already allows the most"


@pytest.mark.parametrize(
    "text, fp, line",
    [
        (SUMS, "exact", "exact; --fp fast would not make it faster: schedule gang rounds as C does under every value"),
        (SUMS, "fast", "fast, which allows the most"),
    ],
)
def test_the_line_on_fp(tmp_path, text, fp, line):
    (tmp_path / "k.c").write_text(text)
    done = CliRunner().invoke(
        main, ["explain", str(tmp_path / "k.c"), "--backend", "cpu", "--schedule", "gang", "--fp", fp]
    )
    assert [x for x in done.stdout.split("\n") if x.startswith("fp  ")] == [f"fp         {line}"]


# The explanation

REGION = Region("b", understood(SUMS).kernel.regions[0].type, (8,), "bulk")
WRITTEN, READ = Loc("x.c", 6, 9), Loc("x.c", 5, 17)
TRACE = Trace(
    16,
    {"float": 8, "call": 1},
    (RegionFacts(REGION, 8, 8, bytes([11] * 7 + [0])),),
    (
        LoopFacts(Loc("x.c", 4, 5), 0, 1, 8, 8, False, (Conflict("flow", "b", 3, WRITTEN, READ, True),) * 2),
        LoopFacts(Loc("x.c", 9, 5), 0, 2, 6, 3, True),
    ),
    (Fault("bounds", "element 8 is outside 'b'", READ, False, (("i", 8),)),),
)


def explained(trace, p=1024, **options):
    front = replace(understood(SUMS), trace=trace)
    e = explanation(front, "cpu", "auto", p, "exact", "some CPU", LIMITS, **options)
    return e, text(e, report_of(front)).splitlines()


def test_facts_are_told():
    e, lines = explained(TRACE)
    assert (e["steps"], e["footprint"], e["footprint_bytes"]) == (16, 7, 28)
    assert "steps      t = 16 accesses to array elements; 7 elements (28 bytes) are touched" in lines
    assert (
        "loops      x.c:4: 8 turns, in order: 'b[3]' is stored at line 6, and loaded at line 5 in a later turn,"
        " depending on data (and 1 more)"
    ) in lines
    assert "           x.c:9: 6 turns in 2 entries, independent" in lines
    assert "faults     x.c:5: element 8 is outside 'b' (if a branch on data is taken; i = 8)" in lines
    assert json.loads(json.dumps(e)) == e


def test_costs_are_told():
    e, lines = explained(TRACE)
    assert e["model"]["column"] == 16 * (1024 // 32 + 99) and e["model"]["row"] == 16 * (1024 + 99)
    assert e["machine"]["memory_seconds"] == pytest.approx(1024 * 64 / 1e9)
    assert e["machine"]["operations_seconds"] == pytest.approx(1024 * 8 / 1e8)
    assert (
        "           operations bind: expect 81.9 us at best for p = 1,024; 65.5 us if every access went to memory"
    ) in lines
    assert any("not counted: 1,024 call" in line for line in lines)


def test_a_program_that_was_not_traced_is_explained_too():
    for trace in (None, replace(TRACE, stopped="it takes too long")):
        e, lines = explained(trace)
        assert e["steps"] is e["machine"] is e["loops"] is None and e["schedule"] == "gang"
    assert "steps      not counted: it takes too long" in lines


def test_simulation_is_of_the_programs_own_accesses():
    text = (
        "const float w[4] = {1};\nfloat a[40];\nvoid k(void) {\n    for (int i = 0; i < 40; i++) a[i] *= w[i & 3];\n}\n"
    )
    front = understood(text)
    first = cost.first_accesses(front.analysis, front.trace)
    assert first.n == 40 and len(first.elements) == front.trace.steps == 120
    assert sorted(first.elements[:3]) == [0, 0, 40] and {e for e in first.elements if e >= 40} == {40, 41, 42, 43}
    simulation = cost.model(front.trace, first, None)["simulation"]
    for arrangement in ("row", "column"):
        assert simulation[arrangement]["simulated"] == simulation[arrangement]["formula"]


def test_elements_are_spelled_as_in_c():
    front = understood("float D[4][8];\nvoid k(void) { D[1][2] += 1; }\n")
    loc = Loc("x.c", 1, 1)
    assert cost.element(front, Conflict("flow", "D", 10, loc, loc, False)) == "D[1][2]"
    assert cost.element(front, Conflict("flow", "r", -1, loc, loc, False)) == "r"


# The command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "sums.c").write_text(SUMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def c2cu(*args):
    return CliRunner().invoke(main, [str(a) for a in args])


def test_json(folder):
    done = c2cu("explain", "sums.c", "--json", "--p", 64, "--backend", "cpu")
    e = json.loads(done.stdout)
    assert (e["steps"], e["footprint"], e["p"]) == (16, 8, 64) and e["operations"] == {"float": 8}
    (loop,) = e["loops"]
    assert not loop["independent"] and loop["conflicts"][0]["name"] == "r"
    assert e["machine"]["seconds"] == max(e["machine"]["memory_seconds"], e["machine"]["operations_seconds"])


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_json_has_the_figures_of_every_line(folder, monkeypatch, backend):
    monkeypatch.setattr("c2cu.runtime.cuda.available", lambda: False)
    e = json.loads(c2cu("explain", "sums.c", "--json", "--p", 64, "--backend", backend).stdout)
    said = c2cu("explain", "sums.c", "--p", 64, "--backend", backend).stdout
    lines = {line.split()[0] for line in said.splitlines() if line[:1].isalpha()}
    assert {"kernel", "steps", "loops", "backend", "schedule", "model", "machine", "fp"} <= lines
    assert all(e[name] is not None for name in lines & e.keys())
    assert {"model", "machine", "form"} <= e.keys()
    assert f"at {e['machine']['bandwidth'] / 1e12:.3g} TB/s" in said or backend == "cpu"


LENGTH = "void f(int n, float w, float *x) {\n    for (int i = 1; i < n; i++) x[i] += w * x[i - 1];\n}\n"


def test_a_number_that_is_told(folder):
    (folder / "f.c").write_text(LENGTH)
    said = c2cu("explain", "f.c", "--shape", "x=8", "--backend", "cpu").stdout
    assert "depend on 'n', which only the run brings; --shared n=N tells what it is" in said
    done = c2cu(
        "explain", "f.c", "--shape", "x=8", "--backend", "cpu", "--shared", "n=8", "--shared", "w=0.5", "--json"
    )
    assert json.loads(done.stdout)["steps"] == 21
    for wrong, words in {
        "n=2.5": "C2CU230",
        "n=99999999999": "C2CU230",
        "n=9": "element 8 is outside 'x'",
        "x=3": "'x' is",
        "m=3": "unknown variable 'm'",
    }.items():
        done = c2cu("explain", "f.c", "--shape", "x=8", "--shared", wrong, "--backend", "cpu")
        assert done.exit_code == 1 and words in done.stderr, done.stderr


@pytest.mark.parametrize("size", ["float", "double"])
def test_a_gpu_that_is_elsewhere(folder, monkeypatch, size):
    """Figures are an H200's, and said to be."""
    monkeypatch.setattr("c2cu.runtime.cuda.available", lambda: False)
    (folder / "sums.c").write_text(SUMS.replace("float", size))
    e = json.loads(c2cu("explain", "sums.c", "--json", "--p", 1 << 20, "--backend", "cuda").stdout)
    assert e["backend"] == "cuda" and e["schedule"] == "registers" and e["device"].startswith("no GPU here")
    r, width = e["machine"], {"float": 4, "double": 8}[size]
    assert "not here" in r["name"] and r["bandwidth_from"] == "nominal"
    assert r["memory_seconds"] == pytest.approx(16 * width * 2**20 / 4.2e12)
    assert r["operations_seconds"] == pytest.approx(8 * 2**20 / (132 * 1.98e9 * {"float": 128, "double": 64}[size]))
    said = c2cu("explain", "sums.c", "--backend", "cuda").stdout
    assert "backend    cuda (no GPU here: figures are an NVIDIA H200's)" in said


@pytest.mark.parametrize("ending, starts", sampled([("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")], 2))
def test_plot(folder, ending, starts):
    pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        done = c2cu("explain", "sums.c", "--plot", f"{name}.{ending}", "--backend", "cpu")
        assert done.exit_code == 0, done.output
    a, b = ((folder / f"{name}.{ending}").read_bytes() for name in "ab")
    assert a == b and a.startswith(starts)
    assert sorted(x.name for x in folder.iterdir()) == [f"a.{ending}", f"b.{ending}", "sums.c"]


def test_plot_shows_addresses_and_totals(folder):
    pytest.importorskip("matplotlib")
    assert c2cu("explain", "sums.c", "--plot", "a.svg", "--backend", "cpu").exit_code == 0
    drawn = (folder / "a.svg").read_text()
    assert ">56</text>" in drawn and ">24 units</text>" in drawn and "48 units in all" in drawn  # 7 * 8 + 0


def test_plots_that_cannot_be(folder, monkeypatch):
    done = c2cu("explain", "sums.c", "--plot", "a.gif")
    assert done.exit_code == 1 and "C2CU232" in done.output and "a.gif" in done.output
    (folder / "walk.c").write_text("int a[9], o;\nvoid f(void) { while (a[o]) o = a[o]; }\n")
    if "matplotlib" in sys.modules:
        done = c2cu("explain", "walk.c", "--plot", "a.png", "--backend", "cpu")
        assert done.exit_code == 1 and "there is nothing to plot: the program is not oblivious" in done.output
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = c2cu("explain", "sums.c", "--plot", "a.png")
    assert done.exit_code == 1 and "pip install 'c2cu[plot]'" in done.output
    assert not (folder / "a.png").exists()


def test_nothing_to_plot_without_a_trace():
    with pytest.raises(InputError, match="nothing to plot"):
        cost.pictured(replace(understood(SUMS), trace=None), LIMITS)


def test_lanes_that_refill_are_told():
    front = understood("int n, r;\nvoid k(void) {\n    while (n > 0) { n -= 3; r++; }\n}\n")
    e = explanation(front, "cpu", "gang", None, "exact", "a CPU")
    assert e["refill"] == {"file": "<input>", "line": 3, "gangs": 3}
    told = "a lane whose input has ended the loop at <input>:3 takes the next input; 3 gangs of lanes go in turn"
    assert told in text(e, report_of(front))


def test_a_struct_is_told_by_its_size(tmp_path):
    source = tmp_path / "s.c"
    source.write_text("struct P { double x[3]; int id; } p[4];\nvoid k(void) { p[1].id += 2; }\n")
    result = CliRunner().invoke(main, ["explain", str(source)])
    assert "p: struct of 32 bytes (p, 4), required input, output" in result.output
