"""The runtime of schedule ``native``: compiles the user's own text into a library, and runs inputs in copies of it.

What the kernel does not reach is not linked, so what the library leaves undefined is what the kernel asks of others.
A library that has state is loaded once for each thread that runs it.
"""

from __future__ import annotations

import _ctypes
import contextvars
import ctypes
import functools
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy

from ..base import catalogue, libc, toolchain
from ..base.cache import Cache, key
from ..base.diagnostics import Error, ExitError, Loc, file_of
from ..base.machine_code import library
from ..base.recent import Recent
from ..base.scratch import scratch
from ..base.version import __version__
from ..schedule.artifact import CpuNativeArtifact
from .addresses import address
from .cpu import GRAIN, LIBRARIES, all_of, ranges, slot_table, threads
from .elf import NOBITS, Elf, ElfSymbol, Section
from .faults import GUARD, SIGNALS, guard, prepare

FLAGS = ("-O3", *toolchain.machine_flags())
OWN = ("-std=gnu11", "-fPIC", "-w", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections")
_LINKED = ("-Wl,-z,relro", "-Wl,-z,now", "-Wl,--gc-sections")
_OURS = ("mmap", "munmap")  # what our own text asks of the C library, whatever the kernel reaches
ENTRIES = ("c2cu_begin", "c2cu_run", "c2cu_where", "c2cu_end", GUARD)
STATE = "c2cu_own"  # the section of what we know of the input at work, which is not the program's
_POINTED, _SHARED, _KEPT = 1, 2, 3  # kinds of slots
_OTHERS = ("libm.", "libmvec.", "libgcc", "ld-linux", "ld64", "libatomic")  # whose functions are pure
_AVX512 = re.compile(r"\b(_mm512_|__m512|__mmask|__builtin_ia32_\w*512|_mm(256)?_mask)")  # what calls its instructions
_FMA = re.compile(r"\b(_mm(256|512)?_(mask\w?_)?fn?m(add|sub)|__builtin_ia32_vfn?m)")
_ERROR = re.compile(r"^(.*?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.M)


class NativeProgram:
    """A compiled artifact. Raises UnsupportedError where the kernel reaches what no input can have for itself."""

    drawback = ""  # see `CpuProgram`

    def __init__(self, artifact: CpuNativeArtifact, code: bytes):
        """``code``: the shared object that `build` makes of the artifact."""
        self.artifact = artifact
        elf = Elf(code)
        reached = frozenset(_reached(elf)) - {*artifact.replaced}
        _refuse(artifact, elf, reached)
        parts = [s for s in elf.writable() if s.name != STATE]
        names = {s.name for s in elf.symbols(dynamic=True)}
        self.may_end = bool(reached & (libc.ENDS | libc.HEAP))
        self.stateless = not (parts or names & (libc.ERRORS | libc.ROUNDING) or reached - libc.PRINTS)
        starts = any(s.name.startswith((".init_array", ".ctors")) for s in elf.sections)
        begin = None if self.stateless else (parts, len(artifact.slots), starts)
        load = functools.partial(Copy, code, begin)
        self._load = functools.cache(load) if self.stateless else load
        self._free: deque[Copy] = deque()
        slots = artifact.slots
        self._sizes = (ctypes.c_long * (len(slots) + 1))(*(s.nbytes for s in slots))
        kinds = {**dict.fromkeys(artifact.pointers, _POINTED), **dict.fromkeys(artifact.only_read, _KEPT)}
        self._kinds = bytes(_SHARED if s.shared else kinds.get(s.name, 0) for s in slots)

    def run(self, inputs: Sequence[Any], outputs: Sequence[Any], p: int) -> Any:
        """Do p inputs; see `CpuProgram.run`.

        Returns:
            For each input its exit status, -1 where the kernel returned; None where all have.
        """
        return self.run_table(slot_table(self.artifact.slots, inputs, outputs), outputs, p)

    def run_table(self, table: Any, outputs: Sequence[Any], p: int, brief: bool = False) -> Any:
        """The same, of a table that is filled in; see `CpuProgram.run_table`."""
        exits = _Exits(p, self.may_end)

        def work(begin: int, end: int) -> None:
            self._spans(table, [(begin, end)], exits)

        if brief:
            work(0, p)
        else:
            workers = threads()
            all_of([functools.partial(work, a, b) for a, b in ranges(p, 1, workers)], workers)
        return self._told(outputs, exits.array)

    def again(self, table: Any, outputs: Sequence[Any], numbers: Any, p: int) -> Any:
        """Do those of p inputs that have these numbers, in order; what `run_table` returns, of all of them."""
        exits = _Exits(p, True)
        breaks = numpy.flatnonzero(numpy.diff(numbers) > 1) + 1
        firsts, lasts = numbers[numpy.r_[0, breaks]], numbers[numpy.r_[breaks, len(numbers)] - 1]
        spans = list(zip(firsts.tolist(), (lasts + 1).tolist()))
        workers = threads()
        size = max(GRAIN, -(-len(spans) // (4 * workers)))

        def work(mine: list[tuple[int, int]]) -> None:
            self._spans(table, mine, exits)

        all_of([functools.partial(work, spans[k : k + size]) for k in range(0, len(spans), size)], workers)
        return self._told(outputs, exits.array)

    def _told(self, outputs: Sequence[Any], exited: Any) -> Any:
        """Put statuses where they come out; ``exited``, or None where all inputs came to their end."""
        for slot, output in zip(self.artifact.slots, outputs):
            if slot.is_status and output is not None:
                output[...] = 0 if exited is None else numpy.maximum(exited, 0)
        return exited if exited is not None and (exited >= 0).any() else None

    def _spans(self, table: Any, spans: Sequence[tuple[int, int]], exits: _Exits) -> None:
        """Do inputs ``begin`` <= id < ``end`` of each span, in a copy of the library."""
        copy = self._take()
        slots = len(self.artifact.slots)
        for begin, end in spans:
            done = copy.run(copy.state, table, self._sizes, self._kinds, slots, begin, end, exits.address)
            if done < 0:  # the first input that faults
                exits.allocate()
                done = copy.run(copy.state, table, self._sizes, self._kinds, slots, -1 - done, end, exits.address)
            if not done:
                raise catalogue.NO_HOST_MEMORY.error()
        self._free.append(copy)

    def divides(self, p: int) -> bool:
        """See `CpuProgram.divides`."""
        return len(ranges(p, 1, threads())) > 1

    def unchanged(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> frozenset[str]:
        """Of the variables that the kernel may or may not write, those that no input's run has changed."""
        names, unchanged = self.artifact.guessed, []
        if not names:
            return frozenset()
        copy, other = self._load(), self._load()
        for k, (slot, before, after) in enumerate(zip(self.artifact.slots, inputs, outputs)):
            if slot.name not in names or after is None:
                continue
            same = numpy.zeros(slot.nbytes, bool)
            if before is None:
                before, elsewhere = (_at(c.where(k), slot.nbytes) for c in (copy, other))
                words = slot.nbytes // 8 * 8  # where one differs, it is an address, and each copy has its own
                same[:words] = (before[:words] != elsewhere[:words]).reshape(-1, 8).any(axis=1).repeat(8)
            if not slot.nbytes or ((_rows(before, slot.nbytes) == _rows(after, slot.nbytes)) | same).all():
                unchanged.append(slot.name)
        return frozenset(unchanged)

    def initial(self) -> dict[str, bytes]:
        """The variables of the program, as a fresh process finds them."""
        copy, slots = self._load(), self.artifact.slots
        places = ((s, copy.where(k)) for k, s in enumerate(slots) if s.nbytes)
        return {s.name: ctypes.string_at(at, s.nbytes) for s, at in places if at}

    def _take(self) -> Copy:
        if self.stateless:
            return self._load()
        try:
            return self._free.pop()
        except IndexError:
            return self._load()


_lock = threading.Lock()


class _Exits:
    """Where the exit statuses of p inputs go, -1 for those that return. ``now``: some may end early; else there is an
    ``array`` once one has faulted."""

    def __init__(self, p: int, now: bool):
        self._p = p
        self.array: Any = None
        self.address: int | None = None
        if now:
            self.allocate()

    def allocate(self) -> None:
        with _lock:
            if self.array is None:
                self.array = numpy.full(self._p, -1, numpy.int32)
                self.address = address(self.array)


def _at(place: int, nbytes: int) -> Any:
    return numpy.frombuffer(ctypes.string_at(place, nbytes), numpy.uint8)


def _rows(array: Any, nbytes: int) -> Any:
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).reshape(-1, nbytes)


def ended(exited: Any, outputs: Any) -> ExitError:
    """The error for inputs that ended early. ``exited``: see `NativeProgram.run`."""
    early = exited >= 0
    first = int(early.argmax())
    status = int(exited[first])
    why = f": {SIGNALS[status]}" if status in SIGNALS else ""
    error = catalogue.EXITED.error(count=int(early.sum()), p=len(exited), first=first, status=status, why=why)
    error.status, error.early, error.outputs = numpy.maximum(exited, 0), early, outputs
    return error


class Copy:
    """A library loaded, with variables of its own.

    ``begin``: None where it has no state; else the sections that hold its variables, the number of slots, and whether
    functions that ran as it was loaded may have written to those variables."""

    def __init__(self, code: bytes, begin: tuple[Sequence[Section], int, bool] | None):
        loaded = library(code)
        unload = weakref.finalize(loaded, _ctypes.dlclose, loaded._handle)  # functions keep it while they run
        unload.atexit = False
        self.run, self.state = loaded.c2cu_run, None
        self.run.argtypes = (*(ctypes.c_void_p,) * 4, ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_void_p)
        self.run.restype = ctypes.c_long
        guard(loaded)
        self.where = loaded.c2cu_where
        self.where.argtypes, self.where.restype = (ctypes.c_int,), ctypes.c_void_p
        if begin is None:
            return
        parts, slots, starts = begin
        self._parts = (ctypes.c_long * (2 * len(parts) + 1))(*(n for s in parts for n in (s.address, s.size)))
        zero = (ctypes.c_long * (len(parts) + 1))(*(s.type == NOBITS and not starts for s in parts))
        loaded.c2cu_begin.restype = ctypes.c_void_p
        loaded.c2cu_begin.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long)
        self.state = loaded.c2cu_begin(self._parts, zero, len(parts), slots)
        if not self.state:
            raise catalogue.NO_HOST_MEMORY.error()
        loaded.c2cu_end.argtypes, loaded.c2cu_end.restype = (ctypes.c_void_p,), None
        end = weakref.finalize(self, loaded.c2cu_end, self.state)
        end.atexit = False


# What the kernel reaches


def _reached(elf: Elf) -> Iterator[str]:
    """The functions that ours stand for."""
    for s in elf.symbols():
        if s.defined and s.name.startswith("__wrap_"):
            yield s.name.removeprefix("__wrap_")


def _refuse(artifact: CpuNativeArtifact, elf: Elf, reached: frozenset[str]) -> None:
    """Raise UnsupportedError for the first function that reaches outside the program; notes name the others."""
    errors: list[Error] = []
    printing = sorted(reached & libc.PRINTS)
    undefined = {s.name: s.library for s in elf.symbols(dynamic=True) if not s.defined}
    printing += sorted(undefined.keys() & libc.STREAMS)
    if printing and artifact.stdio != "discard":
        named = [n for n, _ in artifact.calls if n in libc.PRINTS | libc.STREAMS]
        errors += [catalogue.PRINTS.error(_place(artifact, n), name=n) for n in (named or printing)[:1]]
    known = {*libc.STREAMS, *libc.WRAPPED, *_OURS}
    for name, owner in sorted(undefined.items()):
        if name in known or libc.is_pure(name) or owner.startswith(_OTHERS):
            continue
        message = catalogue.OUTSIDE_STATE if owner else catalogue.UNKNOWN_SOURCE
        errors.append(message.error(_place(artifact, name), name=name))
    if errors:
        raise errors[0]


def _place(artifact: CpuNativeArtifact, name: str) -> Loc | None:
    """Where the kernel names a function; else where the user's files first do."""
    for known, loc in artifact.calls:
        if known == name:
            return loc
    for text in (artifact.text, *artifact.units):
        file, line, system = "", 0, False
        for row in text.split("\n"):
            marker = re.match(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$', row)
            if marker:
                file, line, system = file_of(marker[2]), int(marker[1]), "3" in marker[3].split()
                continue
            m = None if system or file == "<c2cu>" else re.search(rf"\b{re.escape(name)}\b", row)
            if m:
                return Loc(file, line, m.start() + 1)
            line += 1
    return None


# Compilation

_programs: Recent[NativeProgram] = Recent(LIBRARIES)
_code: Recent[bytes] = Recent(8)  # of programs that are being compiled, or wait to be loaded


def load(artifact: CpuNativeArtifact, cache: Cache | None = None) -> NativeProgram:
    """Compile (or find) an artifact and load it. Raises CompileError, and UnsupportedError for what it reaches."""
    name, make = _made(artifact, cache)

    def loaded() -> NativeProgram:
        try:
            return NativeProgram(artifact, _code.of(name, make))
        finally:
            _code.drop(name)

    return _programs.of((name, repr(artifact.slots), artifact.stdio), loaded)


def compile_ahead(artifact: CpuNativeArtifact) -> None:
    """Compile an artifact that is going to be loaded."""
    name, make = _made(artifact, None)
    _code.of(name, make)


def _made(artifact: CpuNativeArtifact, cache: Cache | None) -> tuple[str, Callable[[], bytes]]:
    """The name of an artifact's shared object, and what makes or finds it."""
    compiler = toolchain.find_compiler()
    texts = (artifact.text, *artifact.units)
    instructions = ((toolchain.NO_AVX512, _AVX512), (toolchain.NO_FMA[0], _FMA))
    calling = [t for t in texts if "_mm" in t or "__m" in t or "__builtin_ia32_" in t]  # far faster than the patterns
    needed = [flag for flag, calls in instructions if any(map(calls.search, calling))]
    machine = [f for f in FLAGS if f not in needed]
    flags = (*machine, *OWN, *toolchain.exact_flags(compiler), *artifact.flags)
    flags += toolchain.unfolded_flags(compiler, artifact.replaced)
    name = key(
        texts,
        artifact.support,
        artifact.replacing,
        flags,
        toolchain.compiler_version(compiler),
        toolchain.cpu_key(),
        __version__,
    )

    def make() -> bytes:
        known = cache or Cache()
        return known.put(name, ".so", lambda: build(artifact, compiler, flags, known))

    return name, make


def build(artifact: CpuNativeArtifact, compiler: tuple[str, ...], flags: tuple[str, ...], cache: Cache) -> bytes:
    """The shared object of an artifact: its texts and ours compiled side by side; what the kernel reaches, linked."""
    prepare()
    texts = (artifact.text, *artifact.units)
    command = (*compiler, *flags, "-x", "c")  # preprocessed; but zig does not know the language "cpp-output"
    with scratch() as folder:
        calls = [functools.partial(_compiled, command, t, folder / f"{k}.o") for k, t in enumerate(texts)]
        ours = [(folder / "support.o", lambda: _support(artifact.support, compiler, texts, cache))]
        if artifact.replacing:
            ours.append((folder / "replacing.o", lambda: _replacing(artifact.replacing, compiler, cache)))
        objects = _abreast([*calls, *(make for _, make in ours)])
        for (path, _), content in zip(ours, objects[len(calls) :]):
            path.write_bytes(content)
        objects = objects[: len(calls)]
        users = {s.name for o in objects for s in _symbols(o) if s.defined and s.shared}
        script, to = folder / "exported", folder / "code"
        script.write_text(f"{{ global: {'; '.join(ENTRIES)}; local: *; }};\n")
        wrapped = (f"-Wl,--wrap={name}" for name in sorted({*libc.WRAPPED, *artifact.replaced} - users))
        linked = [*compiler, "-shared", "-nostartfiles", *(str(folder / f"{k}.o") for k in range(len(texts)))]
        linked += [
            *(str(path) for path, _ in ours),
            "-o",
            str(to),
            "-lm",
            *_LINKED,
            f"-Wl,--version-script={script}",
            *wrapped,
        ]
        done = toolchain.fed(linked, "", folder)
        if done.returncode:
            raise toolchain.rejected(compiler[0], "", done.stderr.decode("utf-8", "replace"))
        return to.read_bytes()


def _abreast(calls: Sequence[Callable[[], bytes]]) -> list[bytes]:
    """What the calls return, each of which waits for a process."""
    waiting: list[Future[bytes]] = []
    with ThreadPoolExecutor(1 + toolchain.cores()) as pool:
        for call in calls:
            try:
                waiting.append(pool.submit(contextvars.copy_context().run, call))
            except RuntimeError:  # the interpreter is ending, and this thread goes on
                return [call() for call in calls]
        return [f.result() for f in waiting]


def _replacing(text: str, compiler: tuple[str, ...], cache: Cache) -> bytes:
    """The object of functions that stand in for the library's, with this CPU's instructions."""
    command = (*compiler, "-O2", "-march=native", *OWN, *toolchain.exact_flags(compiler), "-x", "c")
    name = key("replacing", text, command, toolchain.compiler_version(compiler), toolchain.cpu_key(), __version__)

    def compiled() -> bytes:
        with scratch() as folder:
            return _compiled(command, text, folder / "replacing.o")

    return cache.put(name, ".o", compiled)


def _support(text: str, compiler: tuple[str, ...], texts: Sequence[str], cache: Cache) -> bytes:
    """Our own text's object. ``texts``: the user's; what they name decides which of a thread's state is kept."""
    states = (("ERRORS", libc.ERRORS), ("FLOATS", libc.ROUNDING))
    defines = (f"-D{flag}" for flag, names in states if any(n in t for n in names for t in texts))
    command = (*compiler, "-O2", *OWN, *defines, "-x", "c")
    name = key("support", text, command, toolchain.compiler_version(compiler), __version__)

    def compiled() -> bytes:
        with scratch() as folder:
            return _compiled(command, text, folder / "support.o")

    return cache.put(name, ".o", compiled)


def _symbols(code: bytes) -> Iterator[ElfSymbol]:
    try:
        return Elf(code).symbols()
    except ValueError:
        raise catalogue.NOT_ELF.error() from None


def _compiled(compiler: tuple[str, ...], text: str, to: Path) -> bytes:
    """The object of one text, which is also written. ``compiler``: its command, flags and language."""
    done = toolchain.fed([*compiler, "-c", "-", "-o", str(to)], text, to.parent)
    if not done.returncode:
        return to.read_bytes()
    errors = done.stderr.decode("utf-8", "replace")
    m = _ERROR.search(errors)
    if m is None or m[1] in ("<c2cu>", "<stdin>"):
        raise toolchain.rejected(compiler[0], "" if m is None else text, errors)
    place = Loc(file_of(m[1]), int(m[2]), int(m[3] or 0))
    raise catalogue.INVALID_C.error(place, message=m[4], way_on=toolchain.way_on(m[4]))
