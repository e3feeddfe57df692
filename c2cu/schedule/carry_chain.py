"""Long products: a chain of ``s = x * y + t + carry; t' = low(s); carry = high(s)`` as one function of the whole row.

Written as C does it, each link is a wide multiply, two 64-bit additions and moves between register pairs. Here the
products of even columns are accumulated on the addends with the carry flag, those of odd columns stand in pairs of
their own, and one more row of additions brings them together (compare "operand scanning" in the literature on big
numbers). The sum is the same integer; every link fits into 64 bits, so nothing is lost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..ctype import UINT, Scalar
from ..ir import Assign, Binary, Block, Cast, Const, Expr, Var, Variable

SHORTEST = 4  # links that are worth it


@dataclass(frozen=True)
class Link:
    """``low`` gets the low word of x * y + addend (+ the carry before); None: nobody wants it."""

    x: Expr
    y: Expr
    addend: Expr
    low: Variable | None


@dataclass(frozen=True)
class Chain:
    """``carry``: what goes out of the last link."""

    links: tuple[Link, ...]
    carry: Variable
    length: int  # statements that it replaces

    @property
    def lows(self) -> tuple[Variable, ...]:
        return tuple(k.low for k in self.links if k.low is not None)


def chain(block: Block, k: int, uses: Counter[Variable], single: frozenset[Variable]) -> Chain | None:
    """The longest chain that begins with statement ``k``. ``single``: variables that are assigned once."""
    links: list[Link] = []
    carry: Variable | None = None
    at = k
    while (found := _link(block, at, carry, uses, single)) is not None:
        link, carry, at = found
        links.append(link)
    return Chain(tuple(links), carry, at - k) if carry is not None and len(links) >= SHORTEST else None


def _link(
    block: Block, k: int, carry: Variable | None, uses: Counter[Variable], single: frozenset[Variable]
) -> tuple[Link, Variable, int] | None:
    """(link, its carry out, the statement after it). ``carry``: that it must take in, None for the first."""
    if carry is not None and uses[carry] != 1:
        return None
    low: Variable | None = None
    match block[k : k + 3]:
        case [Assign(var=s, value=total), Assign(var=l, value=Cast(operand=Var(var=a), type=t)), Assign() as out] if (
            a == s and t == UINT and _is_high(out.value, Var(s)) and uses[s] == 2 and {s, l, out.var} <= single
        ):
            low, size = l, 3
        case [Assign(value=Binary(op=">>", left=total)) as out, *_] if _is_high(out.value, total) and out.var in single:
            size = 1
        case _:
            return None
    terms = _terms(total)
    if carry is not None and Var(carry) not in terms:
        return None
    rest = [x for x in terms if carry is None or x != Var(carry)]
    products = [x for x in rest if isinstance(x, Binary) and x.op == "*"]
    others = [_word(x) for x in rest if x not in products]
    if len(products) != 1 or len(others) > 1 or len(terms) != len(rest) + (carry is not None):
        return None
    x, y, addend = _word(products[0].left), _word(products[0].right), others[0] if others else Const(0, UINT)
    if x is None or y is None or addend is None:
        return None
    return Link(x, y, addend, low), out.var, k + size


def _wide(t: Scalar) -> bool:
    return t.kind == "u" and t.size == 8


def _is_high(h: Expr, of: Expr) -> bool:
    match h:
        case Binary(op=">>", left=x, right=Const(value=32), type=t):
            return x == of and _wide(t)
    return False


def _terms(e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op == "+" and _wide(e.type):
        return [*_terms(e.left), *_terms(e.right)]
    return [e]


def _word(e: Expr) -> Expr | None:
    """The 32-bit value that ``e`` widens."""
    match e:
        case Cast(operand=x) if x.type == UINT and _wide(e.type):
            return x
        case Const(value=v, type=t) if _wide(t) and 0 <= v < 1 << 32:
            return Const(int(v), UINT, e.loc)
    return None


def function(n: int) -> str:
    """CUDA text of a row of ``n`` links: r[k] = low(x[k] * y[k] + t[k] + carry); the carry out is what it returns."""
    names = [f"{kind}{k}" for kind in "xyt" for k in range(n)]
    takes = ", ".join([*(f"unsigned int &r{k}" for k in range(n)), *(f"unsigned int {x}" for x in names)])
    operand = {x: f"%{n + 1 + k}" for k, x in enumerate(names)}
    lines = [f".reg .u32 r<{n + 1}>; .reg .u32 o<{n + 2}>; .reg .u64 w;"]
    for k in range(0, n, 2):
        x, y, t = (operand[f"{kind}{k}"] for kind in "xyt")
        lines.append(f"mad{'c' if k else ''}.lo.cc.u32 r{k}, {x}, {y}, {t};")
        last = k + 1 == n
        lines.append(f"madc.hi{'' if last else '.cc'}.u32 r{k + 1}, {x}, {y}, {0 if last else operand[f't{k + 1}']};")
    if n % 2 == 0:
        lines.append(f"addc.u32 r{n}, 0, 0;")
    for k in range(1, n, 2):
        lines.append(f"mul.wide.u32 w, {operand[f'x{k}']}, {operand[f'y{k}']}; mov.b64 {{o{k}, o{k + 1}}}, w;")
    for k in range(1, n + 1):
        o = f"o{k}" if k < n + 1 - n % 2 else "0"
        lines.append(f"add{'c' if k > 1 else ''}{'.cc' if k < n else ''}.u32 r{k}, r{k}, {o};")
    lines += [f"mov.u32 %{k}, r{k};" for k in range(n + 1)]
    text = "\n".join(f'        "{x}\\n"' for x in lines)
    outs = ", ".join([*(f'"=r"(r{k})' for k in range(n)), '"=r"(carry)'])
    ins = ", ".join(f'"r"({x})' for x in names)
    plain = "\n".join(
        f"    s = (unsigned long long)x{k} * y{k} + t{k} + carry;\n"
        f"    r{k} = (unsigned int)s, carry = (unsigned int)(s >> 32);"
        for k in range(n)
    )
    return f"""__device__ __forceinline__ unsigned int multiply_add_{n}({takes}) {{
    unsigned int carry = 0;
#ifdef __CUDA_ARCH__
    asm("{{\\n"
{text}
        "}}" : {outs} : {ins});
#else
    unsigned long long s;
{plain}
#endif
    return carry;
}}"""
