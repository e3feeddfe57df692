"""CUDA text of the sequential kernel, for inputs whose row k or column k changes in step k, as a person writes it."""

from __future__ import annotations

from collections import Counter

from ...codegen.cuda import CudaText, type_name
from ...codegen.places import place_in
from ...gep import Gep
from ...ir.canonical import CountedLoop, counted
from ...ir.nodes import Assign, Binary, Block, Kernel, Loop, Stmt, Var, Variable
from ...ir.ranges import Range, RangeOf, Ranges, ranges_of_variables
from ...ir.walk import blocks, statements, used
from ...transform.propagate import propagate


class SequentialText(CudaText):
    """Prints the kernel's statements: counted loops with ``for``, and the loops' counters by the names k, i and j."""

    def __init__(self, gep: Gep, kernel: Kernel, depth: int):
        self.body = propagate(kernel).body
        self.uses = _uses(self.body)
        super().__init__(_ranges(self.body, self.uses))
        self.depth = depth
        self.counters = dict(zip(gep.counters, "kij"))

    def variable(self, v: Variable) -> str:
        return self.counters.get(v) or super().variable(v)

    def whole(self) -> list[str]:
        """The lines of the kernel's body."""
        self.declare(self.body, set(_own(self.body, self.uses)))
        self.block(self.body)
        return self.lines

    def together(self, block: Block, k: int) -> int:
        loop = _for(block, k)
        if loop is None:
            return super().together(block, k)
        self.counted(block[k], loop)
        return 2

    def counted(self, first: Stmt, loop: CountedLoop) -> None:
        """Print ``first``, which sets the counter, and the loop."""
        assert isinstance(first, Assign)
        v, (step,) = loop.counter, loop.loop.step
        assert isinstance(step, Assign)
        name = self.variable(v)
        declared = f"{type_name(v.type)} " if _is_own(first, loop, self.uses) else ""
        next_value = f"{name}++" if _rises(loop) else f"{name} = {self.text(step.value)}"
        head = f"for ({declared}{name} = {self.text(first.value)}; {self.text(loop.loop.cond)}; {next_value})"
        self.line(f"{head} {{ /* {place_in(loop.loop.loc)} */")
        self.depth += 1
        self.block(loop.loop.body)
        self.close()


def _for(block: Block, k: int) -> CountedLoop | None:
    """The loop behind statement ``k`` that counts from what this one assigns."""
    match block[k : k + 2]:
        case (Assign(var=v), Loop() as s):
            loop = counted(s)
            return loop if loop is not None and loop.counter == v and not loop.may_end_early else None
    return None


def _rises(loop: CountedLoop) -> bool:
    """Whether the counter, as it is, rises by one while it is below the limit: so it does not overflow."""
    cond = loop.loop.cond
    plain = isinstance(cond, Binary) and cond.left == Var(loop.counter, cond.left.loc)
    return plain and loop.by == 1 and loop.op == "<"


def _uses(block: Block) -> Counter[Variable]:
    """How often each variable is read or assigned."""
    return used(block) + Counter(s.var for s in statements(block) if isinstance(s, Assign))


def _is_own(first: Stmt, loop: CountedLoop, uses: Counter[Variable]) -> bool:
    """Whether nothing outside the loop uses its counter."""
    return _uses((first, loop.loop))[loop.counter] == uses[loop.counter]


def _own(block: Block, uses: Counter[Variable]) -> dict[Variable, tuple[Assign, CountedLoop]]:
    """The counters that their loops declare, each with what it starts from, and its loop."""
    every = [block, *(b for s in statements(block) for b in blocks(s))]
    pairs = ((b[k], _for(b, k)) for b in every for k in range(len(b)))
    return {
        loop.counter: (first, loop)
        for first, loop in pairs
        if loop is not None and isinstance(first, Assign) and _is_own(first, loop, uses)
    }


def _ranges(block: Block, uses: Counter[Variable]) -> RangeOf:
    """What variables hold: counters that rise by one not more than their limit."""
    own, others = _own(block, uses), ranges_of_variables(block)

    def of_variable(v: Variable) -> Range:
        if v in own:
            first, loop = own[v]
            if _rises(loop) and loop.limit is not None:
                low, high = ranges(first.value)
                return low, max(high, ranges(loop.limit)[1])
        return others(v)

    ranges = Ranges(of_variable)
    return of_variable
