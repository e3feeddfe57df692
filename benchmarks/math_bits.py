"""Functions of c2cu/math beside those of the host's math.h, bit for bit.

Float functions of one argument get all 2^32 values. Others get COUNT from each of several sources: random bits,
uniform and exp-uniform numbers, neighbours of multiples of pi/2, of table bounds and of other functions' limits, and
each special value. What is rare is done as on a GPU, by the C for it, where there is any; its share is of arguments
that programs have. NaN is NaN. Nanoseconds a value are of a loop over 4096 values in cache: the function without its
rare branch, so that the compiler may vectorise, beside calls of the host's.
The exit status is 1 if a bit differed. With --ulp no bits are compared: how far the host's results are from the exact
ones, by mpmath (pip install mpmath), in units in the last place; the worst of N arguments that programs have.

    python benchmarks/math_bits.py [NAME ...] [--count N] [--stride N] [--flags=FLAGS] [--json FILE] [--ulp N]
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from benchmarks.measure import cpu_name
from c2cu.base.libm import FUNCTIONS
from c2cu.base.mathematics import mathematics
from c2cu.io.files import write
from c2cu.schedule.gang import functions

MATH = functions.FOLDER
RARE = MATH / "rare"
POSITIVE = (  # what programs give
    *("log", "log2", "log10", "logf", "log2f", "log10f", "log1p", "log1pf", "pow", "powf"),
    *("lgamma", "lgammaf", "tgamma", "tgammaf"),
)
UNIT = ("asin", "acos", "atanh", "asinf", "acosf")
FLAGS = ["-march=native", "-ffp-contract=off"]
LOOP_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math"]  # without them it is not vectorised
THREADS = ("-fthread-jumps", "-fno-thread-jumps")  # some loops are vectorised with the one, some with the other

DRIVER = r"""
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long u64;
typedef @bits@ word;

static long rares;
@rare_file@
static @T@ counted(@params@) { rares++; return @rare@(@args@); }
#define @name@ counted
#include "@file@"
#undef @name@
void lanes(@T@ *r, const @T@ *x, const @T@ *y);

static u64 seed = 88172645463325252UL;
static u64 any(void) { seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17; return seed; }
static double real(void) { return (double) (any() >> 11) * 0x1p-53; }
static double between(double a, double b) { return a + (b - a) * real(); }
static double sign(void) { return any() & 1 ? -1.0 : 1.0; }
static double normal(void) { return sqrt(-2 * log(real() + 0x1p-60)) * cos(6.283185307179586 * real()); }
static @T@ from_word(word w) { @T@ r; memcpy(&r, &w, sizeof r); return r; }
static word to_word(@T@ v) { word r; memcpy(&r, &v, sizeof r); return r; }
/* Few units in the last place from v. */
static @T@ near(double v) { return from_word(to_word((@T@) v) + (word) (any() % 9) - 4); }

static const double SPECIAL[] = {
    0.0, 0x1p-1074, 0x1p-1060, 0x0.fffffffffffffp-1022, 0x1p-1022, 0x1.0000000000001p-1022, 0x1p-600, 0x1p-149,
    0x1p-126, 0x1p-75, 0x1p-65, 0x1p-64, 0x1p-55, 0x1p-54, 0x1p-53, 0x1p-29, 0x1p-28, 0x1p-27, 0x1p-26, 0x1p-20,
    0x1p-12, 0.25, 0.34657359027997264, 0.41422, 0.2929, 0.5, 0.6931471805599453, 0.7853981633974483, 0.126, 0.0625,
    0.855469, 0.9375, 1.0, 1.0397207708399179, 1.06470, 1.5, 1.5707963267948966, 2.0, 2.426265, 3.0, 4.0, 7.0, 8.0,
    10.0, 16.0, 22.0, 25.0, 27.0, 28.0, 31.0, 38.816242, 40.0, 56.0, 64.0, 88.0, 88.72, 103.28, 103.97, 104.0, 120.0,
    126.0, 127.0, 128.0, 149.0, 150.0, 512.0, 707.0, 708.0, 709.0, 709.782712893384, 710.0, 710.4758600739439, 745.0,
    745.1332191019411, 746.0, 928.0, 1022.0, 1023.0, 1024.0, 1074.0, 1075.0, 1076.0, 1e5, 1e6, 1e8, 105414350.0,
    0x1p27, 0x1p31, 0x1p51, 0x1p52, 0x1p53, 0x1p54, 0x1p63, 0x1p64, 0x1p127, 0x1.fffffep127, 0x1p128, 0x1p510, 0x1p511,
    0x1p512, 0x1p600, 0x1p1000, 0x1.fffffffffffffp1023, INFINITY,
};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };
static const char *SOURCE[] = {
    "bits", "-10..10", "normal", "exp-uniform", "-1..1", "0..3", "-800..800", "-1e5..1e5", "-1e9..1e9", "pi/2",
    "tables", "ln2/128", "limits", "small integers", "near 1",
};
enum { SOURCES = sizeof SOURCE / sizeof *SOURCE };

