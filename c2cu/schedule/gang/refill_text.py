"""The parts of a kernel whose lanes refill, for cpu/refill.c.j2."""

from __future__ import annotations

from collections.abc import Iterable

from ...base.ctype import BOOL
from ...codegen.indent import indented
from ...codegen.lane_masks import MaskPrinter
from ...codegen.simd import member
from ...ir.nodes import Assign, Block, Variable
from ...ir.walk import touched
from .refill import Refill
from .text import Emitter, array


class RefillText:
    """Prints each part as a function of its own. ``p``: has collected, in the end, what the parts use of the header."""

    def __init__(self, form: Refill, p: MaskPrinter):
        self.form, self.u, self.p = form, form.u, p
        self.emitter = Emitter(form.u, self.p)

    def values(self) -> dict[str, object]:
        """What the template is filled with."""
        form = self.form
        gangs = [self.gang(k) for k in range(form.gangs)]
        return {
            "due": form.due,
            "common": self.common(),
            "coming": [self.queue(v) for v in form.coming],
            "going": [self.queue(v) for v in form.going],
            "before": self.before(),
            "after": self.after(),
            "gangs": gangs,
            "declared": self.declared(),
            "bring": [(member(r), r.count) for r in form.bring],
            "take": [(member(r), r.count) for r in form.take],
        }

    def common(self) -> list[str]:
        """Members of ``struct common``."""
        variables = sorted((x for x in self.form.common if isinstance(x, Variable)), key=lambda v: (v.uid, v.name))
        regions = [r for r in self.u.kernel.regions if r in self.form.common]
        return [
            *map(self.emitter.declared, variables),
            *map(array, regions),
        ]

    def queue(self, v: Variable) -> dict[str, object]:
        """Where the values of a variable wait: of a _Bool as numbers, since a mask has no elements that move."""
        return {"name": self.p.var(v), "rep": self.p.register(v.type), "truth": v.type == BOOL}

    def frame(self, block: Block, variables: Iterable[Variable]) -> list[str]:
        """What a function that does a block, and has values of ``variables``, declares."""
        named = touched(block)
        regions = [r for r in self.u.kernel.regions if r in named and r not in self.form.common]
        return [*self.emitter.declarations(block, regions), *map(self.emitter.begun, variables)]

    def before(self) -> list[str]:
        self.p.lines = []
        self.emitter.block(self.form.before)
        for v in self.form.coming:
            name = self.p.var(v)
            self.emitter.line(f"q->{name}[0] = {f'ones_i32({name})' if v.type == BOOL else name};")
        return [*dict.fromkeys(self.frame(self.form.before, self.form.coming)), *indented(self.p.lines)]

    def after(self) -> list[str]:
        self.p.lines = []
        for v in self.form.going:
            value = f"q->{self.p.var(v)}[0]"
            self.emitter.line(f"{self.p.var(v)} = {f'ne_i32({value}, (i32){{0}})' if v.type == BOOL else value};")
        self.emitter.block(self.form.after)
        return [*dict.fromkeys(self.frame(self.form.after, self.form.going)), *indented(self.p.lines)]

    def declared(self) -> list[str]:
        """What the loop's function declares: its gangs share what does not vary."""
        form = self.form
        out: dict[str, None] = {}
        for k in range(form.gangs):
            self.p.suffix = f"g{k}"
            variables = (*form.coming, *(v for v, _ in form.at_start), *form.going)
            out.update(dict.fromkeys(self.frame((form.loop,), variables)))
        self.p.suffix = ""
        return list(out)

    def gang(self, k: int) -> dict[str, object]:
        """What gang ``k`` does: ``first`` with lanes that have taken inputs, ``turn`` in each turn of the loop."""
        form, p, loop = self.form, self.p, self.form.loop
        lives = self.emitter.live
        assert lives is not None and all(f in self.u.varying for f in loop.flags)
        behind = lives.after[id(loop)]
        names = [self.p.var(v) for v in (*form.coming, *form.going)]
        p.gang, p.suffix = f"g{k}", f"g{k}"
        p.lines, p.mask, self.emitter.needed = [], f"fresh{k}", self.u.varying
        for v, value in form.at_start:
            self.emitter.statement(Assign(v, value, value.loc))
        if not set(loop.flags) <= dict(form.at_start).keys():
            self.emitter.leave(loop, p.mask)
        self.tested(p.mask)
        first = p.lines
        p.lines, p.mask, self.emitter.needed = [], f"running{k}", behind
        if form.due == 1:  # a lane that is done ends the turns of all
            self.emitter.whole = p.mask
        self.emitter.block(loop.body)
        self.emitter.leave(loop, p.mask)
        if loop.flags:
            self.emitter.whole = ""
        self.emitter.block(loop.step)
        self.tested(p.mask)
        turn, self.emitter.whole = p.lines, ""
        spelled = dict(zip(names, [self.p.var(v) for v in (*form.coming, *form.going)]))
        p.gang, p.suffix, p.mask, self.emitter.needed = "g", "", "", frozenset()
        return {"first": indented(first), "turn": indented(turn), "spelled": spelled}

    def tested(self, mask: str) -> None:
        """The part of a turn that decides whether there is another one."""
        self.emitter.block(self.form.loop.head)
        self.emitter.line(f"{mask} &= {self.p.truth(self.form.loop.cond)};")
