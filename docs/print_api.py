"""Print docs/api.md from the docstrings of the public names.

python docs/print_api.py > docs/api.md
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import griffe
from griffe2md import render_object_docs

ROOT = Path(__file__).parent.parent
#: Sections; in each, the public names, and where they are defined.
SECTIONS = {
    "Running programs": {
        "c2cu.bulk": "api.bulk",
        "c2cu.compile": "api.compile",
        "c2cu.Program": "program.Program",
        "c2cu.State": "program.state.State",
        "Plan": "schedule.choose.Plan",
        "Slot": "schedule.slots.Slot",
        "c2cu.stream": "api.stream",
        "c2cu.Stream": "streaming.streams.Stream",
        "Result": "streaming.streams.Result",
        "Results": "streaming.streams.Results",
        "Point": "streaming.sizing.Point",
        "Span": "runtime.pipe.Span",
    },
    "Analysing and translating": {
        "c2cu.check": "api.check",
        "c2cu.Report": "verdict.Report",
        "Finding": "analysis.finding.Finding",
        "c2cu.translate": "api.translate",
        "c2cu.library": "api.library",
        "Library": "standalone.library.Library",
    },
    "Shortest paths": {
        "c2cu.paths.path": "paths.path",
        "c2cu.paths.by_predecessor": "paths.by_predecessor",
        "c2cu.paths.by_middle": "paths.by_middle",
        "c2cu.paths.lengths": "paths.lengths",
        "c2cu.paths.negative_cycles": "paths.negative_cycles",
    },
    "Dask": {"c2cu.dask.map_bulk": "dask.map_bulk"},
    "Errors and warnings": {
        "c2cu.Error": "base.diagnostics.Error",
        "c2cu.ParseError": "base.diagnostics.ParseError",
        "c2cu.UnsupportedError": "base.diagnostics.UnsupportedError",
        "c2cu.NotObliviousError": "base.diagnostics.NotObliviousError",
        "c2cu.CompileError": "base.diagnostics.CompileError",
        "c2cu.ExitError": "base.diagnostics.ExitError",
        "c2cu.InputError": "base.diagnostics.InputError",
        "c2cu.NotObliviousWarning": "verdict.NotObliviousWarning",
        "c2cu.MismatchError": "base.diagnostics.MismatchError",
        "c2cu.MismatchWarning": "base.notices.MismatchWarning",
        "c2cu.CacheWarning": "base.notices.CacheWarning",
        "c2cu.StreamWarning": "streaming.streams.StreamWarning",
    },
}
#: Members that other parts of c2cu use, and users do not.
INTERNAL = ("bound", "built_for", "diagnostic", "fingerprints", "loaded", "named", "outputs", "sources", "takes_bands")
INTERNAL += ("extents_and_built", "latest", "prove", "understood", "why_no_input", "with_notes")
OPTIONS = {
    "heading_level": 3,
    "line_length": 110,
    "members_order": "source",
    "merge_init_into_class": False,
    "show_if_no_docstring": False,
    "show_root_members_full_path": False,
    "show_signature_annotations": True,
    "summary": False,
    "filters": ["!^_(?!_call__)", f"!^({'|'.join(INTERNAL)})$"],
}
PREAMBLE = """# The library

Every public name: signature, shapes, dtypes, units, errors. `import c2cu` gives the names that begin with `c2cu`; the
others are the types of what they return. `make api` prints this page from the docstrings.
"""


def text() -> str:
    """docs/api.md."""
    package = griffe.load(
        "c2cu", search_paths=[ROOT], docstring_parser="google", docstring_options={"returns_multiple_items": False}
    )
    parts = [PREAMBLE]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        for public, defined in names.items():
            rendered = render_object_docs(package[defined], OPTIONS).strip().replace(f"c2cu.{defined}", public)
            parts.append((_without_constructor(rendered) if package[defined].is_class else rendered) + "\n")
    return _without_links("\n".join(parts))


def _without_constructor(section: str) -> str:
    """The section of a class: users get its objects from functions, and make none."""
    return re.sub(r"\A(### [^\n]*\n\n)```python\n[^\n]*\n```\n\n", r"\1", section)


def _without_links(page: str) -> str:
    """Types as plain code, as no page has the anchors that they would link to."""
    page = re.sub(r"\[([^\[\]]+)\]\(#[^)]*\)", r"\1", page)
    return re.sub(r"(?<!`)``(?!`)", "`", page)


if __name__ == "__main__":
    sys.stdout.write(text())
