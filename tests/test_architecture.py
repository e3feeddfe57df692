"""Imports go one way, from the user's end to the foundations, and each third party has one home."""

import ast
import functools
import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import c2cu

ROOT = Path(c2cu.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
#: Packages and files at the top of c2cu/, in import order: each may import from itself and from those before it.
ORDER = """
    base ir frontend lower analysis transform codegen trace gep schedule runtime standalone
    verdict pipeline tune backends streaming program paths api dask io report cli __main__
""".split()
HOMES = {
    "pycparser": r"frontend/.*|lower/.*|analysis/effects|codegen/(addresses|alignment|c_printer)"
    r"|schedule/(column|native|private)/.*|standalone/.*",
    "jinja2": "base/templates",
    "cupy": "runtime/cuda",
    "click": "cli",
    "rich": "cli|report/machine|io/progress",
    "zarr": "io/zarr_files",
    "platformdirs": "base/cache",
    "matplotlib": "report/plot",
    "dask": "dask",
    "distributed": "dask",
}


@pytest.fixture(autouse=True, scope="module")
def let_go():
    """The trees of all files, at the module's end."""
    yield
    tree.cache_clear()


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix().removesuffix(".py").removesuffix("/__init__")


@functools.cache
def tree(file: Path) -> ast.AST:
    return ast.parse(file.read_text())


@functools.cache
def imports(file: Path) -> list[tuple[str | None, bool]]:
    """(module, is ours) of every import in a file, those in functions too."""
    return list(_imports(file))


def _imports(file: Path):
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from ((a.name, False) for a in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module, False
        elif isinstance(node, ast.ImportFrom):
            here = list(file.relative_to(ROOT).parent.parts)
            base = here[: len(here) - node.level + 1] + (node.module.split(".") if node.module else [])
            target = "/".join(base)
            if (ROOT / f"{target}.py").exists():
                yield target, True
            else:
                for a in node.names:
                    inner = f"{target}/{a.name}" if target else a.name
                    yield (inner if (ROOT / f"{inner}.py").exists() or (ROOT / inner).is_dir() else target), True


def package(module: str) -> str:
    return module.split("/")[0]


def test_the_order_lists_every_package():
    there = {package(name(f)) for f in FILES} - {"__init__"}
    assert there == set(ORDER)


def test_a_package_imports_only_from_those_before_it():
    for file in FILES:
        if file == ROOT / "__init__.py":
            continue
        mine = ORDER.index(package(name(file)))
        later = [m for m, ours in imports(file) if ours and m and ORDER.index(package(m)) > mine]
        assert not later, f"{name(file)} imports what comes after it"


def test_no_class_name_stands_twice():
    classes = Counter(n.name for f in FILES for n in ast.walk(tree(f)) if isinstance(n, ast.ClassDef))
    assert [name for name, count in classes.items() if count > 1] == []


def test_no_cycles():
    """Of what is imported in functions too."""
    graph = {name(f): {m for m, ours in imports(f) if ours and m and m != name(f)} for f in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as e:
        pytest.fail(" -> ".join(e.args[1]))


def test_third_parties_have_one_home():
    for file in FILES:
        for module, ours in imports(file):
            home = HOMES.get(module.split(".")[0]) if not ours else None
            assert home is None or re.fullmatch(home, name(file)), f"{module} is imported in {name(file)}"
