"""docs/api.md is what docs/print_api.py prints from today's docstrings."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("griffe2md")
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def print_api():
    spec = importlib.util.spec_from_file_location("print_api", DOCS / "print_api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow  # two seconds to read all docstrings
def test_the_page_is_current(print_api):
    assert (DOCS / "api.md").read_text() == print_api.text(), "run `make api`"


def test_the_page_has_every_public_name(print_api):
    import c2cu

    listed = {name for names in print_api.SECTIONS.values() for name in names}
    assert {f"c2cu.{name}" for name in c2cu.__all__ if name != "__version__"} <= listed
