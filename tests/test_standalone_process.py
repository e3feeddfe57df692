"""Kernels that allocate, print, end their process or call themselves: a CUDA program gives each thread a process."""

import shutil
import subprocess

import pytest

import c2cu
from tests.cuda_host import program_on_cpu
from tests.oracle import executable, run_original
from tests.sample import sampled
from tests.test_standalone import OWN_TEXT, RUNS, build, program

pytestmark = pytest.mark.filterwarnings("ignore::c2cu.NotObliviousWarning")

EACH = "for (int i = 0; i < 3; i++)"
KERNELS = {
    **{n: OWN_TEXT[n] for n in ("recursion", "memory and callbacks", "an exit", "output")},
    "recursion of two": program(kernel="int odd(int n); int even(int n) { return n == 0 || odd(n - 1); }\n"
    f"int odd(int n) {{ return n != 0 && even(n - 1); }}\nvoid k(void) {{ {EACH} o[i] = even(a[i] & 63); }}\n"),
    "an exit deep down": program(kernel="int f(int n) { if (n == 7) exit(300); return n ? 1 + f(n - 1) : 0; }\n"
    f"void k(void) {{ {EACH} {{ if (a[i] == 8) f(9); o[i] = a[i]; }} }}\n", after='puts("after");'),
    "an assertion": program(kernel=f"void k(void) {{ {EACH} {{ assert(a[i] != 9); o[i] = a[i]; }} }}\n", top="#include <assert.h>\n"),
    "random numbers": program(kernel="void k(void) { unsigned s = a[1]; o[0] = rand() ^ rand_r(&s); srand(a[0]); o[1] = rand() ^ (int)random();\n"
    "    srand48(a[2]); o[2] = lrand48() ^ mrand48() ^ (int)(drand48() * 1e9) ^ rand_r(&s); }\n"),
    "memory": program(kernel="void k(void) { char *s = strdup(\"abc\"), *t = strndup(s, 2); int *m = calloc(3, 4);\n"
    f"    m = realloc(m, 40); {EACH} o[i] = m[i] += a[i] + s[i] + t[1]; m = realloc(m, 8); o[2] += m[1]; free(m); free(s); free(t); }}\n"),
    "strtok": program(kernel='void k(void) { char s[] = "1,22,,333"; int n = 0; for (char *p = strtok(s, ","); p; p = strtok(0, ",")) o[n++] = strlen(p); }\n'),
    "a list": program(kernel="struct L { int v; struct L *next; } *head;\nvoid k(void) { head = 0;\n"
    f"    {EACH} {{ struct L *p = malloc(sizeof *p); p->v = a[i]; p->next = head; head = p; }}\n"
    "    for (int i = 0; head; i++) { struct L *p = head; o[i] = p->v; head = p->next; free(p); } }\n"),
    "output of every kind": program(
        kernel='void k(void) { const char *s = "text"; puts(s); putchar(65); fputs("b%d\\n", stdout); fputc(10, stdout); fprintf(stderr, "e");\n'
        '    printf("%5d|%-4s|%.2s|%c|%x|%lu|%lld|%%|%8.3f|%g|%*d\\n", a[0], s, s, 67, 255, 3ul, -1ll, 2.5f, 1e-9, a[1] & 7, 3);\n'
        '    a[0] > 3 ? printf("big\\n") : (void)0; fwrite(a, 1, 2, stdout); fflush(stdout); for (int i = 0; i < 300; i++) printf("%d ", i);\n'
        '    if (a[0] < 0) exit(printf("bye\\n") * 0 + 3); o[1] = 5; }\n'.replace('printf("bye\\n") * 0 + ', "")),
    "output that is lost": program('printf("in: ");', 'puts("!");', kernel='void k(void) { printf("<%d>", a[0]); if (a[0] < 0) abort(); o[0] = 1; }\n'),
    "output before that is lost": program('printf("in: ");', 'puts("!");', kernel='void k(void) { if (a[0] < 0) abort(); if (a[0] > 5) exit(3); o[0] = 1; }\n'),
    "output before and after": program('printf("in: ");', 'puts("!");', kernel='void k(void) { printf("<%d>", a[0]); o[0] = 1; }\n'),
}  # fmt: skip


@pytest.mark.costly
@pytest.mark.parametrize("name", sampled(KERNELS, 6))
def test_a_thread_is_a_process(name):
    text = KERNELS[name]
    runs = [subprocess.run([executable(text)], input=r.encode(), capture_output=True) for r in RUNS]
    status = next((r.returncode for r in runs if r.returncode), 0)
    for group in (None, 2):
        ours = program_on_cpu(c2cu.translate(text, p=len(RUNS), group=group))
        done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
        assert done.stdout == b"".join(r.stdout for r in runs)
        assert done.returncode == (status if status >= 0 else 128 - status)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")
def test_nvcc_takes_it(tmp_path):
    for name in ("output of every kind", "memory", "an exit deep down"):
        (tmp_path / name).mkdir()
        build(KERNELS[name], "cuda", tmp_path / name, 5)


@pytest.mark.parametrize(
    "line", ['o[0] = printf("x");', 'printf(a[0] ? "x" : "y");', 'FILE *f = stdout; fputs("x", f);']
)
def test_what_cannot_be_printed_later_is_refused(line):
    text = program(kernel=f"void k(void) {{ {line} }}\n")
    with pytest.raises(c2cu.UnsupportedError, match="the kernel prints|C2CU17"):
        c2cu.translate(text, p=2)


def test_runs_that_end_before_the_kernel_do_nothing_in_it():
    text = program("", kernel='void k(void) { printf("%d;", a[0]); o[0] = 1; }\n').replace(
        "#pragma kernel", "if (a[0] < 0) return 7;\n#pragma kernel"
    )
    ours = program_on_cpu(c2cu.translate(text, p=len(RUNS)))
    done = subprocess.run([ours], input="\n".join(RUNS).encode(), capture_output=True)
    assert done.stdout == b"".join(run_original(text, r) for r in RUNS if "-7" not in r) and done.returncode == 7


def test_too_deep_a_recursion_is_an_error():
    text = program(kernel="int f(int n) { volatile char m[4096] = {0}; m[n & 4095] = n; return n ? f(n - 1) + m[n & 4095] : 0; }\n"
                   "void k(void) { o[0] = f(a[0] * 100); }\n")  # fmt: skip
    done = subprocess.run([program_on_cpu(c2cu.translate(text, p=1))], input=b"8 0 0", capture_output=True)
    assert done.returncode == 1 and b"too deep" in done.stderr and not done.stdout
