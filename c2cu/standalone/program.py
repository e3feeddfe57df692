"""Standalone translation: one file that nvcc or a C compiler takes, which does p runs of the original in turn."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from pycparser import c_ast as C

from ..base import catalogue, toolchain
from ..base.ctype import CHAR, INT, Array, CType, Pointer, Scalar, Struct, extents, leaf_element
from ..base.diagnostics import Error, Note, UnsupportedError
from ..base.libm import DECLARED
from ..base.templates import render, words
from ..codegen.c_printer import declare, define_struct, name, structs_used
from ..codegen.contraction import called_products
from ..codegen.correct_functions import CALLED, with_definitions
from ..codegen.correct_functions import definitions as correct_definitions
from ..codegen.device_library import definitions
from ..codegen.math_calls import rounding_correctly
from ..codegen.positions import are_kept, kept_positions, told_places
from ..frontend.kernel import Parameter, static_locals
from ..frontend.options import one_of
from ..frontend.parse import deeply, loc_of
from ..frontend.refuse import refuse_complex, refuse_printing
from ..frontend.symbols import Symbol
from ..schedule.artifact import Artifact, CpuTeamArtifact
from ..schedule.choose import AUTO, require_known
from ..schedule.column.columns import COLUMN, PLAIN, Columns
from ..schedule.column.emit import constant_names, constant_tables
from ..schedule.device_correct import device_correct
from ..schedule.device_functions import with_functions
from ..schedule.gang.emit import gang
from ..schedule.gang.functions import for_any_library
from ..schedule.private.emit import private
from ..schedule.private.process import Process, process_of
from ..schedule.slots import Slot, require_elements, require_extents, require_few
from .arguments import Arguments
from .forms import NATIVE, form, launched
from .host_rules import LOSE_BUFFERS, reach
from .host_split import HostPrinter, HostSplit, declarations, globals_of, holds_pointer, hostsplit
from .line_directives import line_directives
from .own_names import (
    C_TEXTS,
    CUDA_TEXTS,
    NO_MACROS,
    OF_TYPES,
    PROCESS_TEXTS,
    aliases_of,
    device_name,
    is_vector,
    macros,
    named_in,
    private_names,
    refuse_library,
    refuse_ours,
    refuse_places,
    renamed_in_c,
    renamed_in_cplusplus,
    respelled,
    rounded_in,
    spelled_out,
    types_defined,
    undefined_macros,
    undefines,
)
from .tidy import headers, split_includes, unexported, without_unused, without_unused_cuda
from .turns import in_turn
from .wrap import wrapped

if TYPE_CHECKING:
    from ..analysis.uniform import Uniform
    from ..schedule.understood import Understood

PORTABLE_BYTES = 16  # SIMD width that every compiler takes without a flag
STATIC_BYTES = 1 << 30  # device arrays beyond this are allocated, not static
IN_FLIGHT = 3  # groups on their way at a time: one copied in, one computed, one copied out
MOST_THREADS = (1 << 31) - 1024  # of a launch: ``__id__`` is an int
_LITERAL = """/* The object of a compound literal, which has an address. */
template <class T> struct __same { typedef T type; };
template <class T> static T &__literal(T &to, const typename __same<T>::type &value) {
    memcpy(&to, &value, sizeof to);
    return to;
}"""
#: Of x86's CPUs, by the bytes of their SIMD registers: what text for these uses.
_FEATURES = {32: ("avx2",), 64: ("avx512f", "avx512bw", "avx512dq", "avx512vl")}
_SIZES = 6  # of the program's macros that a header lists


@deeply
def standalone(
    front: Understood,
    *,
    p: int,
    threads: int = 64,
    target: str = "cuda",
    group: int | None = None,
    schedule: str | None = None,
    lines: str = "",
) -> str:
    """The text of a whole program for ``p`` runs. ``target``: cuda or cpu.

    ``group``: inputs at a time (thesis, section 4.5). Memory is bounded by it, not by p, and a group's output is
    written before the last inputs are read. On CUDA copies, kernels and host code of neighbouring groups overlap.
    ``schedule``: whose kernels it has, or "auto"; None: on CUDA ``thread``, or ``private`` for what that does not take,
    on a CPU lanes that every compiler has without a flag. ``lines``: the name that the text is stored by, if it is to
    have ``#line`` directives.

    Raises UnsupportedError where main cannot be split at the kernel call or the schedule does not take the program,
    InputError for p, threads or group out of range, or an unknown schedule.
    """
    require_runs(p, threads, target, group)
    if schedule is not None:
        require_known(target, schedule)
    with kept_positions(bool(lines)) as files, told_places():
        if target == "cpu":
            text = _cpu(front, p, group, schedule)
        else:
            require_elements(front.slots)
            host = _host(front, False, True, p, group, kernel=schedule in (None, "thread", "private"))
            refuse_places(front)
            text = wrapped(without_unused_cuda(_cuda(host, threads, schedule)))
    return line_directives(text, lines, files) if lines else text


def _cuda(host: _Host, threads: int, schedule: str | None) -> str:
    """A program for nvcc: the paper's columns, a thread's own variables, or rows around a schedule's kernels."""
    front = host.front
    artifact, why = None, None
    if schedule not in (None, "private"):
        try:
            artifact = host.form("cuda", schedule)
            if artifact is None:
                raise catalogue.NO_PROGRAM_FORM.error(front.program.kernel.loc, schedule=schedule)
            if artifact.schedule not in ("thread", "private"):
                return host.cuda_rows(artifact)
        except UnsupportedError as e:
            if schedule != AUTO:
                raise
            artifact, why = None, e
    name = artifact.schedule if artifact is not None else schedule
    if name == "private" and artifact is None:
        return host.cuda_private("the schedule is 'private'")
    try:
        return host.cuda_thread(threads)
    except UnsupportedError as e:
        if artifact is not None and name == "thread":
            return host.cuda_rows(artifact)
        reason = f"{e.diagnostic.message} (line {e.line})" if e.line else e.diagnostic.message
        try:
            return host.cuda_private(reason)
        except UnsupportedError as e:
            raise why or e from None


