"""Whole programs with a schedule's kernels: each prints what p runs of the original print, and ends as they do."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

import c2cu
from c2cu.cli import main
from c2cu.frontend.options import options_of
from c2cu.frontend.preprocess import read_source
from c2cu.pipeline import understand
from c2cu.schedule import registry
from c2cu.schedule.choose import choose
from c2cu.schedule.gang import same_bits
from tests import nvcc
from tests.compiled import compiled_once
from tests.cuda_host import program_on_cpu
from tests.oracle import Original, run_original, same
from tests.programs import COUNT, SEED, write
from tests.sample import sampled, slow
from tests.test_gpu import as_text
from tests.test_standalone import KEPT, LIBRARY, NAMES, RUNS
from tests.test_standalone_process import KERNELS
from tests.whole_programs import COLUMNS, HOST, PRIVATE, inputs, original, together
from tests.workloads import WORKLOADS, Workload, lu, paths

FORMATS = {"float32": "%a", "int16": "%hd", "uint8": "%hhu", "int32": "%d", "uint32": "%u"}
SCHEDULES = [
    *(("cuda", s) for s in ("auto", *registry.names("cuda"), *registry.variants("cuda"))),
    *(("cpu", s) for s in ("auto", *registry.names("cpu"), *registry.variants("cpu"))),
]
CUDA_ONES = [("cuda", s) for s in ("auto", "registers", "block", "private", "thread")]
BARE = """
#include <stdio.h>
int table[4] = {3, 1, 4, 1}, sum;
static int calls;
void kern(void) { for (int i = 0; i < 4; i++) { sum += table[i]; table[i] *= 2; } calls++; }
int main(void) {
    kern();
    printf("%d %d %d\\n", sum, table[2], calls);
    return sum == 9 ? 7 : 0;
}
"""
NOTHING = """
#include <stdio.h>
int a[4];
void kern(void) {}
int main(void) {
    if (scanf("%d", &a[2]) != 1) return 1;
    kern();
    printf("%d\\n", a[2]);
    return 0;
}
"""
CLOSURE = """
#include <stdio.h>
#define N 40
_Bool R[N][N];
void closure(void) {
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) R[i][j] = R[i][j] || (R[i][k] && R[k][j]);
}
int main(void) {
    int n, a, b;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 0; i < n; i++) if (scanf("%d%d", &a, &b) == 2) R[a][b] = 1;
#pragma kernel
    closure();
    for (int i = 0; i < N * N; i++) putchar('0' + R[i / N][i % N]);
    return 0;
}
"""
STRUCTS = """
#include <stdio.h>
struct point { double x, y; } corners[3], centre;
static double scale = 0.5;
int moves[2][3];
static double turn(int by, double *weight) {
    static int turns = 4;
    double all = 0;
    for (int i = 0; i < 3; i++) {
        centre.x += corners[i].x * scale;
        centre.y += corners[i].y * scale + corners[i].x * 0.1;
        all += weight[i] * moves[i % 2][i];
    }
    scale *= 3;
    turns += by;
    weight[0] = turns;
    return all;
}
int main(void) {
    double weight[3] = {1.5, 2.5}, result;
    int by, start = 7;
    if (scanf("%d", &by) != 1) return 3;
    for (int i = 0; i < 3; i++) if (scanf("%lf%lf%d", &corners[i].x, &corners[i].y, &moves[i % 2][i]) != 3) return 2;
    printf("%d: ", by);
    if (by > 90) return 5;
    result = turn(by + start, weight);
    printf("%a %a %a %a %g\\n", centre.x, centre.y, result, scale, weight[0]);
    return result > 400;
}
"""


def with_main(w: Workload) -> str:
    """A workload as a whole program, which reads its inputs as words."""
    if "int main" in w.text:
        return w.text
    types = {"float32": "float", "int16": "short", "uint8": "unsigned char", "int32": "int", "uint32": "unsigned"}
    lengths = {n: int(np.prod(shape, dtype=int)) for n, _, shape in (*w.variables, *w.params)}
    local = "".join(f"    {types[t]} {n}[{lengths[n]}] = {{0}};\n" for n, t, _ in w.params)
    arrays = {n: t for n, t, _ in (*w.variables, *w.params)}
    flat = {n: f"(({types[t]} *){n})[i]" for n, t in arrays.items()}
    reads = [n for n in arrays if n in w.random(1)]
    scans = "".join(
        f'    for (int i = 0; i < {lengths[n]}; i++) if (scanf("{FORMATS[arrays[n]]}", &{flat[n]}) != 1) return 1;\n'
        for n in reads
    )
    prints = "".join(
        f'    for (int i = 0; i < {lengths[n]}; i++) printf("{FORMATS[arrays[n]]} ", {flat[n]});\n'
        for n in w.outputs
        if n != "return"
    )
    call = f"{w.fn}({', '.join(n for n, _, _ in w.params)});"
    if w.returns:
        local += f"    {types[w.returns]} value;\n"
        call, prints = f"value = {call}", f'    printf("{FORMATS[w.returns]} ", value);\n'
    body = f'{local}{scans}#pragma kernel\n    {call}\n{prints}    puts("");\n    return 0;\n'
    return f"{w.text}\n#include <stdio.h>\nint main(void) {{\n{body}}}\n"


def stdin_of(w: Workload, p: int) -> list[str]:
    """Each run's words."""
    arrays = w.inputs(p)
    rows = [{n: a if n in w.shared else a[k] for n, a in arrays.items()} for k in range(p)]
    if "int main" in w.text:
        return [as_text(row) for row in rows]
    names = [n for n, _, _ in (*w.variables, *w.params) if n in arrays]
    return [" ".join(_word(x) for n in names for x in row[n].reshape(-1)) for row in rows]


