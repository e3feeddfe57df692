"""The files of this package, as they are: what was made before one of them was changed is told apart."""

from __future__ import annotations

import functools
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from .cache import key
from .version import __version__


@functools.cache
def state() -> str:
    """It is another one wherever a file of the package or a template is another one, or the first file of a library
    that texts are made with."""
    package = Path(__file__).parent.parent
    folders = (package, package.parent / "templates")  # where it is not installed
    files = sorted(f for folder in folders for f in folder.rglob("*.*") if f.suffix in (".py", ".j2", ".h", ".c"))
    specs = (find_spec(name) for name in ("pycparser", "jinja2", "numpy"))
    libraries = (Path(spec.origin) for spec in specs if spec is not None and spec.origin is not None)
    states = ((os.fspath(f), f.stat()) for f in (*files, *libraries))
    return key(__version__, [(name, s.st_size, s.st_mtime_ns) for name, s in states], sys.version)
