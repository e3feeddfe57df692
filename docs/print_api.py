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
        "c2cu.stream": "api.stream",
        "c2cu.Stream": "streaming.streams.Stream",
    },
    "Analysing and translating": {
        "c2cu.check": "api.check",
        "c2cu.Report": "verdict.Report",
        "c2cu.translate": "api.translate",
    },
    "Shortest paths": {
        "c2cu.paths.path": "paths.path",
        "c2cu.paths.by_predecessor": "paths.by_predecessor",
        "c2cu.paths.by_middle": "paths.by_middle",
    },
    "Dask": {"c2cu.dask.map_bulk": "dask.map_bulk"},
    "Errors and warnings": {
        "c2cu.Error": "base.diagnostics.Error",
        "c2cu.ParseError": "base.diagnostics.ParseError",
        "c2cu.UnsupportedError": "base.diagnostics.UnsupportedError",
        "c2cu.NotObliviousError": "base.diagnostics.NotObliviousError",
        "c2cu.CompileError": "base.diagnostics.CompileError",
        "c2cu.InputError": "base.diagnostics.InputError",
        "c2cu.NotObliviousWarning": "verdict.NotObliviousWarning",
        "c2cu.StreamWarning": "streaming.streams.StreamWarning",
    },
}
OPTIONS = {
    "heading_level": 3,
    "line_length": 110,
    "members_order": "source",
    "show_if_no_docstring": False,
    "show_root_members_full_path": False,
    "show_signature_annotations": True,
    "summary": False,
    "filters": ["!^_(?!_call__)"],
}
PREAMBLE = """# The library

Every public name: signature, shapes, dtypes, units, errors. Printed from the docstrings by `python docs/print_api.py`.
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
            shown = render_object_docs(package[defined], OPTIONS).strip()
            parts.append(shown.replace(f"c2cu.{defined}", public) + "\n")
    return _without_links("\n".join(parts))


def _without_links(page: str) -> str:
    """Types as plain code: what they would link to stands on no page."""
    page = re.sub(r"\[([^\[\]]+)\]\(#[^)]*\)", r"\1", page)
    return re.sub(r"(?<!`)``(?!`)", "`", page)


if __name__ == "__main__":
    sys.stdout.write(text())
