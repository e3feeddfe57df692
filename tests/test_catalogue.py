"""The catalogue of errors: one code, one meaning; every code raised by its example; docs/errors.md as printed."""

import ast
import re
import string
from pathlib import Path

import pytest

import c2cu
from c2cu.base import catalogue
from c2cu.base.catalogue import CATALOGUE, Message
from tests.error_examples import EXAMPLES, document, outcome
from tests.sample import sampled

PACKAGE = Path(c2cu.__file__).parent
DOCUMENT = PACKAGE.parent / "docs" / "errors.md"
NAMES = {name: m for name, m in vars(catalogue).items() if isinstance(m, Message)}
FILES = [f for f in sorted(PACKAGE.rglob("*.py")) if f.name != "catalogue.py"]


@pytest.fixture(scope="module")
def trees():
    return {f: ast.parse(f.read_text()) for f in FILES}


def messages(trees):
    """(file, attribute node) of every ``catalogue.NAME`` in the source."""
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "catalogue":
                yield file, node


@pytest.mark.parametrize("code", sampled(sorted(EXAMPLES), 6))
def test_its_example_raises_each_code(code):
    done = outcome(EXAMPLES[code])
    assert f"[{code}]" in done.printed
    if done.error is not None:
        assert (done.error.code, type(done.error)) == (code, CATALOGUE[code].kind)


def test_one_code_one_message():
    assert len(NAMES) == len(CATALOGUE)
    assert set(EXAMPLES) == set(CATALOGUE)


def test_every_code_of_the_source_is_in_the_catalogue_and_the_other_way_round(trees):
    for file, tree in trees.items():
        literals = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        assert not [v for v in literals if isinstance(v, str) and re.fullmatch(r"C2CU\d+", v)], file
    assert {node.attr for _, node in messages(trees) if node.attr.isupper()} - {"CATALOGUE"} == set(NAMES)


def test_what_is_raised_fills_in_its_message(trees):
    """Values and fields agree: no field is left open, and nothing is passed that is not shown."""
    calls = [
        (file, n)
        for file, tree in trees.items()
        for n in ast.walk(tree)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("error", "diagnostic", "says")
    ]
    assert calls
    for file, call in calls:
        message = call.func.value
        if isinstance(message, ast.Attribute) and message.attr in NAMES:
            m = NAMES[message.attr]
            text = m.text + (m.hint if call.func.attr != "says" else "")
            fields = {name for _, name, _, _ in string.Formatter().parse(text) if name}
            assert {k.arg for k in call.keywords} - {"notes", "loc", "severity"} == fields, f"{file}:{call.lineno}"


def test_each_says_how_to_go_on():
    for code, m in CATALOGUE.items():
        assert m.meaning.endswith("."), code
        assert m.fix.endswith((".", "?")) if m.fix else m.hint and "{" not in m.hint, code


@pytest.mark.slow  # every code's example once more
def test_the_page_of_errors_is_current():
    assert DOCUMENT.read_text() == document(), "run 'make errors'"
