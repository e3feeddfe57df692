"""Functions of math.h that round correctly, each beside GCC's of 113 bits, and for published arguments that are hard."""

import ctypes
import re
import subprocess

import numpy as np
import pytest

from c2cu.base.libm import CORRECT, FUNCTIONS
from c2cu.codegen.correct_functions import FOLDER, LONG, definitions, replacements
from c2cu.schedule.gang.same_bits import sample
from tests.compiled import compiled_once, loaded

NAMES: list[str] = sorted(CORRECT)
#: How many arguments gave another result than that of 113 bits, and of how many that does not tell the result. With the
#: functions as they are called, and with what they leave the rare arguments to.
COMPARED = """
#include <quadmath.h>
long compared_NAME(const T *x, const T *y, long n, int accurate, long *untold, T *last) {
    long wrong = 0;
    for (long k = 0; k < n; k++) {
        T r = accurate ? c2cu_accurate_NAME(ARGUMENTS) : c2cu_math_NAME(ARGUMENTS);
        __float128 exact = QUAD(ARGUMENTS), error = finiteq(exact) ? exact * 0x1p-105Q : 0;
        T below = (T)(exact - error), above = (T)(exact + error);
        *untold += below != above && exact == exact;
        if (exact != exact ? r == r : below == above && (r != above || !signbit(r) != !signbit(above)))
            wrong++, last[0] = x[k], last[1] = y[k];
    }
    return wrong;
}
"""
#: Arguments whose results are nearest to the middle between two doubles, or floats, of those that others published: found
#: by the searches of Lefevre and Muller and by the authors of CORE-MATH; the results by mpmath.
HARD = {
    "log": [
        ("0x1.31143c7c0b1e6p+962", "0x1.4d7dd253b66d7p+9"), ("0x1.dd6cee1a13ad7p+264", "0x1.6f3a69874035fp+7"),
        ("0x1.58bba4db12da9p+151", "0x1.a3d9ecb1aef8fp+6"), ("0x1.b4870d2098262p+477", "0x1.4b2a35853f522p+8"),
    ],
    "sin": [
        ("0x1.1c63df63d59d0p-2", "0x1.18bf91b163125p-2"), ("0x1.c1c27d6b9a3a1p+5", "-0x1.4a8ff4dfae289p-2"),
        ("0x1.803af6f1aa7edp-17", "0x1.803af6f1866e3p-17"), ("0x1.44599ae031379p+314", "-0x1.0000000000000p+0"),
    ],
    "cos": [
        ("0x1.c3e018c284100p+4", "-0x1.ffbc618b36000p-1"), ("0x1.a05c480fcac1bp+10", "0x1.d805b7cf75428p-1"),
        ("0x1.c65a170474549p-1", "0x1.434a3645be208p-1"), ("0x1.6ac5b262ca1ffp+851", "0x1.0000000000000p+0"),
    ],
    "tan": [
        ("0x1.7efa565652033p-5", "0x1.7f41d38b0316ap-5"), ("0x1.bf9f47347b021p-8", "0x1.bfa10f640839bp-8"),
        ("0x1.e5ba19b2b2692p-21", "0x1.e5ba19b2b2fadp-21"), ("0x1.c839011a23cb6p-9", "0x1.c83979d9073bap-9"),
    ],
    "atan": [
        ("0x1.71a8c77cfe778p+12", "0x1.9214a0aa5bc7dp+0"), ("0x1.5df2931859a97p-12", "0x1.5df2923e5fef1p-12"),
        ("0x1.2e972295c64e7p-3", "0x1.2c6abc5e817b3p-3"), ("0x1.26cec18bfbaebp-12", "0x1.26cec109a975fp-12"),
    ],
    "pow": [
        ("0x1.ffffffffffffcp-1", "0x1.fffffffffffffp-2", "0x1.ffffffffffffep-1"),
        ("0x1.ffffffffffffcp-1", "-0x1.ffffffffffffdp-2", "0x1.0000000000001p+0"),
        ("0x1.ffffffffffffp-1", "-0x1.ffffffffffff6p-3", "0x1.0000000000002p+0"),
        ("0x1.ffffffffffff8p-1", "-0x1.ffffffffffffbp-3", "0x1.0000000000001p+0"),
    ],
}  # fmt: skip
inf, nan = float("inf"), float("nan")
#: What C says of arguments that are special, and results that are exact, or the middle between two: to even.
SPECIAL = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (-inf, 0.0), (inf, inf), (710.0, inf), (-746.0, 0.0), (5e-324, 1.0)],
    "log": [(1.0, 0.0), (0.0, -inf), (-0.0, -inf), (-1.0, nan), (inf, inf)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (5e-324, 5e-324)],
    "cos": [(0.0, 1.0), (-inf, nan), (5e-324, 1.0)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (-5e-324, -5e-324)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (inf, np.pi / 2), (-inf, -np.pi / 2), (1e300, np.pi / 2)],
    "pow": [
        (0.0, 0.0, 1.0), (nan, 0.0, 1.0), (1.0, nan, 1.0), (-1.0, inf, 1.0), (2.0, -inf, 0.0), (0.5, -inf, inf),
        (-0.0, 3.0, -0.0), (-0.0, -3.0, -inf), (-0.0, -2.0, inf), (-8.0, 1.0 / 3, nan), (-inf, 3.0, -inf),
        (-inf, -3.0, -0.0), (-2.0, 3.0, -8.0), (-1.0, 2.0**53 + 2, 1.0), (-1.0, 2.0**53 - 1, -1.0), (2.0, -1074.0, 5e-324),
        (2.0, -1075.0, 0.0), (2.0, 1024.0, inf), (3.0, 33.0, 5559060566555523.0), (3.0, 34.0, 16677181699666568.0),
        (94906267.0, 2.0, 9007199515875288.0), (0.25, 0.5, 0.5), (2.25, 1.5, 3.375),
    ],
    "exp2f": [(10.0, 1024.0), (-149.0, 2.0**-149), (-150.0, 0.0), (128.0, inf), (0.0, 1.0)],
    "log2f": [(2.0**-149, -149.0), (8.0, 3.0), (1.0, 0.0)],
    "log10f": [(1e10, 10.0), (1.0, 0.0)],
    "hypotf": [(3.0, 4.0, 5.0), (inf, nan, inf), (nan, -inf, inf), (4097.0, 4096.0, 5793.32568359375), (2e38, 3e38, inf)],
    "cbrtf": [(-27.0, -3.0), (-0.0, -0.0), (2.0**-147, 2.0**-49), (-inf, -inf)],
    "atan2f": [
        (0.0, -0.0, float(np.float32(np.pi))), (-0.0, 0.0, -0.0), (0.0, 1.0, 0.0), (inf, inf, float(np.float32(np.pi / 4))),
        (-1.0, 0.0, -float(np.float32(np.pi / 2))), (2.0**-149, 2.0, 0.0), (3 * 2.0**-149, 2.0, 2.0**-149), (1.0, inf, 0.0),
    ],
    "powf": [(4097.0, 2.0, 16785408.0), (5793.0, 2.0, 33558848.0), (0.25, -0.5, 2.0)],
    "acosf": [(1.0, 0.0), (-1.0, float(np.float32(np.pi))), (2.0, nan)],
    "acoshf": [(1.0, 0.0), (0.5, nan), (inf, inf)],
    "erfcf": [(11.0, 0.0), (-5.0, 2.0), (inf, 0.0)],
}  # fmt: skip


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """All the functions, and each beside its own of 113 bits."""
    texts = []
    for name in NAMES:
        result, parameters = FUNCTIONS[name]
        arguments = "x[k], y[k]" if len(parameters) == 2 else "x[k]"
        text = COMPARED.replace("NAME", name).replace("ARGUMENTS", arguments)
        texts.append(re.sub(r"\bT\b", result.name, text).replace("QUAD", name.removesuffix("f") + "q"))
    command = ["gcc", "-O2", "-march=native", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-x", "c", "-"]
    probe = "#include <quadmath.h>\n__float128 f(__float128 x) { return expq(x); }\n"
    if subprocess.run(
        [*command, "-lquadmath", "-o", "/dev/null"], input=probe.encode(), capture_output=True
    ).returncode:
        pytest.skip("GCC's library of 113 bits is not here")
    try:
        return loaded(compiled_once([*command, "-lquadmath", "-lm"], definitions(NAMES) + "\n".join(texts)))
    except AssertionError as e:
        raise AssertionError(str(e)[:3000]) from None


def count_of_wrong(library, name: str, count: int, accurate: bool) -> tuple[int, int, list[str]]:
    rng = np.random.default_rng([*NAMES].index(name))
    t = np.dtype(f"f{FUNCTIONS[name][0].size}")
    x, y = (sample(t, rng)[:count] for _ in range(2))
    untold, last = ctypes.c_long(0), np.zeros(2, t)
    run = library[f"compared_{name}"]
    run.restype = ctypes.c_long
    pointers = (ctypes.c_void_p(a.ctypes.data) for a in (x, y))
    wrong = run(*pointers, ctypes.c_long(count), accurate, ctypes.byref(untold), ctypes.c_void_p(last.ctypes.data))
    return wrong, untold.value, [float(v).hex() for v in last]


@pytest.mark.parametrize("accurate", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_results_are_the_exact_ones_rounded(library, name, accurate):
    wrong, untold, last = count_of_wrong(library, name, 1 << 9 if accurate else 1 << 13, accurate)
    assert not wrong, last
    assert untold < 9  # the squares of a few floats


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_of_a_million_arguments_too(library, name):
    wrong, untold, last = count_of_wrong(library, name, 1 << 20, False)
    assert not wrong, last
    assert untold < 300


def test_a_result_that_is_off_by_one_unit_would_be_noticed(library):
    """The comparison itself: sinf is no cosf, and 2^-105 tells nearly all results."""
    text = COMPARED.replace("c2cu_math_NAME(ARGUMENTS)", "nextafterf(c2cu_math_NAME(ARGUMENTS), 9)")
    text = re.sub(r"\bT\b", "float", text.replace("NAME", "cosf").replace("ARGUMENTS", "x[k]")).replace("QUAD", "cosq")
    command = ["gcc", "-O1", "-shared", "-fPIC", "-w", "-x", "c", "-", "-lquadmath", "-lm"]
    planted = loaded(compiled_once(command, "#include <math.h>\n" + definitions(["cosf"]) + text))
    wrong, _, _ = count_of_wrong(planted, "cosf", 1 << 10, False)
    assert wrong > 900


@pytest.mark.parametrize("name", [*HARD])
def test_hard_arguments(name):
    for *arguments, expected in HARD[name]:
        assert one(name, *map(float.fromhex, arguments)) == float.fromhex(expected), arguments


@pytest.mark.parametrize("name", [*SPECIAL])
def test_special_arguments(name):
    for *arguments, expected in SPECIAL[name]:
        result = one(name, *arguments)
        if expected != expected:
            assert result != result, arguments
        else:
            assert (result, np.signbit(result)) == (expected, np.signbit(expected)), arguments


def one(name: str, *arguments: float) -> float:
    command = ["gcc", "-O1", "-shared", "-fPIC", "-w", "-ffp-contract=off", "-x", "c", "-", "-lm"]
    run = loaded(compiled_once(command, replacements([name])))[f"__wrap_{name}"]
    run.restype = t = ctypes.c_float if name.endswith("f") else ctypes.c_double
    return run(*map(t, arguments))


def test_they_are_those_that_there_are_files_of():
    assert {f.stem for f in FOLDER.glob("*.c")} == CORRECT


def test_the_text_has_what_is_called_and_nothing_else():
    text = definitions(["atan"])
    assert "c2cu_math_atan(" in text and "c2cu_wide_angle(" in text
    assert "exp" not in re.sub(r"\w*exponent\w*|/\*.*?\*/", "", text, flags=re.S)
    assert definitions([]) == ""
    assert not re.search(
        r"(?<![\w_])(?:exp|atan|fabs|sqrt)f?\(", re.sub(r"/\*.*?\*/", "", definitions(NAMES), flags=re.S)
    )
    called = {m[1] for m in re.finditer(r"\b(c2cu_\w+)\(", text)}
    assert any(LONG.match(n) for n in called)


@pytest.mark.parametrize("flags", [
    ["-O0"], ["-O3", "-march=native", "-ffp-contract=fast"], ["-O2", "-mno-fma"], ["-O2", "-fno-builtin"],
])  # fmt: skip
def test_no_flag_of_a_compiler_changes_a_bit(flags):
    """Products that are fused, or operations that are not there, change approximations and no results."""
    names = ["exp", "log", "sin", "tan", "atan", "pow", "expf", "powf", "tanhf"]
    calls = " ".join(
        f"r = c2cu_math_{n}(x[k]{', x[n - 1 - k]' if n.startswith('pow') else ''}); "
        "__builtin_memcpy(&bits, &r, 8); sum = sum * 31 + (r == r ? bits : 7);"
        for n in names
    )
    text = definitions(names) + (
        "unsigned long sum_of(const double *x, long n) { unsigned long sum = 0, bits; double r; "
        f"for (long k = 0; k < n; k++) {{ {calls} }} return sum; }}\n"
    )
    x = sample(np.dtype("f8"), np.random.default_rng(5))[:3000]
    sums = []
    for given in (["-O2", "-ffp-contract=off"], flags):
        command = ["gcc", *given, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-lm"]
        run = loaded(compiled_once(command, text))
        run.sum_of.restype = ctypes.c_ulong
        sums.append(run.sum_of(ctypes.c_void_p(x.ctypes.data), ctypes.c_long(len(x))))
    assert sums[0] == sums[1]
