"""Contests between schedules: where estimates are close, the inputs of a call decide, and the cache remembers."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu import pipeline, tune
from c2cu.base import toolchain
from c2cu.base.recent import Recent
from c2cu.cli import main
from c2cu.frontend.preprocess import read_source
from c2cu.program import contest
from c2cu.runtime import cpu, native
from c2cu.schedule.choose import choose
from c2cu.schedule.gang.chains import has_chains
from c2cu.schedule.gang.cost import known_costs

#: Three branches on data: estimates are close.
CLOSE = """
double x, o;
void k(void) {
    double y = x, z = 1;
    for (int i = 0; i < 20; i++) {
        if (y > 1) { y = y * 0.5 - z; z = z + y * y; y = y + 0.25 / z; }
        else { y = y * 3 + z; z = z * 0.5; y = y - z * z; z = z + 1 / (y * y + 1); }
    }
    o = y + z;
}
"""
#: Neither branches nor calls.
CLEAR = """
double x[8], o;
void k(void) {
    o = 0;
    for (int i = 0; i < 200; i++) o = o * 0.5 + x[i % 8] * x[i % 8];
}
"""
#: What goes in comes out.
IN_PLACE = """
double x[8];
void k(void) {
    double o = 0;
    for (int i = 0; i < 8; i++)
        if (x[i] > 0.5) { o += 1 / x[i]; o *= x[i]; x[i] = o; }
}
"""
rng = np.random.default_rng(5)
P = 4096


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """A cache in which nothing was measured; every piece is long enough."""
    folder = tmp_path_factory.getbasetemp() / "contests"
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.tuned"):
        path.unlink()
    monkeypatch.setenv("C2CU_CACHE_DIR", str(folder))
    monkeypatch.setattr("c2cu.api._programs", Recent(9))
    monkeypatch.setattr(contest, "ENOUGH", 1e-6)
    monkeypatch.setattr(contest, "PIECE", 1e-9)
    monkeypatch.setattr(contest, "SHARE", 1.0)
    monkeypatch.setattr("c2cu.schedule.gang.has_chains", lambda understood: False)  # nobody has a second rival


@pytest.fixture
def clock(monkeypatch):
    """Time is how many inputs ran, times the seconds of an input under each schedule. Also who did how many."""
    names = ("gang", "native", "gang:two")
    state = SimpleNamespace(now=0.0, seconds=dict.fromkeys(names, 1e-6), inputs=dict.fromkeys(names, 0))
    for name, cls in (("gang", cpu.CpuProgram), ("native", native.NativeProgram)):

        def run(self, table, outputs, p, brief=False, name=name, run=cls.run_table):
            if threading.current_thread() is threading.main_thread():  # else it verifies
                which = self.artifact.schedule if name == "gang" else name
                state.now += p * state.seconds[which]
                state.inputs[which] += p
            return run(self, table, outputs, p, brief)

        monkeypatch.setattr(cls, "run_table", run)

    def seconds(work):
        start = state.now
        work()
        return state.now - start

    monkeypatch.setattr(contest, "processor_seconds", seconds)
    return state


def understood(text, **options):
    return pipeline.understand(read_source(text), pipeline.Options(**options))


def expected(x):
    return c2cu.bulk(CLOSE, x, backend="cpu", schedule="native", verify=False)


@pytest.mark.parametrize("faster, slower", [("native", "gang"), ("gang", "native")])
def test_the_faster_one_wins_and_is_remembered(faster, slower, clock):
    x = rng.uniform(-9, 9, P)
    right = expected(x)
    clock.seconds[slower] = 3e-6
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    assert program.plan.rival is not None and program.plan.measured is None
    clock.inputs.update(gang=0, native=0)
    assert np.array_equal(program(x), right)
    assert sum(clock.inputs.values()) == P, "no input is done twice"
    assert clock.inputs[faster] > P / 2 > clock.inputs[slower] > 0
    clock.inputs[slower] = 0
    for again in (program, c2cu.compile(CLOSE, backend="cpu", verify=False)):
        assert np.array_equal(again(x), right) and again.plan.schedule == faster
        assert again.plan.measured.winner.schedule == faster and again.plan.rival is None
    assert not clock.inputs[slower]


@pytest.mark.parametrize("two", [2e-6, 0.5e-6])
def test_the_winner_may_have_a_rival_of_its_own(two, clock, monkeypatch):
    monkeypatch.setattr("c2cu.schedule.gang.has_chains", lambda understood: True)
    monkeypatch.setattr("c2cu.schedule.gang.PAID", 0.0)
    text, x = CLOSE.replace("20", "19"), rng.uniform(-9, 9, P)
    right = c2cu.bulk(text, x, backend="cpu", schedule="native", verify=False)
    clock.seconds.update(native=3e-6)
    clock.seconds["gang:two"] = two
    program = c2cu.compile(text, backend="cpu", verify=False)
    assert program.plan.rival.schedule == "native"
    assert np.array_equal(program(x), right)
    again = c2cu.compile(text, backend="cpu", verify=False)
    assert again.plan.schedule == "gang" and again.plan.rival.schedule == "gang:two"
    best = "gang:two" if two < 1e-6 else "gang"
    for _ in range(9):
        assert np.array_equal(program(x), right) and np.array_equal(again(x), right)
    assert program.plan.schedule == best and program.plan.rival is None
    assert again.plan.schedule == best and again.plan.rival is None
    clock.inputs.update(dict.fromkeys(clock.inputs, 0))
    later = c2cu.compile(text, backend="cpu", verify=False)
    assert np.array_equal(later(x), right) and later.plan.schedule == best and later.plan.rival is None
    assert clock.inputs == {**dict.fromkeys(clock.inputs, 0), best: P}


def test_it_is_measured_anew_where_the_machine_or_the_program_differs(clock, monkeypatch):
    x = rng.uniform(-9, 9, P)
    c2cu.bulk(CLOSE, x, backend="cpu", verify=False)
    plan, _ = choose(understood(CLOSE), "cpu")
    assert contest.recalled(understood(CLOSE), plan) is not None
    assert contest.recalled(understood(CLOSE.replace("20", "21")), plan) is None
    monkeypatch.setattr(tune, "identity", lambda backend: ("another machine",))
    assert contest.recalled(understood(CLOSE), plan) is None


@pytest.mark.parametrize("faster, slower", [("native", "gang"), ("gang", "native")])
@pytest.mark.parametrize("p", [1000, 6000])  # a call of which is too short to be shared, and one that is not
def test_calls_that_come_again_and_again_are_measured(faster, slower, p, clock, monkeypatch):
    monkeypatch.setattr(contest, "ENOUGH", 0.025)
    clock.seconds[slower] = 3e-6
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    x = rng.uniform(-9, 9, p)
    right = expected(x)
    clock.inputs.update(gang=0, native=0)
    calls, match = 0, program._last.contest
    while match.winner is None:
        assert np.array_equal(program(x), right)
        calls += 1
        assert calls < 60
    assert calls > 1, "little work is not worth a compilation"
    assert sum(clock.inputs.values()) == calls * p, "no input is done twice"
    assert np.array_equal(program(x), right) and program.plan.schedule == faster


def test_few_inputs_are_not_measured(clock, monkeypatch):
    monkeypatch.setattr(contest, "ENOUGH", 0.05)
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    before = program.plan
    for p in (1, 100, P, P):
        x = rng.uniform(-9, 9, p)
        assert np.array_equal(program(x), expected(x))
        assert program.plan == before
    for _ in range(12):
        program(x)
    assert program.plan.measured is not None


@pytest.mark.parametrize("faster, slower", [("native", "gang"), ("gang", "native")])
@pytest.mark.parametrize("p", [50, 1000, 6000, 40_000])
def test_little_is_lost_by_a_comparison(faster, slower, p, clock, monkeypatch):
    share, enough = 0.05, 0.025
    monkeypatch.setattr(contest, "ENOUGH", enough)
    monkeypatch.setattr(contest, "SHARE", share)
    clock.seconds[slower] = 4e-6
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    match = program._last.contest
    x = rng.uniform(-9, 9, p)
    right = expected(x)
    clock.inputs.update(gang=0, native=0)
    clock.now, calls = 0.0, 0
    while match.winner is None and match.calls(p).winner is None:
        assert np.array_equal(program(x), right)
        calls += 1
        assert calls < 5000
    assert sum(clock.inputs.values()) == calls * p
    lost = clock.inputs[slower] * 3e-6
    once = 4e-6 * min(p, 3000)  # it takes a try to see who is slower
    before = 0 if slower == "native" else enough  # which goes by the estimate
    assert lost <= share * clock.now + before + 4 * once
    clock.inputs[slower] = 0
    for _ in range(5):
        assert np.array_equal(program(x), right)
    assert not clock.inputs[slower] and len(program._calls) == 1, "calls are as short as without a contest"
    assert next(iter(program._calls.values()))._compared is None


def test_very_short_calls_tell_nothing_of_longer_ones(clock, monkeypatch):
    """What calls cost beside their inputs may differ by more than these take."""
    monkeypatch.setattr(contest, "LOOK", 0.0)
    clock.seconds.update(gang=3e-8, native=1e-8)
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    match, x = program._last.contest, rng.uniform(-9, 9, 200)
    for _ in range(50):
        program(x)
    clock.inputs["gang"] = 0
    assert np.array_equal(program(x), expected(x)) and not clock.inputs["gang"]
    assert match.winner is None and match.calls(200).winner.plan.schedule == "native"
    assert match.calls(P).winner is None and contest.recalled(understood(CLOSE), match.first.plan) is None
    program(rng.uniform(-9, 9, 200_000))
    assert match.winner is not None


@pytest.mark.parametrize("p", [1000, 6000])
def test_calls_are_whole_as_long_as_there_is_nothing_to_compare(p, clock, monkeypatch):
    monkeypatch.setattr(contest, "ENOUGH", 3.0)
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    x = rng.uniform(-9, 9, p)
    program(x)  # which tells how long an input takes
    runs = []
    run = cpu.CpuProgram.run_table

    def counted(self, table, outputs, n, brief=False):
        runs.append(n)
        return run(self, table, outputs, n, brief)

    monkeypatch.setattr(cpu.CpuProgram, "run_table", counted)
    program(x), program(x), program._calls.clear(), program(x)
    assert runs == [p] * 3


def test_whoever_leads_does_what_is_not_compared(clock, monkeypatch):
    """A comparison that is put off, as it would cost too much, is not lost."""
    monkeypatch.setattr(contest, "SHARE", 1e-9)
    clock.seconds["gang"] = 3e-6
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    match, x = program._last.contest, rng.uniform(-9, 9, 8 * P)
    program(x), clock.inputs.update(gang=0, native=0), program(x)
    assert (
        match.winner is None
        and match.pieces.second_leads
        and clock.inputs == {"gang": 0, "native": 8 * P, "gang:two": 0}
    )
    monkeypatch.setattr(contest, "SHARE", 1.0)
    match.calls(8 * P).due = 0.0
    program(x)
    assert match.winner.plan.schedule == "native"


@pytest.mark.parametrize("p", [1, 40])
def test_a_first_call_that_takes_long_is_forgotten(p, clock, monkeypatch):
    monkeypatch.setattr(contest, "SHARE", 0.05)
    clock.seconds.update(gang=1e-2, native=1e-2)
    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    x = rng.uniform(-9, 9, p)
    right = expected(x)
    assert np.array_equal(program(x), right)
    clock.seconds.update(gang=1e-6, native=3e-6)
    calls = program._last.contest.calls(p)
    for _ in range(20_000):
        program(x)
        if calls.winner is not None:
            break
    assert calls.seconds == pytest.approx(1e-6) and calls.leader(p).plan.schedule == "gang"


@pytest.mark.parametrize("layout", ["row", "column"])
def test_in_place(layout, clock):
    clock.seconds["native"] = 2e-6
    x = rng.random((P, 8)) if layout == "row" else rng.random((8, P))
    right = c2cu.bulk(IN_PLACE, x, backend="cpu", schedule="native", layout=layout)
    program = c2cu.compile(IN_PLACE, backend="cpu", layout=layout)
    assert program.plan.rival is not None
    assert program(x, out=x) is x and np.array_equal(x, right)
    assert program._last.contest.winner is not None


def test_what_the_user_asks_for_stays():
    for schedule in ("gang", "native"):
        assert c2cu.compile(CLOSE, backend="cpu", schedule=schedule).plan.rival is None


def test_what_is_clear_is_not_measured(monkeypatch):
    monkeypatch.setattr(toolchain, "vector_bytes", lambda: 64)
    monkeypatch.setattr("c2cu.schedule.gang.has_chains", has_chains)
    front = understood(CLEAR)
    assert known_costs(front).gain > 4
    rival = choose(front, "cpu")[0].rival
    assert rival is not None and rival.schedule == "gang:two"  # not native; the turns are a chain
    assert 1 / 4 < known_costs(understood(CLOSE)).gain < 4


@pytest.mark.parametrize("text", ["int a[4];\nvoid k(void) {}\n", "void k(int x) { (void)x; }\n"])
def test_what_does_nothing_takes_time(text):
    front = understood(text)
    assert known_costs(front).gain > 0 and choose(front, "cpu")[0].schedule in ("gang", "native")


def test_a_wrong_gang_in_a_contest_is_told(clock, monkeypatch):
    x = rng.uniform(-9, 9, P)
    right = expected(x)
    run = cpu.CpuProgram.run_table

    def wrong(self, table, outputs, p, brief=False):
        run(self, table, outputs, p, brief)
        outputs[-1][...] += 1

    monkeypatch.setattr(cpu.CpuProgram, "run_table", wrong)
    clock.seconds["native"] = 2e-6
    program = c2cu.compile(CLOSE, backend="cpu", verify="strict")
    with pytest.raises(c2cu.MismatchError):
        program(x)
    assert np.array_equal(program(x), right)


def test_a_rival_that_does_not_compile(clock, monkeypatch):
    def fails(artifact):
        raise c2cu.CompileError("C2CU061", "no")

    program = c2cu.compile(CLOSE, backend="cpu", verify=False)
    monkeypatch.setattr("c2cu.backends._load_for_cpu", fails)
    x = rng.uniform(-9, 9, P)
    right = program(x)
    assert program.plan.measured is None and np.array_equal(program(x), right)


def test_explain_says_so(clock, tmp_path):
    file = tmp_path / "k.c"
    file.write_text(CLOSE)
    ask = ["explain", str(file), "--backend", "cpu"]
    assert (
        "may be faster: once there has been enough work, calls compare the two" in CliRunner().invoke(main, ask).output
    )
    c2cu.bulk(file, rng.uniform(-9, 9, P), backend="cpu", verify=False)
    assert "chosen by measurement: " in CliRunner().invoke(main, ask).output


def forest(trees, depth):
    """Trees of branches on data, as generators of code write them."""

    def tree(k, level, at):
        if level == depth:
            return f"y{k} = {at}.5;"
        test = f"x[{(at + level) % 8}] <= {(7 * at % 19) / 10 - 0.9}"
        return f"if ({test}) {{ {tree(k, level + 1, 2 * at)} }} else {{ {tree(k, level + 1, 2 * at + 1)} }}"

    body = "\n".join(f"double y{k}; {tree(k, 0, k + 1)} y += y{k};" for k in range(trees))
    return f"double x[8], y;\nvoid k(void) {{\ny = 0;\n{body}\n}}\n"


@pytest.mark.slow
def test_a_large_text_under_masks_is_compiled_with_less_optimisation():
    large, small = (choose(understood(forest(n, 5)), "cpu", "gang")[1] for n in (20, 2))
    assert large.flags == ("-O2",) and small.flags == ()
    assert choose(understood(CLEAR), "cpu")[1].flags == ()


@pytest.mark.slow
def test_what_takes_long_to_compile_is_worth_it_only_where_it_gains_much():
    front = understood(forest(20, 6))
    plan, _ = choose(front, "cpu")
    assert plan.schedule == "native" and plan.rival.schedule == "gang" and plan.rival.compilation > contest.PATIENCE
    assert "branches, calls and divisions go lane by lane" in dict(plan.rejected)["gang"]
    x = rng.uniform(-1, 1, (P, 8))
    program = c2cu.compile(forest(20, 6), backend="cpu")
    program(x)
    assert program.plan.schedule == "native" and program.plan.measured is None


def test_results_keep_what_is_in_their_pages():
    """An array for results may be an input too, and have any strides."""
    whole = np.random.default_rng(3).random((3000, 5))
    outputs = [whole.copy(), np.asfortranarray(whole), None, np.arange(3000, dtype=np.int16)]
    contest._Arrays((), (), outputs, 3000).touch(16, 2900)
    assert np.array_equal(outputs[0], whole) and np.array_equal(outputs[1], whole)
    assert outputs[3].tolist() == list(range(3000))


#: How often its loop turns is not known, and a compiler may vectorise the other one.
WAVES = """
void k(float u[20][20], float v[20][20], int steps) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 19; i++)
            for (int j = 1; j < 19; j++) v[i][j] = 2 * u[i][j] - v[i][j] + 0.1f * (u[i][j - 1] + u[i][j + 1]);
        for (int i = 1; i < 19; i++) for (int j = 1; j < 19; j++) u[i][j] = v[i][j];
    }
}
"""


def test_a_loop_that_may_be_vectorised_leaves_the_choice_to_a_measurement():
    front = pipeline.understand(read_source(WAVES), pipeline.Options())
    costs = known_costs(front)
    assert costs.sure_gain < 1 < costs.gain
    rival = choose(front, "cpu", "auto")[0].rival
    assert rival is not None and rival.schedule == "native"