static @T@ one(int source) {
    switch (source) {
    case 0: return from_word((word) any());
    case 1: return (@T@) between(-10, 10);
    case 2: return (@T@) normal();
    case 3: return (@T@) (sign() * exp2(between(-30, 10)));
    case 4: return (@T@) between(-1, 1);
    case 5: return (@T@) between(0, 3);
    case 6: return (@T@) between(-800, 800);
    case 7: return (@T@) between(-1e5, 1e5);
    case 8: return (@T@) between(-1e9, 1e9);
    case 9: return near(sign() * (double) (any() >> (40 + any() % 24)) * 1.5707963267948966192 / (any() & 1 ? 1 : 2));
    case 10: return near(sign() * ldexp(1 + (double) (any() % 1024) / 1024, (int) (any() % 24) - 12));
    case 11: return near(sign() * (double) (any() >> (46 + any() % 18)) / 256 * 0.69314718055994530942);
    case 12: return near(sign() * SPECIAL[any() % SPECIALS]);
    case 13: return (@T@) (sign() * (double) (any() % 65) / (any() & 1 ? 1 : 2));
    default: return (@T@) (sign() * (1 + sign() * exp2(between(-54, -1))));
    }
}

/* What programs give this function. */
static @T@ usual(int source) {
    @T@ v = one(source);
    return @domain@;
}

