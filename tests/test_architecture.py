"""Imports go one way: from the user's end to the foundations, and each third party has one home."""

import ast
import re
from pathlib import Path

import pytest

import c2cu

ROOT = Path(c2cu.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
HOMES = {
    "pycparser": r"parse|plan|standalone|symbols|initial|typed|program|refuse|effects|spell|hostrules|hostsplit|stages|lower/.*|schedule/(column|thread|private)",
    "jinja2": "emit",
    "cupy": "runtime/cuda",
    "click": "cli",
    "rich": "cli|machine|progress",
    "zarr": "zarr_files",
    "platformdirs": "runtime/cache",
    "matplotlib": "plot",
    "dask": "dask",
    "distributed": "dask",
}
LAYERS = [  # each may import from its own line and those above it
    "version|ctype|literals|diagnostics|artifact|libm|paths",
    "ir|walk|fold|aligned|simplify|separate|verify|webs",
    "toolchain|attributes|cpp|cpp/.*|preprocess|conform|parse|symbols|initial|typed|program|refuse|objects|lower/.*",
    "facts|uniform|effects|unroll|scalarize|if_convert|minmax|liveness|front|options|idioms|umm|roofline|estimate|bound"
    "|gep|gep/.*",
    "plan|spell|emit|hostrules|hostsplit|files|zarr_files|sources|sinks|resume|stopping|progress|quantities|stamps",
    "schedule/.*",
    "runtime/.*",
    "streaming/.*",
    "trace|trace/.*",
    "tables",
    "pipeline|report",
    "backends|stages|standalone|compiled|library|cost|explain|plot|machine|runs|file_runs|tune|streams",
    "dask",
    "__init__|cli|__main__",
]


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix().removesuffix(".py").removesuffix("/__init__")


def imports(file: Path):
    """(module, is ours) of every import that is executed."""
    for node in ast.walk(ast.parse(file.read_text())):
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


def layer(module: str) -> int:
    module = module or "__init__"
    found = [k for k, names in enumerate(LAYERS) if re.fullmatch(names, module)]
    found = found or [k for k, names in enumerate(LAYERS) if re.fullmatch(names, module + "/x")]
    assert len(found) == 1, f"'{module}' stands in no layer, or in two: see LAYERS"
    return found[0]


@pytest.mark.parametrize("file", FILES, ids=name)
def test_layers(file):
    if file.name == "__init__.py" and file.parent == ROOT:
        return
    mine = layer(name(file))
    for module, ours in imports(file):
        if ours and module:
            assert layer(module) <= mine, f"{name(file)} imports {module}, which stands above it"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_third_parties_have_one_home(file):
    for module, ours in imports(file):
        home = HOMES.get(module.split(".")[0]) if not ours else None
        assert home is None or re.fullmatch(home, name(file)), f"{module} is imported in {name(file)}"


@pytest.mark.parametrize("file", FILES, ids=name)
def test_files_stay_short(file):
    assert len(file.read_text().splitlines()) <= 480, "a file that long asks to be two"