def _word(x) -> str:
    return float(x).hex() if isinstance(x, np.floating) else str(x)


CASES = {w.name: (with_main(w), w) for w in [*WORKLOADS, lu(12), paths(5)]}
CASES |= {
    "bare": (BARE, [""] * 40),
    "nothing": (NOTHING, [f"{k}" for k in range(40)]),
    "structs": (STRUCTS, [f"{k * 7 % 100} " + " ".join(f"{k / 9} {-k} {k % 5}" for _ in range(3)) for k in range(40)]),
    "table": (NAMES["a table"], RUNS),
    "closure": (CLOSURE, [f"{k} " + " ".join(f"{i * k % 40} {i * i % 40}" for i in range(k)) for k in range(40)]),
    "columns": (COLUMNS, inputs("columns")[:40]),
    "private": (PRIVATE, inputs("private")[:40]),
    "host": (HOST, inputs("host")[:40]),
}
QUICK = {"fw-5": "auto gep", "nothing": "auto", "structs": "auto private gang registers thread"}


def refusal(text: str, target: str, schedule: str, shared: tuple = ()) -> str:
    """The code with which a schedule refuses a kernel; "" where it takes it."""
    try:
        choose(understand(read_source(text), options_of(shared=shared)), target, schedule)
    except c2cu.UnsupportedError as e:
        return e.code
    return ""


STRICT = ("-Wall", "-Wextra", "-Werror")


def built(text: str, target: str, warnings: tuple[str, ...] = STRICT):
    if target == "cuda":
        return program_on_cpu(text)
    return compiled_once(["cc", "-O3", *warnings, "-x", "c", "-", "-lm", "-lpthread"], text)


def check(text: str, runs: list[str], target: str, build=built, **options) -> None:
    """The translation, and what p runs of the original print."""
    program = build(c2cu.translate(text, p=len(runs), target=target, **options), target)
    done = subprocess.run([program], input="\n".join(runs).encode(), capture_output=True, timeout=120)
    assert (done.stdout, done.returncode) == together([original(text, r) for r in runs])


def check_case(name: str, target: str, schedule: str, sizes: tuple[int, ...], build=built) -> None:
    """One of `CASES`, for numbers of inputs, under a schedule that may not take it."""
    text, source = CASES[name]
    shared = source.shared if isinstance(source, Workload) else ()
    for p in sizes:
        runs = stdin_of(source, p) if isinstance(source, Workload) else source[:p]
        try:
            check(text, runs, target, build, schedule=schedule, shared=shared)
        except c2cu.UnsupportedError as e:
            why = refusal(text, target, schedule, shared)
            assert e.code == (why or "C2CU331") and e.line
            assert why or schedule == "gep:bands"


def cases() -> Iterator:
    for name in CASES:
        for target, schedule in SCHEDULES:
            case = name, target, schedule
            yield case if schedule in QUICK.get(name, "").split() else slow(case)


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("name, target, schedule", list(cases()))
def test_each_prints_what_the_runs_print(name, target, schedule):
    check_case(name, target, schedule, (37, 1))


MOVES = """
#include <stdio.h>
typedef float row[2];
float total(const float a[4], const row b, int n, float last[const 1]) {
    float sum = 0;
    for (const float *end = a + n; a < end; a++) sum += *a;
    b += 1;
    *last = *b;
    return sum + *b;
}
int main(void) {
    float a[4], last, sum;
    for (int i = 0; i < 4; i++) if (scanf("%f", &a[i]) != 1) return 1;
#pragma kernel
    sum = total(a, a + 1, 4, &last);
    printf("%g %g\\n", sum, last);
    return 0;
}
"""


