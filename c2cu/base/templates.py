"""Jinja: skeletons in, text out. The only file that knows about templates."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2
    from jinja2.bccache import Bucket


OPTIONS: dict[str, Any] = {
    "trim_blocks": True,
    "lstrip_blocks": True,
    "keep_trailing_newline": True,
    "autoescape": False,
}


def _folder() -> Path:
    """``templates`` stands beside the package in a checkout and inside it when installed."""
    here = Path(__file__).parent.parent
    return here / "templates" if (here / "templates").is_dir() else here.parent / "templates"


@functools.cache
def _environment(aliases: tuple[tuple[str, str], ...] = ()) -> jinja2.Environment:
    import jinja2

    class Bytecode(jinja2.BytecodeCache):
        """What templates are compiled to, beside them where that may be written, as Python has it for modules."""

        def get_cache_key(self, name: str, filename: str | None = None) -> str:
            return filename or name

        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(f"{jinja2.__version__} {OPTIONS} {source}")

        def load_bytecode(self, bucket: Bucket) -> None:
            try:
                with open(cache_from_source(bucket.key), "rb") as f:
                    bucket.load_bytecode(f)
            except Exception:  # no such file, or what Python or Jinja cannot read
                bucket.reset()

        def dump_bytecode(self, bucket: Bucket) -> None:
            if not sys.dont_write_bytecode:
                with contextlib.suppress(OSError):
                    _replace(Path(cache_from_source(bucket.key)), bucket.bytecode_to_string(), like=bucket.key)

    return jinja2.Environment(
        bytecode_cache=None if aliases else Bytecode(),
        loader=jinja2.FunctionLoader(lambda name: _renamed(raw(name), dict(aliases)))
        if aliases
        else jinja2.FileSystemLoader(_folder()),
        undefined=jinja2.StrictUndefined,
        **OPTIONS,
    )


def _replace(path: Path, content: bytes, like: str) -> None:
    """Write a file whole, for those to read who may read ``like``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    try:
        with open(handle, "wb") as f:
            f.write(content)
        os.chmod(temporary, os.stat(like).st_mode & 0o666)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def render(template: str, aliases: Mapping[str, str] | None = None, /, **values: object) -> str:
    """The text of ``templates/<template>`` with ``values`` filled in. ``aliases``: other names for some that the code
    of the templates says."""
    environment = _environment(tuple(sorted((aliases or {}).items())))
    return environment.get_template(template).render(**values)


def _renamed(template: str, aliases: Mapping[str, str]) -> str:
    """A template's text with other names in its code."""
    names = re.compile(rf"{_TEMPLATES_OWN.pattern}|{_NO_CODE.pattern}|\b({'|'.join(aliases)})\b", re.S | re.M)
    return names.sub(lambda m: aliases[m[1]] if m[1] else m[0], template)


@functools.cache
def raw(template: str) -> str:
    """A template's own text."""
    return (_folder() / template).read_text()


@functools.cache
def reserved(*templates: str) -> frozenset[str]:
    """Names with two underscores in front that templates spell out; those of one letter are local to a function."""
    return frozenset(n for t in templates for n in re.findall(r"\b__\w{2,}", (_folder() / t).read_text()))


_TEMPLATES_OWN = re.compile(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", re.S)
_NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^#include.*?$', re.S | re.M)


@functools.cache
def words(*templates: str) -> frozenset[str]:
    """Names in the code that templates spell out, keywords among them; not those with underscores in front."""
    texts = (_NO_CODE.sub(" ", _TEMPLATES_OWN.sub(" ", (_folder() / t).read_text())) for t in templates)
    return frozenset(n for t in texts for n in re.findall(r"\b[A-Za-z]\w*", t))


@functools.cache
def fingerprint() -> str:
    """Changes when any template does; part of cache keys."""
    import hashlib

    digest = hashlib.sha256()
    for path in sorted(_folder().rglob("*.j2")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
