"""Compilers on this machine."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path

from . import catalogue, intrinsics
from .cache import Cache, key
from .diagnostics import CompileError
from .scratch import scratch

ANSWER = 8  # seconds in which a compiler says what it is,
LONGEST = 1 << 16  # and bytes of it


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


def cores() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def compiler_version(command: tuple[str, ...]) -> str:
    """What the compiler says of itself; part of every cache key."""
    said = _answer([*command, "--version"])
    if said is None:
        raise catalogue.COMPILER_HANGS.error(command=command[0], seconds=ANSWER)
    lines = said.decode("utf-8", "replace").splitlines()
    return f"{shutil.which(command[0])} {lines[0] if lines else ''}"


def _answer(command: Sequence[str]) -> bytes | None:
    """What a command says; None where it does not end, or does not stop talking. Raises CompileError."""
    try:
        asked = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as e:
        raise does_not_start(command[0], e) from None

    def end() -> None:
        with contextlib.suppress(OSError):
            os.killpg(asked.pid, signal.SIGKILL)  # and what it started

    late = threading.Timer(ANSWER, end)
    late.start()
    with asked:
        assert asked.stdout is not None
        said = asked.stdout.read(LONGEST)
        if len(said) == LONGEST:
            end()
    late.cancel()
    return None if asked.returncode == -signal.SIGKILL else said


def does_not_start(compiler: str, e: OSError) -> CompileError:
    return catalogue.COMPILER_DOES_NOT_START.error(command=compiler, reason=e.strerror)


def compiled(command: Sequence[str], text: str) -> bytes:
    """The file that a compiler's command, given a text on standard input, makes of it. Raises CompileError."""
    with scratch() as folder:
        to = folder / "code"
        to_file = ["-x", "c", "-", "-o", str(to), "-lm"]
        short = _shortened(command, text)
        if short != text:
            done = fed([*(c for c in command if c != "-w"), _UNDECLARED, *to_file], short, folder)
        if short == text or done.returncode:
            done = fed([*command, *to_file], text, folder)
        if done.returncode:
            raise rejected(command[0], text, done.stderr.decode("utf-8", "replace"))
        try:
            return to.read_bytes()
        except OSError as e:
            raise catalogue.COMPILER_FAILED.error(
                compiler=command[0], message=f"it wrote nothing: {e.strerror}"
            ) from None


_UNDECLARED = "-Werror=implicit-function-declaration"  # which -w would hide


def _shortened(command: Sequence[str], text: str) -> str:
    """The text with what it needs of immintrin.h in place of all that is there. Raises CompileError."""
    if intrinsics.INCLUDE not in text or "clang" in compiler_version(find_compiler()):
        return text
    return intrinsics.shortened(
        text, _immintrin(tuple(c for c in command if not c.startswith(("-f", "-w", "-shared"))))
    )


@functools.cache
def _immintrin(command: tuple[str, ...]) -> str:
    """The header as a compiler with these flags preprocesses it; "" for one that has none."""

    name = key("immintrin -dD", command, compiler_version(find_compiler()), cpu_key())
    header = Cache().get(name, ".i")
    if header is None:
        done = fed([*command, "-E", "-dD", "-P", "-x", "c", "-"], intrinsics.INCLUDE)
        header = b"" if done.returncode else done.stdout
        if header:
            Cache().store(name, ".i", header)
    return header.decode()


#: Warnings that are errors since GCC 14 and clang 16.
_ERRORS_SINCE = re.compile(
    r"\[(?:-Werror,)?-W(?:error=)?(implicit-int|implicit-function-declaration|int-conversion|incompatible-pointer-types"
    r"|return-mismatch|declaration-missing-parameter-type)\]"
)


def way_on(complaint: str) -> str:
    """How a user goes on whose C older compilers took, with a warning; "" where none did."""
    m = _ERRORS_SINCE.search(complaint)
    if m is None:
        return ""
    compiler = find_compiler()
    flag = f"-Wno-error={m[1]}" if "clang" in compiler_version(compiler) else "-fpermissive"
    return f"older compilers took it, with a warning: correct it, or set CC='{shlex.join(compiler)} {flag}'"


_gives_way: ContextVar[bool] = ContextVar("c2cu_gives_way", default=False)


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """Compilers that `fed` starts inside leave the processor to those that others start."""
    before = _gives_way.set(True)
    try:
        yield
    finally:
        _gives_way.reset(before)


