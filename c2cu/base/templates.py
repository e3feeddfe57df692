"""Jinja: skeletons in, text out. The only file that knows about templates."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


def _folder() -> Path:
    """``templates`` stands beside the package in a checkout and inside it when installed."""
    here = Path(__file__).parent.parent
    return here / "templates" if (here / "templates").is_dir() else here.parent / "templates"


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_folder()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render(template: str, **values: object) -> str:
    """The text of ``templates/<template>`` with ``values`` filled in."""
    return _environment().get_template(template).render(**values)


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
