"""Floats that no integer type holds: C leaves the result open, and every x86 but for AVX-512 gives these bits."""

import numpy as np

FLOATS = {"float": np.float32, "double": np.float64}
INTEGERS = {
    "char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned": np.uint32,
    "long": np.int64,
    "unsigned long": np.uint64,
}
_POWERS = [2.0**k for k in (7, 8, 15, 16, 31, 32, 33, 62, 63, 64, 70)]
_NEAR = [x for power in _POWERS for x in (power, power - 1, np.nextafter(power, 0), power * 1.25)]
VALUES = np.array([0.5, -0.5, -1.5, 3e9, 1e20, np.nan, np.inf, -0.0, *_NEAR] + [-x for x in [np.inf, *_NEAR]])


def case(float_type: str, integers: str) -> tuple[str, list[tuple], dict[str, np.ndarray]]:
    """A kernel that converts by a cast, an assignment, a return and a compound assignment, what it has, and inputs."""
    text = (
        f"{float_type} a; {integers} o[4]; static {integers} f({float_type} x) {{ return x; }}\n"
        f"void kern(void) {{ o[0] = ({integers})(a * 1); o[1] = a; o[2] = f(a); o[3] += a; }}\n"
    )
    with np.errstate(over="ignore"):
        values = VALUES.astype(FLOATS[float_type])
    rng = np.random.default_rng(len(integers))
    starts = rng.integers(0, 100, (len(values), 4)).astype(INTEGERS[integers])
    variables = [("a", FLOATS[float_type], ()), ("o", INTEGERS[integers], (4,))]
    return text, variables, {"a": values, "o": starts}