def require_runs(p: int, threads: int, target: str, group: int | None) -> None:
    """Raise InputError for what is out of range."""
    one_of("target", target, ("cuda", "cpu"))
    if p < 1:
        raise catalogue.FEW_RUNS.error(p=p)
    if not 1 <= threads <= 1024:
        raise catalogue.THREADS_RANGE.error(threads=threads)
    if group is not None and group < 1:
        raise catalogue.GROUP_RANGE.error(group=group)
    if target == "cuda" and min(p, group or p) > MOST_THREADS:
        raise catalogue.TOO_MANY_RUNS.error(count=min(p, group or p), most=MOST_THREADS)


def _require_lengths(front: Understood) -> None:
    """Raises InputError for an array whose length nothing tells, at what main passes."""
    call = front.program.call
    passed = call.args.exprs if call is not None and call.args is not None else ()
    arguments = {q.name: n for q, n in zip(front.program.kernel.params, passed)}
    for s in front.slots:
        if -1 in s.shape and s.name in arguments:
            declared = (Note(f"'{s.name}' is declared here", s.loc),)
            raise catalogue.UNTOLD_LENGTH.error(loc_of(arguments[s.name]), declared, name=s.name)
    require_extents(front.slots)


def _host(front: Understood, whole: bool, cplusplus: bool, p: int, group: int | None, kernel: bool = True) -> _Host:
    """``kernel``: it is printed too."""
    if not whole:
        _require_lengths(front)
    refuse_printing(front.program, whole, cplusplus, kernel)
    return _Host(front, hostsplit(front.program, whole), cplusplus, p, group)


def _cpu(front: Understood, p: int, group: int | None, schedule: str | None) -> str:
    """A program for a C compiler: the kernel in lanes, or, where it or its call cannot be taken apart, as it stands;
    where main cannot either, all of the program as it stands, run after run."""
    why: Error | None = None
    if schedule not in (None, NATIVE):
        try:
            host = _host(front, False, False, p, group, kernel=False)
            artifact = host.form("cpu", schedule)
            if artifact is not None:
                return wrapped(host.cpu(artifact))
        except Error as e:
            if schedule != AUTO:
                raise
            why = e
    for whole in (False, True) if _is_vector_code(front) and schedule is None else (True,):
        try:
            return wrapped(_host(front, whole, False, p, group).cpu())
        except Error as e:
            why = why or e
    assert why is not None
    text = in_turn(front.source.name, front.pre, p, why) if front.math == "host" else None
    if text is None:
        raise why
    return text


