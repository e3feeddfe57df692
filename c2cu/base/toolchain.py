"""Compilers on this machine."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys

from . import catalogue
from .diagnostics import CompileError


def find_compiler() -> tuple[str, ...]:
    """The host C compiler as a command: $CC, cc, gcc, clang, or the ziglang package's.

    Raises CompileError where there is none, and where $CC names one that is not there.
    """
    chosen = os.environ.get("CC")
    if chosen:
        try:
            words = shlex.split(chosen)
        except ValueError:  # quotes that do not close
            words = []
        if not words or shutil.which(words[0]) is None:
            raise catalogue.CC_NOT_FOUND.error(command=chosen)
        return tuple(words)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return (name,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    raise catalogue.NO_COMPILER.error()


@functools.cache
def compiler_version(command: tuple[str, ...]) -> str:
    """What the compiler says of itself; part of every cache key."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, errors="replace", timeout=60)
    except OSError as e:
        raise does_not_start(command[0], e) from None
    return f"{shutil.which(command[0])} {done.stdout.splitlines()[0] if done.stdout else ''}"


def does_not_start(compiler: str, e: OSError) -> CompileError:
    return catalogue.COMPILER_DOES_NOT_START.error(command=compiler, reason=e.strerror)


@functools.cache
def exact_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """The C that results are compared with, and what keeps GCC from giving another result than C's."""
    flags = ("-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
    if "clang" in compiler_version(command):
        return (*flags, "-fno-sanitize=undefined")  # which ziglang's clang turns on where nothing is optimised
    # GCC 12 and 13: 0.0f - (float)i becomes -(float)i, which is -0.0 for i = 0; and the SLP vectoriser keeps
    # (float)(x + y) in double on its way into the loop's next turn.
    return (*flags, "-frounding-math", "-fno-tree-slp-vectorize")


def check_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """What makes the compiler check a text, and write nothing or only to stdout."""
    is_zig = any(os.path.basename(word) in ("zig", "ziglang") for word in command)
    return ("-S", "-o", "-") if is_zig else ("-fsyntax-only",)  # zig fails where no object file is written


def cpu_features() -> frozenset[str]:
    """Flags of this CPU as the kernel lists them; empty where it does not."""
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith(("flags", "Features")):
                    return frozenset(line.split(":", 1)[1].split())
    except OSError:
        pass
    return frozenset()


def cpu_model() -> tuple[str, float]:
    """(name, fastest core's clock in Hz) of this CPU as the kernel lists them; ("", 0.0) where it does not."""
    try:
        with open("/proc/cpuinfo") as f:
            rows = [line.partition(":") for line in f]
    except OSError:
        return "", 0.0
    values = [(name.strip(), value.strip()) for name, _, value in rows]
    name = next((v for n, v in values if n == "model name"), "")
    return name, 1e6 * max((float(v) for n, v in values if n == "cpu MHz"), default=0.0)


def cpu_key() -> str:
    """Identifies the CPU's instruction set, for what is compiled with -march=native."""
    flags = " ".join(sorted(cpu_features()))
    return platform.machine() + hashlib.sha256(flags.encode()).hexdigest()[:16]


def vector_bytes() -> int:
    """Width of this CPU's SIMD registers in bytes."""
    features = cpu_features()
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= features:
        return 64
    return 32 if "avx2" in features else 16


def find_nvcc() -> str | None:
    """The path of nvcc, where it is installed."""
    return shutil.which("nvcc") or (shutil.which("/usr/local/cuda/bin/nvcc"))


def rejected(compiler: str, text: str, errors: str) -> CompileError:
    """The error for generated code that a compiler refuses: its first message and the code around it."""
    m = re.search(r"^[^\n]*?[:(](\d+)[:)][^\n]*error[^\n]*$", errors, re.M)
    if m is None:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        return catalogue.COMPILER_FAILED.error(compiler=compiler, message=last)
    line = int(m[1])
    lines = text.split("\n")
    first = max(0, line - 4)
    window = [f"{'>' if n == line else ' '}{n:5} | {t}" for n, t in enumerate(lines[first : line + 3], first + 1)]
    return catalogue.REJECTED.error(compiler=compiler, message=m[0].strip(), lines="\n".join(window))
