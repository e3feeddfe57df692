"""The judge of programs that may end, print, allocate or draw random numbers: a process of gcc's own for each input."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

import numpy as np

from tests.compiled import compiled_once
from tests.oracle import FLAGS

Variable = tuple[str, str, tuple[int, ...]]

_MAIN = """
#include <stdio.h>
#include <string.h>
extern int dup(int);
int main(void) {
    FILE *results = fdopen(dup(1), "wb");
    fflush(stdout);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) return 99;
%s
    fclose(results);
    return 0;
}
"""


def fresh(
    text: str, fn: str, variables: Sequence[Variable], params: Sequence[tuple[str, str, tuple[int, ...]]], returns: str
) -> str:
    """A program that reads the variables and parameters of one input, calls the kernel, and writes them and what it
    returns. A parameter of shape () is passed by value."""
    lines = [f"    if (!fread((void *)&{n}, sizeof {n}, 1, stdin)) return 98;" for n, _, _ in variables]
    for n, d, s in params:
        count = int(np.prod(s)) if s else 1
        lines += [
            f"    static {_c(d)} arg_{n}[{count}] __attribute__((aligned(64)));",
            f"    if (!fread(arg_{n}, sizeof arg_{n}, 1, stdin)) return 98;",
        ]
    call = f"{fn}({', '.join(f'arg_{n}' if s else f'*arg_{n}' for n, _, s in params)})"
    lines.append(f"    {_c(returns)} returned = {call};" if returns else f"    {call};")
    lines += [f"    fwrite((void *)&{n}, sizeof {n}, 1, results);" for n, _, _ in variables]
    lines += [f"    fwrite(arg_{n}, sizeof arg_{n}, 1, results);" for n, _, s in params if s]
    if returns:
        lines.append("    fwrite(&returned, sizeof returned, 1, results);")
    return text + _MAIN % "\n".join(lines)


def _c(dtype: str) -> str:
    t = np.dtype(dtype)
    if t.kind == "f":
        return {4: "float", 8: "double"}[t.itemsize]
    plain = {1: "char", 2: "short", 4: "int", 8: "long"}[t.itemsize]
    return f"{'unsigned' if t.kind == 'u' else 'signed'} {plain}"


def judge(
    text: str,
    fn: str,
    inputs: Mapping[str, np.ndarray],
    variables: Sequence[Variable] = (),
    params: Sequence[Variable] = (),
    returns: str = "",
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Outputs by name, and the exit status of each input as a shell has it; rows of inputs that ended early are zero."""
    source = fresh(text, fn, variables, params, returns)
    path = compiled_once(["gcc", "-O1", *FLAGS, "-x", "c", "-", "-lm"], source)
    p = len(next(iter(inputs.values())))
    rows = [*variables, *(x for x in params if x[2]), *([("return", returns, ())] if returns else [])]
    out = {n: np.zeros((p, *s), d) for n, d, s in rows}
    status = np.zeros(p, np.int32)
    for k in range(p):
        data = b"".join(np.ascontiguousarray(inputs[n][k]).tobytes() for n, _, _ in (*variables, *params))
        done = subprocess.run([path], input=data, stdout=subprocess.PIPE)
        status[k] = done.returncode if done.returncode >= 0 else 128 - done.returncode
        at, sizes = 0, sum(a[0].nbytes for a in out.values())
        if len(done.stdout) != sizes:
            continue
        for n, d, s in rows:
            size = out[n][0].nbytes
            out[n][k] = np.frombuffer(done.stdout[at : at + size], d).reshape(s)
            at += size
    return out, status
