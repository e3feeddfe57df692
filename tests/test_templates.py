"""What Jinja compiles templates to is kept beside them, like Python's own bytecode, and never needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from c2cu.base import templates

SCRIPT = """
import sys
from pathlib import Path
from c2cu.base import templates
templates._folder = lambda: Path(sys.argv[1])
import jinja2
compiled = []
compile_ = jinja2.Environment.compile
jinja2.Environment.compile = lambda self, *args, **named: compiled.append(1) or compile_(self, *args, **named)
print(templates.render("text.c.j2", n=3), len(compiled))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "text.c.j2").write_text("int x = {{ n }};")
    return tmp_path


def rendered(folder: Path, *flags: str) -> list[str]:
    """The text that a process renders, and how many templates it compiled."""
    command = [sys.executable, *flags, "-c", SCRIPT, str(folder)]
    environment = {"PYTHONPATH": str(Path(templates.__file__).parent.parent.parent)}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.rsplit(None, 1)


def test_a_later_process_does_not_compile_a_template_again_until_it_changes(folder):
    assert rendered(folder) == ["int x = 3;", "1"] and rendered(folder) == ["int x = 3;", "0"]
    (folder / "text.c.j2").write_text("int y = {{ n }};")
    assert rendered(folder) == ["int y = 3;", "1"]


@pytest.mark.parametrize("content", [b"", b"garbage", None])
def test_a_file_that_cannot_be_read_is_made_again(folder, content):
    rendered(folder)
    (kept,) = (folder / "__pycache__").iterdir()
    kept.write_bytes(kept.read_bytes()[:-20] if content is None else content)
    assert rendered(folder) == ["int x = 3;", "1"] and rendered(folder) == ["int x = 3;", "0"]


def test_nothing_is_written_where_python_writes_none_or_may_not(folder):
    assert rendered(folder, "-B") == ["int x = 3;", "1"] and not (folder / "__pycache__").exists()
    (folder / "__pycache__").write_text("no folder")
    assert rendered(folder) == ["int x = 3;", "1"] and (folder / "__pycache__").read_text() == "no folder"