def runs_as_it_stands(schedule: str | None) -> bool:
    """Whether a CPU may run the program's own text for a schedule."""
    return schedule in (None, AUTO, NATIVE)


def _is_vector_code(front: Understood) -> bool:
    """Whether a CPU runs the kernel under ``gang``: else its own text is what runs."""
    if front.analysis is None or front.ends:
        return False
    return not any(f.kind == "address" for f in front.analysis.findings)


class _Host:
    def __init__(self, front: Understood, split: HostSplit, cplusplus: bool, p: int, group: int | None):
        self.front, self.split, self.p = front, split, p
        self.group = min(p, group) if group else 0  # 0: all inputs at once
        self.in_flight = min(IN_FLIGHT, -(-p // self.group)) if self.group else 1
        self.width = "__G__" if group else "__P__"
        self.program, self.unit = front.program, front.program.unit
        refuse_ours(self.unit)
        self.spelled_out = spelled_out(self.unit, cplusplus)
        self.respelled = frozenset(named_in(self.unit)[0] & NO_MACROS if cplusplus else ())
        self.renamed = renamed_in_cplusplus(self.unit) if cplusplus else renamed_in_c(self.unit)
        self.undefined = undefined_macros(self.unit)
        taken = {n for n, _ in self.renamed} | {*self.undefined}
        self.aliases = aliases_of(self.unit, taken, words(*(CUDA_TEXTS + PROCESS_TEXTS if cplusplus else C_TEXTS)))
        self.printer = HostPrinter(self.unit, split.carried, split.statics, cplusplus, self.spelled_out)
        self.printer.aliases = self.aliases
        self.globals = globals_of(self.unit)
        self.parameters = () if split.whole else self.program.parameters  # of the kernel, as a part of its own
        self.arguments = Arguments(front, split, self.printer, self.parameters, self.globals)
        self.where = {n: f"{respelled(place, self.respelled)}" for n, place in self.arguments.where.items()}
        self.functions = tuple({*split.functions, *self.arguments.called})  # that the host has

    # pieces

    def text(self, template: str, **values: object) -> str:
        """A template's text around the program's, in which functions of the library have the names of `aliases_of`."""
        values["name"] = self.front.source.name.rsplit("/", 1)[-1]
        text = render(template, self.aliases, library=[], **values)
        said = [(n, alias) for n, alias in self.aliases.items() if re.search(rf"\b{alias}\b", text)]
        if not said:
            return text
        library = [
            f"static __typeof__({n}) *const {alias} = {n}; /* the name is the program's own */" for n, alias in said
        ]
        return render(template, self.aliases, library=library, **values)

    def common(self, process: Process | None = None) -> dict[str, object]:
        returns = any(b.kind == "return" for b in self.parameters)
        head = self.program.kernel.node.decl.type
        variables = {**{s: s.name for s in self.globals}, **self.printer.statics}
        host_functions = [f for f in self.unit.functions if f in self.functions]
        values = {
            "p": self.p,
            "lines": are_kept(),
            "group": self.group,
            "in_flight": self.in_flight,
            "width": self.width,
            "all_before": not (self.group and self.printer.cplusplus),
            "reads": self.split.reads,
            "macros": macros(self.unit, self.spelled_out, self.undefined, self.renamed),
            "declarations": [
                *(self.printer.top(n) for n in declarations(self.unit, (*self.functions, *self.undeclared()))),
                *(self.printer.static(s) for s in self.split.statics),
            ],
            "functions": [self.printer.function(self.unit.functions[f].node) for f in host_functions],
            "types": [self.printer.top(n) for n in self.split.types],
            "globals": [self.printer.member(s) for s in variables],
            "global_names": list(variables.values()),
            "volatile": [member for s, member in variables.items() if s.volatile],
            "locals": [self.printer.member(s) for s in self.split.carried],
            "arguments": self.arguments.members(),
            "pointers": bool(self.arguments.pointers),
            "overlaps": any("__overlap" in line for line in self.arguments.together()),
            "allocators": self.arguments.allocators() if self.arguments.pointers else [],
            "alone": bool(self.arguments.pointers) and not self.printer.cplusplus,
            "result": [self.printer.parameter(head.type, "__result")] * returns,
            "before": (before := self.before()),
            "after": (after := self.after()),
            "bounded": [self.bounded(b, s) for b, s in zip(self.parameters, self.front.slots) if s.most is not None],
            "set_arguments": (arguments := self.arguments.set()),
            "get_result": (result := self.arguments.get_result()),
            "not_read_before": self.not_read(before, *arguments),
            "not_read_after": self.not_read(after, *result),
            "main_parameters": self.main_parameters(),
            "main_arguments": self.main_arguments(),
            "fresh_before": self.split.fresh[0],
            "fresh_after": self.split.fresh[1],
            "prints": self.split.prints,
            "process": sorted(process.needs) if process else [],
            "sites": process.sites if process else [],
            "ends": (ends := sorted(self.printer.ends)),  # after all that is printed
            "loses_buffers": (
                loses_buffers := not LOSE_BUFFERS.isdisjoint(ends) or (process is not None and "exit" in process.needs)
            ),
            "unbuffered": self.split.unbuffered or loses_buffers,
            "host_helpers": [_LITERAL] if self.printer.literal_count else [],
            "ends_in_return": bool(self.split.after) and isinstance(self.split.after[-1], C.Return),
        }
        return {key: respelled(value, self.respelled) for key, value in values.items()}

    def bounded(self, b: Parameter, s: Slot) -> dict[str, object]:
        """What a run is asked about a variable whose elements --pack bounds."""
        after = [prod(s.shape[k + 1 :]) for k in range(len(s.shape))]
        return {
            "name": b.name,
            "place": self.where[b.name],
            "type": declare(leaf_element(b.type), ""),
            "count": prod(s.shape),
            "subscripts": [f"__k / {n} % {extent}" for n, extent in zip(after, s.shape)],
            "most": s.most,
        }

    def headers(self, *more: str) -> list[str]:
        """The headers that the program includes, and those that the translation needs; ``more``: directives of another
        text."""
        needed = [f"#include <{h}.h>" for h in ("stdio", "stdlib", "string")]
        if self.printer.ends:
            needed.append("#include <setjmp.h>")
        if self.split.prints:
            needed.append("#include <unistd.h>")
        if self.printer.cplusplus and self.group and self.split.reads:
            needed.append("#include <sys/select.h>")
        return headers([*self.unit.pre.includes, *needed, *more])

    def undeclared(self) -> frozenset[str]:
        """Functions of math.h, which only the program's own declarations declare in the text."""
        included = any(h.split("<")[-1].startswith("math.h") for h in self.unit.pre.includes)
        return DECLARED - self.unit.functions.keys() if self.split.whole and not included else frozenset()

    def before(self) -> str:
        self.printer.ended = "__r->__ended"
        text = self.printer.statements(self.split.before)
        self.printer.ended = ""
        return text

    def after(self) -> str:
        return self.printer.statements(self.split.after)

    def main_parameters(self) -> str:
        params = self.unit.functions["main"].params
        if len(params) > 2:
            raise catalogue.MAIN_PARAMETERS.error(params[2].loc, name=params[2].name)
        return ", ".join(self.printer.visit(q.decl) for q in params if q.decl is not None)

    def main_arguments(self) -> str:
        """What a part of main gets for them, behind a comma; ``const char *argv[]`` is another type than ours."""
        params = self.unit.functions["main"].params
        ours = [("__argc", INT), ("__argv", Pointer(Pointer(CHAR)))]
        return "".join(
            f", {text}" if q.type == t else f", ({declare(q.type, '')}){text}" for q, (text, t) in zip(params, ours)
        )

    def not_read(self, *texts: str) -> list[str]:
        """The parameters of main that a part of it has no use for."""
        words = set(re.findall(r"\w+", "\n".join(texts)))
        names = [name(q.name) for q in self.unit.functions["main"].params if q.decl is not None]
        return [n for n in names if n not in words]

    # targets

    def form(self, target: str, schedule: str) -> Artifact | None:
        """The artifact of a schedule by name, or of the one that is chosen for as many inputs as go together."""
        _require_lengths(self.front)
        with called_products(target == "cuda" and self.front.fp != "fast"):
            return form(self.front, target, schedule, self.group or self.p)

    def cpu(self, artifact: Artifact | None = None) -> str:
        """``artifact``: for this machine's SIMD registers, and for all its processors; None: for any, on one."""
        values = self.common()
        text, slots, included, calls = "", [], [], []
        if not self.split.whole:
            analysis = self.front.analysis
            assert analysis is not None
            team = isinstance(artifact, CpuTeamArtifact)
            text = artifact.text if artifact is not None else self.portable(analysis)
            calls = CALLED.findall(text)
            text, included = split_includes(text.removeprefix(correct_definitions(calls)))
            if artifact is not None:
                text = render("cpu/scheduled.c.j2", text=unexported(text), team=team)
                included += ["#include <pthread.h>", "#include <unistd.h>"]
            text = without_unused(private_names(text))
            slots = self.slots()
        rounded = rounded_in(self.front)
        defined = {*self.unit.variables, *self.unit.functions} | types_defined(self.unit)
        hidden = [] if "math.h" in headers(self.unit.pre.includes) else sorted(defined & DECLARED)
        return self.text(
            "cpu/standalone.c.j2",
            hidden=hidden,
            vector=[f"{n}_of_math{suffix}" for n in hidden if is_vector(n) for suffix in OF_TYPES],
            headers=[h for h in self.headers(*included) if not (hidden and h == "math.h")],
            gang=text,
            schedule=artifact.schedule if artifact is not None else "",
            fp=self.front.fp,
            correct=self.front.math == "correct",
            rounded=rounded,
            rounding=correct_definitions([*calls, *rounded]),
            features=_FEATURES.get(toolchain.vector_bytes(), ()) if artifact is not None else (),
            slots=slots,
            **values,
        )

    def portable(self, analysis: Uniform) -> str:
        """The kernel in lanes that every CPU has."""
        front = self.front
        with rounding_correctly(front.math == "correct"):
            text = gang(analysis, front.slots, front.layout, PORTABLE_BYTES, front.trace).text
        return with_definitions(text)

    def slots(self) -> list[str]:
        """Initialisers of the slot table over ``__runs``."""
        out = []
        for b, s in zip(self.program.parameters, self.front.slots):
            if self.is_the_devices(b):
                out.append("{0, 0, 0, 0}")
                continue
            where = f"&__runs[0].{self.where[b.name]}"
            source = f"{where}, sizeof *__runs" if b.kind != "return" else "0, 0"
            target = f"{where}, sizeof *__runs" if s.writes else "0, 0"
            out.append(f"{{{source}, {target}}}")
        return out

    def is_the_devices(self, b: Parameter) -> bool:
        """Whether a variable that holds addresses stays on the device, as the host's would mean nothing there."""
        if not self.printer.cplusplus or b.kind != "global" or not holds_pointer(self.unit, b.type):
            return False
        if b.name not in reach(self.unit, (*self.split.before, *self.split.after))[1]:
            return True
        if isinstance(leaf_element(b.type), Pointer):
            raise catalogue.POINTER_IN_MEMORY.error(b.loc, name=b.name)
        return False

    def cuda_rows(self, artifact: Artifact) -> str:
        """Rows of batch-first arrays around an artifact's kernels."""
        refuse_printing(self.program, kernel=False)
        functions = (self.unit.functions[f].node for f in self.functions)
        file = declarations(self.unit, (*self.functions, *self.undeclared()))
        split = self.split
        refuse_complex(self.unit, (*file, *functions, *split.types, *split.before, *split.arguments, *split.after))
        values = launched(artifact)
        defined = dict.fromkeys(re.findall(r"^[ \t]*#[ \t]*define (\w+)", artifact.text, re.M))
        arrays = [self.rows(b, s) for b, s in zip(self.program.parameters, self.front.slots)]
        return self.text(
            "cuda/standalone_rows.cu.j2",
            kernel=self.program.kernel.name,
            schedule=artifact.schedule,
            fp=self.front.fp,
            correct=self.front.math == "correct",
            pack=self.front.pack,
            sizes=[f"{m.name} = {m.value}" for m in self.unit.pre.macros.values() if m.value.isdigit()][:_SIZES],
            undefined=[m for m in defined if m != "_Bool" and not undefines(artifact.text, m)],
            arrays=[a for a in arrays if a is not None],
            slots=["{0, 0, 0, 0}" if a is None else self.slot(a) for a in arrays],
            **values,
            **self.common(),
            headers=self.headers(),
        )

    def rows(self, b: Parameter, s: Slot) -> dict[str, object] | None:
        """The array that holds a variable of each run, None for one that no kernel touches."""
        if not (s.reads or s.writes) or self.is_the_devices(b):
            return None
        return {
            "name": device_name(b),
            "size": s.nbytes,
            "place": self.where[b.name],
            "reads": b.kind != "return",
            "writes": s.writes,
            "shared": s.shared,
        }

    def slot(self, array: dict[str, object]) -> str:
        """The initialiser of a slot over the rows of an array."""
        at = f"{'__g->' if self.group else ''}{array['name']}"
        source = f"{at}, {0 if array['shared'] else array['size']}" if array["reads"] else "0, 0"
        target = f"{at}, {array['size']}" if array["writes"] else "0, 0"
        return f"{{{source}, {target}}}"

    def cuda_private(self, reason: str) -> str:
        require_few(self.front.slots)
        refuse_library(self.unit, ("memcpy", "memset"))
        process = process_of(self.program)
        correctly = rounding_correctly(self.front.math == "correct")
        with called_products(self.front.fp != "fast"), correctly, for_any_library():
            artifact = with_functions(
                lambda: private(self.program, self.front.slots, process, self.spelled_out), self.front.fp
            )
        if process.needs:
            self.spelled_out = self.printer.values = spelled_out(self.unit, True, *PROCESS_TEXTS)
        return self.text(
            "cuda/standalone_private.cu.j2",
            device=artifact.text.replace('extern "C" ', ""),  # which nvcc does not find in a namespace
            lanes=artifact.inputs,
            slots=self.slots(),
            reason=reason,
            undefined=self.undefined,
            **self.common(process),
            headers=self.headers(),
        )

    def cuda_thread(self, threads: int) -> str:
        refuse_printing(self.program)
        names: dict[Symbol, str] = {}
        statics = self.static_arrays()
        size = sum(s.nbytes for s in self.front.slots) + sum(b.type.size for b in statics)
        size *= (self.group or self.p) * self.in_flight
        static = size <= STATIC_BYTES
        for b in self.program.parameters:
            if isinstance(leaf_element(b.type), Pointer):
                raise catalogue.POINTER_IN_MEMORY.error(b.loc, name=b.name)
            if isinstance(leaf_element(b.type), Struct) or b.shared:
                raise catalogue.PART_OF_STRUCT.error(b.loc, name=b.name)
            if b.kind == "global" and b.symbol is not None:
                names[b.symbol] = self.columns_of(b, static)
        names.update((b.symbol, self.columns_of(b, static)) for b in statics if b.symbol is not None)
        slot = [("int __s__", "__s__")] if self.group else []
        plain = {s: f"__{text}" for s, text in constant_names(self.program).items()}
        with called_products(self.front.fp != "fast"), rounding_correctly(self.front.math == "correct"):
            columns = Columns(self.program, names, plain, [*slot, ("int __id__", "__id__")], self.width)
            columns.spelled_out = self.spelled_out
            kernel = self.program.kernel
            storages = tuple(COLUMN if isinstance(q.type, Pointer) else PLAIN for q in kernel.params)
            entry = columns.instance(kernel, storages)
            correct = device_correct(CALLED.findall("".join(f.text for f in columns.finished)))
        tables = constant_tables(self.program, columns)
        declared = {t.tag for t in self.unit.scope.tags.values()}  # by the host's part, which has the file's types
        structs = [s for s in structs_used(self.unit, self.program.functions, []) if s.tag not in declared]
        first, start = self.first_values(statics, columns)
        bare = not kernel.params and not any(b.kind == "return" for b in self.program.parameters)
        parameters = zip(self.program.parameters, self.front.slots)
        done = [f for f in columns.finished if not (bare and f is entry)]
        return self.text(
            "cuda/standalone.cu.j2",
            threads=threads,
            static=static,
            structs=[define_struct(s) for s in structs],
            constants=tables + first,
            start=start,
            helpers=[*definitions(columns.helpers), *([correct] if correct else [])],
            device_prototypes=[f.head + ";" for f in done],
            device_functions=[f.text for f in done],
            arrays=[self.array(b, s.nbytes, b.kind != "return", s.writes, static) for b, s in parameters]
            + [self.array(b, b.type.size, False, False, static) for b in statics],
            kernel=name(kernel.name) if bare else f"{name(kernel.name)}__all",
            entry=entry.name,
            body=self.inlined(columns, kernel) if bare else None,
            call=self.column_call(entry.name, static),
            **self.common(),
            headers=self.headers(),
        )

    def inlined(self, columns: Columns, kernel) -> str:
        """The kernel function's statements, for the __global__ function that takes its place."""
        text = columns.instances[(kernel.name, ())].text
        body = text[text.index("{") + 1 : text.rindex("}")].strip("\n")
        return body.rstrip()

    def column_call(self, entry: str, static: bool) -> str:
        args = []
        for b in self.program.parameters:
            if b.kind == "param" and b.symbol is not None:
                pointer = isinstance(b.symbol.type, Pointer)
                scalar = not isinstance(b.type, Array)
                columns = self.columns_of(b, static)
                args.append(("&" if scalar else "") + columns if pointer else f"{columns}[__id__]")
        call = f"{entry}({', '.join([*args, *(['__s__'] if self.group else []), '__id__'])});"
        result = next((b for b in self.program.parameters if b.kind == "return"), None)
        return f"{self.columns_of(result, static)}[__id__] = {call}" if result is not None else call

    def columns_of(self, b: Parameter, static: bool) -> str:
        """How device code spells the columns of a parameter."""
        if self.group:
            return f"{device_name(b)}[__s__]"
        return device_name(b) if static or isinstance(b.type, Array) else f"(*{device_name(b)})"

    def static_arrays(self) -> list[Parameter]:
        """The kernel's static locals as variables that a run has its own of."""
        statics = [s for s in static_locals(self.program) if not s.const]
        for s in statics:
            if not isinstance(leaf_element(s.type), Scalar):
                raise catalogue.STATIC_STRUCT.error(s.loc, name=s.name)
        return [Parameter(f"{s.name}_static{k}", "static", s.type, s, False, s.loc) for k, s in enumerate(statics)]

    def first_values(self, statics: list[Parameter], columns: Columns) -> tuple[list[str], list[str]]:
        """Constants with the first values of static locals, and the loops by which a thread starts its own."""
        constants: list[str] = []
        lines: list[str] = []
        for b in statics:
            assert b.symbol is not None
            counters = [f"__i{d}" for d in range(len(extents(b.type)))]
            loops = [f"for (int {i} = 0; {i} < {n}; {i}++) " for i, n in zip(counters, extents(b.type))]
            at = "".join(f"[{i}]" for i in counters)
            init = b.symbol.decl.init if b.symbol.decl is not None else None
            value = "0" if init is None else f"{device_name(b)}_first{at}"
            if init is not None:
                constants.append(columns.device_constant(b.symbol, f"{device_name(b)}_first"))
            lines.append(f"{''.join(loops)}{columns.names[b.symbol]}{at}[__id__] = {value};")
        return constants, lines

    def array(self, b: Parameter, nbytes: int, reads: bool, writes: bool, static: bool) -> dict[str, object]:
        """A device array of ``nbytes`` a run, and how it gets its values."""
        element = leaf_element(b.type)
        assert isinstance(element, Scalar)
        return {
            "name": device_name(b),
            "declaration": self.device_declaration(b, static),
            "count": nbytes // element.size,
            "size": element.size,
            "place": self.where.get(b.name, ""),
            "reads": reads,
            "writes": writes,
        }

    def device_declaration(self, b: Parameter, static: bool) -> str:
        dims = self.extent_texts(b)
        element = declare(leaf_element(b.type), "").strip()
        element = "bool" if element == "_Bool" else element
        if static:
            return f"__device__ {element} {device_name(b)}{'[__S__]' if self.group else ''}{dims}[{self.width}]"
        rest = dims if self.group else dims[dims.find("]") + 1 :]
        return f"__constant__ {element} (*{device_name(b)}){rest}[{self.width}]"

    def extent_texts(self, b: Parameter) -> str:
        """The extents, by the macros that spell them."""
        t: CType = b.type
        texts = ""
        names = list(b.symbol.extents if b.symbol is not None else ())
        while isinstance(t, Array):
            macro = names.pop(0) if names else ""
            texts += f"[{macro if macro and macro not in self.spelled_out else t.length}]"
            t = t.of
        return texts