static long different;
static void compare(@params@) {
    @T@ ours = c2cu_@name@(@args@), host = @name@(@args@);
    word a = to_word(ours), b = to_word(host);
    if (a == b || (ours != ours && host != host)) return;  /* a device has its own NaN */
    if (different++ >= 8) return;
    printf("  %a" @second_format@ ": %a, ", (double) x @second_value@, (double) from_word(a));
    printf("the host %a\n", (double) from_word(b));
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static @T@ X[4096], Y[4096], R[4096];
static volatile @T@ sink;

int main(int argc, char **argv) {
    long count = atol(argv[1]), stride = atol(argv[2]), compared = 0;
    (void) argc, (void) stride;
    if (!count) {
    } else if (@exhaustive@) {
        for (u64 w = 0; w < 1UL << 32; w += stride) {
            @T@ x = from_word((word) w), y = 0;
            (void) y;
            compare(@args@), compared++;
        }
    } else {
        for (int s = 0; s < SPECIALS; s++) for (int t = 0; t < SPECIALS; t++) for (int k = 0; k < 36; k++) {
            @T@ x = from_word(to_word((@T@) SPECIAL[s]) + (word) (k % 3) - 1);
            @T@ y = from_word(to_word((@T@) SPECIAL[t]) + (word) (k / 3 % 3) - 1);
            if (k / 9 & 1) x = -x;
            if (k / 18) y = -y;
            if (@two@ || t < 1) compare(@args@), compared++;
        }
        for (int k = 0; k < 64; k++) {  /* NaN: quiet, signalling, of either sign, with payload */
            word payload = (word) (any() % 4 << @quiet@ | (any() & 0xffff) | (k & 1));
            @T@ x = from_word((word) @nan@ | payload | (word) (any() & 1) << (8 * sizeof(word) - 1)), y = one(1);
            compare(@args@), compared++;
            if (@two@) { @T@ t = x; x = y; y = t; compare(@args@), compared++; }
        }
        for (int s = 0; s < SOURCES; s++) for (int t = 0; t < (@two@ ? SOURCES : 1); t++) {
            long before = different, n = @two@ ? count / SOURCES : count;
            for (long i = 0; i < n; i++) {
                @T@ x = one(s), y = one(t);
                if (@two@ && i & 1 && @positive@) x = @abs@(x);
                compare(@args@);
            }
            compared += n;
            if (different == before) continue;
            printf("  %s%s%s: ", SOURCE[s], @two@ ? ", " : "", @two@ ? SOURCE[t] : "");
            printf("%ld of %ld differ\n", different - before, n);
        }
    }
    printf("compared %ld\ndifferent %ld\n", compared, different);
    for (int s = 1; s < 4; s++) {
        rares = 0;
        for (int i = 0; i < 1000000; i++) { @T@ x = usual(s), y = one(s); (void) y; sink = c2cu_@name@(@args@); }
        printf("rare %s %.9f\n", SOURCE[s], rares / 1e6);
    }
    for (int i = 0; i < 4096; i++) X[i] = usual(1), Y[i] = one(1);
    double ours = 1e9, host = 1e9;
    for (int k = 0; k < 15; k++) {
        double start = seconds();
        for (int n = 0; n < 100; n++) lanes(R, X, Y);
        double middle = seconds();
        for (int i = 0; i < 20 * 4096; i++) {
            @T@ x = X[i % 4096], y = Y[i % 4096];
            (void) y;
            R[i % 4096] = @name@(@args@);
        }
        ours = fmin(ours, (middle - start) / 4096e-9 / 100), host = fmin(host, (seconds() - middle) / 4096e-9 / 20);
    }
    printf("ours %.3f\nhost %.3f\n", ours, host);
    return 0;
}
"""

LANES = r"""
#define _GNU_SOURCE
#include <math.h>
#define if(rare) if (0)
#define c2cu_@name@ common
static inline __attribute__((always_inline)) @T@ common(@params@);
#include "@file@"
#undef if
void lanes(@T@ *restrict r, const @T@ *restrict x, const @T@ *restrict y) {
    for (int i = 0; i < 4096; i++) r[i] = common(@lane_args@);
}
"""


def filled(template: str, name: str) -> str:
    text = (MATH / f"{name}.c").read_text()
    found = re.search(rf"\b(double|float) c2cu_{name}\((.*?)\)", text)
    assert found, name
    kind, two = found[1], "," in found[2]
    domain = "fabs(v)" if name in POSITIVE else "1 + fabs(v)" if name == "acosh" else "v"
    if name in UNIT:
        domain = "v > 1 || v < -1 ? 1 / v : v"
    apart = RARE / f"{name}.c"
    holes = {
        "rare_file": f'#include "{apart}"' if apart.exists() else "",
        "rare": f"c2cu_rare_{name}" if apart.exists() else name,
        "T": kind,
        "bits": "unsigned long" if kind == "double" else "unsigned",
        "name": name,
        "file": str(MATH / f"{name}.c"),
        "params": f"{kind} x, {kind} y" if two else f"{kind} x",
        "args": "x, y" if two else "x",
        "lane_args": "x[i], y[i]" if two else "x[i]",
        "two": str(int(two)),
        "exhaustive": str(int(kind == "float" and not two)),
        "domain": domain,
        "positive": str(int(name in POSITIVE)),
        "abs": "fabs" if kind == "double" else "fabsf",
        "second_format": '", %a"' if two else '""',
        "second_value": ", (double) y" if two else "",
        "nan": "0x7ff0000000000000UL" if kind == "double" else "0x7f800000U",
        "quiet": "50" if kind == "double" else "21",
    }
    return re.sub(r"@(\w+)@", lambda m: holes[m[1]], template)


def lines(name: str, count: int, stride: int, flags: Sequence[str]) -> list[str]:
    """What the driver printed."""
    with tempfile.TemporaryDirectory() as directory:
        driver, lanes, program = (Path(directory) / n for n in ("driver.c", "lanes.c", "program"))
        driver.write_text(filled(DRIVER, name))
        lanes.write_text(filled(LANES, name))
        loop = lanes.with_suffix(".o")
        subprocess.run(["cc", *FLAGS, *LOOP_FLAGS, *flags, "-c", lanes, "-o", loop], check=True)
        subprocess.run(["cc", "-O2", *FLAGS, driver, loop, "-o", program, "-lm"], check=True)
        done = subprocess.run([program, str(count), str(stride)], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def row(name: str, count: int, stride: int, flags: Sequence[str]) -> dict[str, Any]:
    result: dict[str, Any] = {"function": name, "compared": 0, "different": 0, "rare": {}, "differ": []}
    for threads in THREADS:
        for line in lines(name, count if threads == THREADS[0] else 0, stride, [*flags, threads]):
            key, _, value = line.partition(" ")
            if not key:
                result["differ"].append(line.strip())
            elif key == "rare":
                source, share = value.rsplit(" ", 1)
                result["rare"][source] = float(share)
            elif key in ("ours", "host"):
                result[f"{key}_ns"] = min(result.get(f"{key}_ns", 1e9), float(value))
            else:
                result[key] += int(value)
    return result


#: What mpmath calls otherwise.
EXACTLY = {
    "exp2": lambda m, x: m.power(2, x),
    "log2": lambda m, x: m.log(x) / m.log(2),
    "cbrt": lambda m, x: m.sign(x) * m.cbrt(abs(x)),
    "pow": lambda m, x, y: m.power(x, y),
    "lgamma": lambda m, x: m.log(abs(m.gamma(x))),
    "tgamma": lambda m, x: m.gamma(x),
}
SIZED = ("fmax", "fmin", "fmod", "remainder", "round")  # they are exact


def worst(name: str, count: int) -> tuple[float, float]:
    """The largest error of the host's function in units in the last place, and where it is."""
    mpmath = importlib.import_module("mpmath")
    mp = mpmath.mp
    mp.prec = 200
    result, parameters = FUNCTIONS[name]
    t = np.dtype(f"f{result.size}")
    kind = {4: ctypes.c_float, 8: ctypes.c_double}[result.size]
    host = getattr(ctypes.CDLL("libm.so.6"), name)
    host.restype, host.argtypes = kind, [kind] * len(parameters)
    plain = name.removesuffix("f") if name != "erf" and result.size == 4 else name
    exactly = EXACTLY.get(plain) or (lambda m, *x: getattr(m, plain)(*x))
    rng = np.random.default_rng(0)
    sizes = [
        rng.uniform(-10, 10, count // 2),
        np.exp2(rng.uniform(-20, 6, count // 2)) * rng.choice([-1, 1], count // 2),
    ]
    x, y = (rng.permutation(np.concatenate(sizes)).astype(t) for _ in range(2))
    x = np.abs(x) if name in POSITIVE else 1 + np.abs(x) if plain == "acosh" else x
    x = np.where(np.abs(x) > 1, 1 / x, x) if plain in UNIT else x
    largest = (0.0, 0.0)
    for a in zip(*(v.tolist() for v in (x, y)[: len(parameters)])):
        ours = host(*a)
        exact = exactly(mp, *map(mp.mpf, a))
        if not np.finfo(t).tiny <= abs(ours) <= np.finfo(t).max:
            continue
        unit = 2.0 ** (int(mp.floor(mp.log(abs(exact), 2))) - np.finfo(t).nmant)
        largest = max(largest, (float(abs(ours - exact) / unit), a[0]))
    return largest


def errors(names: Sequence[str], count: int) -> None:
    print(f"{mathematics().rsplit(' /', 1)[0]}; the worst error of {count:,} arguments, in units in the last place\n")
    print("| function | worst | at |\n| --- | --- | --- |")
    for name in names:
        error, at = worst(name, count)
        print(f"| {name} | {error:.3f} | {at!r} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--count", type=int, default=10**7, help="0: only times")
    parser.add_argument("--stride", type=int, default=1, help="of the 2^32 values of a float")
    parser.add_argument("--flags", default="", help="for the loop, beside its own: -mtune=haswell for gathers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ulp", type=int, default=0, metavar="N", help="errors of N arguments instead")
    args = parser.parse_args()
    names = args.names or sorted(functions.names())  # those that do two at once are compared in lanes
    if args.ulp:
        errors([n for n in names if n.removesuffix("f") not in SIZED], args.ulp)
        return
    print(f"{cpu_name()}; rare: share of -10..10, normal, exp-uniform; nanoseconds a value, the best of 15 times\n")
    print("| function | compared | different | rare | ns | host's ns |")
    print("| --- | --- | --- | --- | --- | --- |")
    rows = []
    for name in names:
        rows.append(r := row(name, args.count, args.stride, args.flags.split()))
        rare = ", ".join(f"{share:.3g}" for share in r["rare"].values())
        print(f"| {name} | {r['compared']:,} | {r['different']:,} | {rare} | {r['ours_ns']:.2f} | {r['host_ns']:.2f} |")
        for line in r["differ"]:
            print(f"  {line}")
        sys.stdout.flush()
    if args.json:
        write(str(args.json), (json.dumps({"machine": cpu_name(), "rows": rows}, indent=1) + "\n").encode())
    sys.exit(any(r["different"] for r in rows))


if __name__ == "__main__":
    main()
