"""The CUDA printer: what it prints means what the flat IR means. g++ compiles it without -fwrapv: it must not need it."""

import ctypes
import subprocess

import numpy as np
import pytest

from c2cu.base.ctype import DOUBLE, FLOAT, INT, LONG, UINT, ULONG
from c2cu.codegen.contraction import called_products
from c2cu.codegen.cuda import CudaText, element_name, literal, region_name
from c2cu.codegen.device_library import with_integers
from c2cu.frontend.preprocess import Source
from c2cu.ir.nodes import Binary, Bitcast, Call, Cast, Const, Unary, Var, Variable
from c2cu.pipeline import Options, understand
from c2cu.schedule import registry
from tests.compiled import loaded
from tests.cuda_host import HEADER, run_on_cpu
from tests.oracle import Original, same
from tests.programs import share, write
from tests.test_uniform import elements

COUNT = share(40, 12)
PARTS = COUNT // 12


def function(name: str, kernel) -> str:
    """A kernel as a function of its regions' addresses."""
    p = CudaText()
    for k, r in enumerate(kernel.regions):
        t = element_name(r.type)
        if r.storage == "shared" and r.init is not None:
            p.line(f"static const {t} {region_name(r)}[] = {{{', '.join(literal(v, r.type) for v in r.init)}}};")
        elif r.storage == "local":
            p.line(f"{t} {region_name(r)}[{r.count}];")
        else:
            p.line(f"{t} *{region_name(r)} = ({t} *)regions[{k}];")
    p.declare(kernel.body)
    p.block(kernel.body)
    return "\n".join([f'extern "C" void {name}(void **regions) {{', *p.lines, "}"])


def compiled(text: str, folder) -> ctypes.CDLL:
    path = folder / "x.so"
    command = ["g++", "-std=c++20", "-O1", "-fno-strict-aliasing", "-ffp-contract=off", "-frounding-math", "-w"]
    done = subprocess.run(
        [*command, "-fsanitize=signed-integer-overflow", "-fsanitize-undefined-trap-on-error", "-shared", "-fPIC"]
        + ["-x", "c++", "-", "-o", str(path)],
        input=f'#include "{HEADER}"\n{with_integers(text)}'.encode(),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode() + text
    return loaded(path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part, tmp_path):
    cases = []
    for k in range(part, COUNT, PARTS):
        program = write(700_000 + k)
        front = understand(Source("<input>", program.text), Options(fn="kern"))
        if front.analysis is not None:
            cases.append((f"f{k}", program, front.analysis.kernel))
    assert cases
    library = compiled("\n".join(function(name, kernel) for name, _, kernel in cases), tmp_path)
    for name, program, kernel in cases:
        inputs = program.inputs(5, 3)
        expected = Original(program.text, "kern", program.variables).bulk(inputs, 5)
        for i in range(5):
            data = dict(pair for n in inputs for pair in elements(n, inputs[n][i]))
            right = dict(pair for n in expected for pair in elements(n, expected[n][i]))
            arrays = [np.array(data.get(r.name, r.init or [0] * r.count), r.type.numpy) for r in kernel.regions]
            getattr(library, name)((ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)))
            for r, a in zip(kernel.regions, arrays):
                if r.storage == "bulk":
                    assert same(a, np.array(right[r.name], r.type.numpy)), f"{r.name} differs\n{program.text}"


A, B = Var(Variable("a", INT, 1)), Var(Variable("b", INT, 2))
U, V = Var(Variable("u", UINT, 1)), Var(Variable("v", UINT, 2))


@pytest.mark.parametrize(
    "e, text",
    [
        (Binary("+", A, B, INT), "(int)((unsigned int)a_1 + (unsigned int)b_2)"),
        (Binary("*", Cast(U, ULONG), Cast(V, ULONG), ULONG), "((unsigned long long)u_1 * (unsigned long long)v_2)"),
        (Unary("-", A, INT), "(int)(0 - (unsigned int)a_1)"),
        (Binary("<<", A, Const(3, INT), INT), "(int)((unsigned int)a_1 << 3)"),
        (Const(-(2**31), INT), "(-2147483647 - 1)"),
        (Const(-(2**63), LONG), "(-9223372036854775807ll - 1)"),
        (Const(0.1, DOUBLE), "0x1.999999999999ap-4"),
        (Const(-1.5, FLOAT), "(-1.5f)"),
        (Const(-0.0, FLOAT), "(-0.0f)"),
        (Const(1000.0, DOUBLE), "1000.0"),
        (Const(2.0**100, FLOAT), "0x1.0000000000000p+100f"),
        (Const(float("-inf"), FLOAT), "(-(1.0f / 0.0f))"),
        (Bitcast(U, FLOAT), "__uint_as_float(u_1)"),
        (
            Call("min", (A, Binary("+", A, B, INT)), INT),
            "min(a_1, (int)((unsigned int)a_1 + (unsigned int)b_2))",
        ),
    ],
)
def test_spelling(e, text):
    assert CudaText().expr(e) == text


def test_products_that_are_not_contracted():
    x = Var(Variable("x", FLOAT, 1))
    with called_products():
        assert CudaText().expr(Binary("*", x, x, FLOAT)) == "__fmul_rn(x_1, x_1)"


MACROS = (
    "W n k b to from word state in out in_stride out_stride pack unpack start slot id p CHUNK x y device align".split()
)


@pytest.mark.parametrize("schedule", ["private", "thread"])
def test_macros_of_any_name(schedule):
    """What generated code calls its own things does not matter: the program's macros end before it."""
    defined = "".join(f"#define {m} {k + 2}\n" for k, m in enumerate(MACROS))
    body = " ".join(f"a[{k}] += {m} * v;" for k, m in enumerate(MACROS))
    text = f"{defined}int a[{len(MACROS)}], v;\nvoid kern(void) {{ static int s = W; {body} a[0] += s++; }}\n"
    v = np.arange(40, dtype=np.int32)
    inputs = {"v": v, "a": np.zeros((40, len(MACROS)), np.int32)}
    artifact = registry.emit_schedule(schedule, understand(Source("k.c", text), Options()))
    assert "#define W 2\n" in artifact.text
    expected = v[:, None] * np.arange(2, 2 + len(MACROS), dtype=np.int32)
    expected[:, 0] += 2
    assert np.array_equal(run_on_cpu(artifact, inputs, 40)["a"], expected)