Watch = Callable[[str], AbstractContextManager[None]]  # takes a compiler's name, and lasts as long as it works
_watch: ContextVar[Watch | None] = ContextVar("c2cu_watch", default=None)


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Compilers that this thread starts inside are told to ``watch``."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def at_work(compiler: str) -> AbstractContextManager[None]:
    """While a compiler works, for who watches that."""
    watch = _watch.get()
    return contextlib.nullcontext() if watch is None else watch(os.path.basename(compiler))


def fed(command: Sequence[str], text: str, folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """A compiler's command, run with a text on standard input. It speaks English, and what it writes on the way goes to
    ``folder``. Raises CompileError where it does not start."""
    environment = {**os.environ, "LC_ALL": "C", **({} if folder is None else {"TMPDIR": str(folder)})}
    data = text.encode("utf-8", "surrogateescape")
    compiler = command[0]
    if _gives_way.get() and shutil.which("nice"):
        command = ["nice", "-n", "19", *command]
    try:
        with at_work(compiler):
            return subprocess.run(command, input=data, capture_output=True, env=environment)
    except OSError as e:
        raise does_not_start(command[0], e) from None


def bounded(command: Sequence[str], seconds: float, nbytes: int) -> subprocess.CompletedProcess[bytes] | None:
    """A command's output; None where it does not end in time. It may use so many bytes of memory. Raises
    CompileError."""
    try:
        started = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError as e:
        raise does_not_start(command[0], e) from None
    with started, contextlib.suppress(subprocess.TimeoutExpired):
        try:
            with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
                import resource

                resource.prlimit(started.pid, resource.RLIMIT_AS, (nbytes, nbytes))
            said = started.communicate(timeout=seconds)
            return subprocess.CompletedProcess(command, started.returncode, *said)
        except BaseException:
            with contextlib.suppress(OSError):
                os.killpg(started.pid, signal.SIGKILL)  # and what it started
            raise
    return None


NO_AVX512, NO_FMA = "-mno-avx512f", ("-mno-fma", "-mno-fma4")


def machine_flags() -> tuple[str, ...]:
    """This CPU's instructions, but for AVX-512, whose conversions of negative floats to unsigned integers give other
    numbers than those of every other x86; and for fused multiply-add: GCC 12 vectorises loops of complex products
    with it, -ffp-contract=off or not."""
    return ("-march=native", *([NO_AVX512, *NO_FMA] if platform.machine() in ("x86_64", "AMD64") else []))


@functools.cache
def exact_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """The C that results are compared with."""
    flags = ("-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
    if "clang" in compiler_version(command):
        return (*flags, "-fno-sanitize=undefined")  # which ziglang's clang turns on where nothing is optimised
    # GCC 12 and 13: the SLP vectoriser keeps (float)(x + y) in double on its way into the loop's next turn.
    return (*flags, "-fno-tree-slp-vectorize")


def unfolded_flags(command: tuple[str, ...], names: Sequence[str]) -> tuple[str, ...]:
    """What keeps a compiler from computing these functions of constants, and from putting others in their place. GCC
    rounds what it computes correctly, and what it puts in their place does."""
    return tuple(f"-fno-builtin-{n}" for n in names) if "clang" in compiler_version(command) else ()


@functools.cache
def generated_flags(command: tuple[str, ...]) -> tuple[str, ...]:
    """Likewise for text of ours, with what keeps GCC from giving another result than C's."""
    if "clang" in compiler_version(command):
        return exact_flags(command)
    # GCC 12 and 13: 0.0f - (float)i becomes -(float)i, which is -0.0 for i = 0. The user's own text does without this
    # flag: with it, they round constants in arrays of nested structs to another float.
    return (*exact_flags(command), "-frounding-math")


def check_flags(command: tuple[str, ...], to: Path) -> tuple[str, ...]:
    """What makes the compiler check a text, and write nothing but ``to``. A function that the text does not declare is
    no mistake, as our own headers declare only a part of the C library."""
    is_zig = any(os.path.basename(word) in ("zig", "ziglang") for word in command)
    writes = ("-S", "-o", str(to)) if is_zig else ("-fsyntax-only",)  # zig fails where nothing is written
    return (*writes, "-Wno-implicit-function-declaration")


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