@pytest.mark.parametrize("target, schedule", [("cuda", "private"), ("cuda", "registers"), ("cpu", "native")])
def test_an_array_parameter_of_constants_may_move(target, schedule):
    check(MOVES, [f"{k} {k + 1} {k * k} 7" for k in range(5)], target, schedule=schedule)


ENDS_EARLY = """
#include <math.h>
int lengths(const double a[6][6], double x[6]) {
    double A[6][6];
    for (int i = 0; i < 6; i++) for (int j = 0; j < 6; j++) A[i][j] = a[i][j];
    for (int k = 0; k < 6; k++) {
        double sum = 0;
        for (int i = k; i < 6; i++) sum = hypot(sum, A[i][k]);
        if (sum == 0) return 1;
        for (int i = k; i < 6; i++) A[i][k] /= sum;
        x[k] = sum;
    }
    return 0;
}
"""


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
def test_what_lanes_call_one_by_one_is_compiled_without_a_warning(tmp_path):
    """Where some lanes have ended too, and hold nothing that the call would have given."""
    made = c2cu.library(ENDS_EARLY, "lengths", target="cpu", schedule="gang")
    assert "hypot(" in made.source
    (tmp_path / "lengths.c").write_text(made.source)
    (tmp_path / "lengths.h").write_text(made.header)
    command = ["gcc", "-O3", "-march=native", *STRICT, "-c", "lengths.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("schedule", [None, "gang"])
def test_no_name_of_an_attribute_is_respelled(schedule):
    text = """
#include <math.h>
#include <stdio.h>
double x[4];
void roots(void) { for (int i = 0; i < 4; i++) x[i] = sqrt(x[i]); }
int main(void) {
    if (scanf("%lf", &x[1]) != 1) return 1;
    roots();
    return !printf("%a ", x[1]);
}
"""
    check(text, ["2", "3", "4"], "cpu", schedule=schedule)


OTHERS = {**KEPT, **LIBRARY, **NAMES, **KERNELS}


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("target", ["cpu", slow("cuda")])
@pytest.mark.parametrize("name", [name if name == "a table" else slow(name) for name in OTHERS])
def test_whatever_main_does_auto_writes_a_program(name, target):
    text = OTHERS[name]
    program = built(c2cu.translate(text, p=len(RUNS), target=target, schedule="auto"), target)
    done = subprocess.run([program], input="\n".join(RUNS).encode(), capture_output=True, timeout=120)
    out, status = together([original(text, r) for r in RUNS])
    assert (done.stdout, done.returncode) == (out, status if status >= 0 else 128 - status)


COMPLEX = """
#include <complex.h>
#include <stdio.h>
int orbit(double re, double im) {
    double complex c = re + im * I, z = 0;
    int k = 0;
    for (int i = 0; i < 20; i++) if (creal(z) * creal(z) + cimag(z) * cimag(z) < 4) { z = z * z + c; k++; }
    return k;
}
int main(void) {
    double a, b;
    if (scanf("%lf %lf", &a, &b) != 2) return 1;
#pragma kernel
    int k = orbit(a, b);
    printf("%d\\n", k);
    return 0;
}
"""


def test_complex_numbers_stay_in_the_kernel():
    runs = ["0.1 0.2", "-1.3 0.4", "2 2"]
    check(COMPLEX, runs, "cuda", schedule="auto")
    with pytest.raises(c2cu.UnsupportedError, match="complex"):
        c2cu.translate(COMPLEX, p=3, target="cuda")
    with pytest.raises(c2cu.UnsupportedError, match="complex"):
        c2cu.translate(
            COMPLEX.replace(
                "&a, &b) != 2) return 1;", "&a, &b) != 2) return 1;\n    double complex w = a; b = creal(w);"
            ),
            p=3,
            schedule="auto",
        )


@pytest.mark.costly
@pytest.mark.parametrize("group", [7, slow(1), slow(100)])
@pytest.mark.parametrize(
    "name, target, schedule",
    [
        ("fw-5", "cuda", "gep"),
        slow(("fw-5", "cuda", "gep:staged")),
        ("structs", "cuda", "auto"),
        slow(("bitonic-32", "cuda", "registers")),
        ("structs", "cpu", "gang"),
        slow(("fw-5", "cpu", "gep")),
    ],
)
def test_in_groups(name, target, schedule, group):
    text, source = CASES[name]
    runs = stdin_of(source, 37) if isinstance(source, Workload) else source[:37]
    check(text, runs, target, schedule=schedule, group=group)


class RandomProgram:
    """A whole program with a random kernel, and ``p`` inputs."""

    def __init__(self, seed: int, p: int):
        program = write(seed)
        self.variables, self.p = program.variables, p
        self.names = [n for n, _, _ in self.variables]
        reads = "".join(f"    if (fread(&{n}, sizeof {n}, 1, stdin) != 1) return 1;\n" for n in self.names)
        writes = "".join(f"    fwrite(&{n}, sizeof {n}, 1, stdout);\n" for n in self.names)
        main = f"int main(void) {{\n{reads}    kern();\n{writes}    return 0;\n}}\n"
        self.kernel, self.text = program.text, f"#include <stdio.h>\n{program.text}\n{main}"
        self.inputs = program.inputs(p, seed)

    def check(self, executable) -> None:
        """It prints what p runs of gcc's program do."""
        stdin = b"".join(self.inputs[n][k].tobytes() for k in range(self.p) for n in self.names)
        done = subprocess.run([executable], input=stdin, capture_output=True, timeout=120)
        expected = Original(self.kernel, "kern", self.variables).bulk(self.inputs, self.p)
        results = np.frombuffer(done.stdout, np.dtype([(n, dtype, shape) for n, dtype, shape in self.variables]))
        assert all(same(np.ascontiguousarray(results[n]), expected[n]) for n in self.names), self.text


@pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")
@pytest.mark.parametrize("target, schedule", [("cpu", "auto"), *map(slow, [("cpu", "gang"), *CUDA_ONES])])
@pytest.mark.parametrize("seed", sampled(range(SEED, SEED + max(2, COUNT // 10)), 100))
def test_random_programs(seed, target, schedule):
    """A random kernel between a part of main that reads its variables' bytes and one that writes them."""
    program = RandomProgram(seed, 21)
    try:
        made = c2cu.translate(program.text, p=program.p, target=target, schedule=schedule, fn="kern")
    except c2cu.UnsupportedError:
        return
    program.check(built(made, target, ("-w",)))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ziglang") is None, reason="there is no clang")
@pytest.mark.parametrize("schedule", [None, "gang", "gep"])
@pytest.mark.parametrize("name", ["fw-5", "lu-12", "edit-32", "structs", "columns"])
def test_clang_takes_it_without_a_warning(name, schedule):
    text, source = CASES[name]
    runs = stdin_of(source, 9) if isinstance(source, Workload) else source[:9]
    try:
        made = c2cu.translate(text, p=9, target="cpu", schedule=schedule)
    except c2cu.UnsupportedError:
        return
    clang = [sys.executable, "-m", "ziglang", "cc", "-O3", "-Wall", "-Werror", "-x", "c", "-", "-lm", "-lpthread"]
    done = subprocess.run([compiled_once(clang, made)], input="\n".join(runs).encode(), capture_output=True)
    assert (done.stdout, done.returncode) == together([original(text, r) for r in runs])


@pytest.mark.parametrize("name", sampled(["lu-12", "fft-64"], 2))
@pytest.mark.parametrize("schedule", ["auto", *(slow(s) for s in registry.names("cuda"))])
def test_products_are_not_contracted(name, schedule):
    """nvcc contracts a plain product and sum, unless it is told otherwise."""
    try:
        text = c2cu.translate(CASES[name][0], p=9, schedule=schedule)
    except c2cu.UnsupportedError:
        return
    assert "mul_rn(" in text


@nvcc.needed
@pytest.mark.parametrize("schedule", [None, *registry.all_names("cuda")])
@pytest.mark.parametrize(
    "name", ["lu-12", "fft-64", "fw-5", "structs", "nothing", "private", "bitonic-32", "prefix-1024"]
)
def test_nvcc_takes_it_without_a_warning_and_contracts_nothing(name, schedule, tmp_path):
    for group in (None, 4):
        try:
            text = c2cu.translate(CASES[name][0], p=9, schedule=schedule, group=group)
        except c2cu.UnsupportedError:
            return
        (tmp_path / "x.cu").write_text(text)
        command = ["nvcc", "-arch=sm_90", "-Xcompiler", "-Wall", "x.cu"]
        for kind in ("-ptx", "-c"):
            done = subprocess.run([*command, kind], cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0 and "warning" not in done.stderr, done.stderr[:2000]
        assert "fma.rn.f" not in (tmp_path / "x.ptx").read_text()


def test_what_floating_point_may_do():
    """With 'fast' products are left to nvcc; 'exact' is the default."""
    text = CASES["lu-12"][0]
    assert "mul_rn(" not in c2cu.translate(text, p=9, schedule="gep", fp="fast")
    with pytest.raises(c2cu.InputError):
        c2cu.translate(text, p=9, schedule="gep", fp="sloppy")


def test_the_form_for_a_cpu_says_what_it_needs():
    text = c2cu.translate(CASES["fw-5"][0], p=9, target="cpu", schedule="gang")
    assert "pthread_create" in text and "schedule 'gang'" in text
    assert "pthread" not in c2cu.translate(CASES["fw-5"][0], p=9, target="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("target, schedule", [("cpu", "gep"), slow(("cpu", "gang")), slow(("cuda", "gep"))])
def test_the_users_names_are_left_to_the_user(target, schedule):
    """Globals that are called as the kernels' own functions and macros."""
    text, source = CASES["fw-5"]
    made = c2cu.translate(text, p=5, target=target, schedule=schedule)
    before = made.partition("/* What one run of the original keeps")[0]
    names = set(re.findall(r"^[ \t]*#define (\w+) ", before, re.M)) | {"cell", "strip", "pack", "work", "kernel"}
    names = sorted(n for n in names - {"N"} if not n.lower().startswith(("c2cu_", "_")))
    text = text.replace("int main", f"int {', '.join(names)};\nint main")
    text = text.replace("return 0;", "".join(f"{n}++; " for n in names) + "return 0;")
    check(text, stdin_of(source, 5), target, schedule=schedule)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"schedule": "nobody"}, "schedule cannot be .nobody."),
        ({"schedule": "gang"}, "is for backend cpu"),
        ({"schedule": "scan", "target": "cpu"}, "is for backend cuda"),
    ],
)
def test_what_is_no_schedule_of_the_target(options, message):
    with pytest.raises(c2cu.InputError, match=message):
        c2cu.translate(CASES["fw-5"][0], p=9, **options)


def test_what_auto_would_gain_is_said_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(CASES["fw-5"][0])
    said = CliRunner().invoke(main, ["translate", "k.c", "--p", "9", "-o", "k.cu"]).output
    assert re.fullmatch(
        r"k.c:\d+:\d+: note: this is the form that is best read; --schedule auto writes the kernels of schedule"
        r" '[\w:]+'(, about [\d.,]+ times as fast by estimate)?\n",
        said,
    )
    for more in (["--schedule", "auto"], ["--target", "cpu"], ["--schedule", "thread"]):
        name = "k_bulk.c" if "cpu" in more else "k.cu"
        assert CliRunner().invoke(main, ["translate", "k.c", "--p", "9", "-o", name, *more]).output == ""


@pytest.mark.parametrize("schedule", ["private", "registers"])
def test_functions_of_math_have_the_library_s_bits(schedule):
    body = 'int main(void) { scanf("%lf", &x); k(); printf("%a %a\\n", r, q); return 0; }\n'
    text = "#include <math.h>\n#include <stdio.h>\ndouble x, r, q;\nvoid k(void) { r = exp(x); q = sin(x); }\n" + body
    values = [0.5, -0.125, 3.25, -700.5, -745, 1e22, 709.75]
    written = c2cu.translate(text, p=len(values), schedule=schedule)
    assert "c2cu_math_exp(" in written and "c2cu_math_sin(" in written
    stdin = "\n".join(map(str, values)).encode()
    printed = subprocess.run([program_on_cpu(written)], input=stdin, capture_output=True, check=True).stdout
    if same_bits.equal(frozenset({"exp", "sin"})) == {"exp", "sin"}:  # else of another library than ours are like
        assert printed == b"".join(run_original(text, str(v)) for v in values)


@pytest.mark.parametrize("target, schedule", [("cpu", "gang"), ("cuda", "thread")])
@pytest.mark.parametrize(
    "parameters", ["int argc, const char *argv[]", "int n, char const *const *v", "int n, char *const v[]"]
)
def test_parameters_of_main_may_point_to_what_is_const(parameters, target, schedule):
    counted = re.findall(r"\w+", parameters)[1]
    text = (
        f"#include <stdio.h>\nint a;\nvoid k(void) {{ a *= 2; }}\nint main({parameters}) {{\n"
        f'    if (scanf("%d", &a) != 1) return 1;\n    k();\n    printf("%d %d\\n", a, {counted});\n    return 0;\n}}\n'
    )
    check(text, ["3\n", "4\n", "-5\n"], target, schedule=schedule)
