"""Arrays in files: .npy (memory-mapped), .npz, raw .bin, .zarr; outputs appear whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.diagnostics import InputError
from ..schedule.slots import Slot, shape_of
from . import zarr_files

if TYPE_CHECKING:
    import numpy  # imported where it is used: a translation needs none

SHORT = ("EOF: ", "mmap length is greater than file size")  # what numpy says of files that are cut short
ENDINGS = (".npy", ".npz", ".bin", ".zarr")


def load(path: str, slot: Slot | None, layout: str = "row") -> Any:
    """The array in a file; ``-`` is stdin, as .npy. ``slot`` gives dtype and shape to raw files, where the p axis is
    first or, in column layout, last.

    Raises InputError for a file that is missing, unreadable, cut short or of the wrong size.
    """
    import numpy

    if path == "-":
        import io

        return guarded(path, lambda: numpy.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False))
    suffix = ending(path)
    if suffix == ".bin":
        return guarded(path, lambda: _raw(path, slot, layout))
    if suffix == ".zarr":
        return zarr_files.ZarrSource(path, "row").whole()
    mode = "r" if suffix == ".npy" else None
    found = guarded(path, lambda: numpy.load(path, mmap_mode=mode, allow_pickle=False))
    if suffix == ".npz":
        names = list(found.files)
        wanted = slot.name if slot is not None and slot.name in names else names[0] if len(names) == 1 else None
        if wanted is None:
            raise InputError(
                "C2CU056",
                f"'{path}' holds {', '.join(names) or 'nothing'}",
                None,
                f"it should hold an array named {slot.name}" if slot is not None else "",
            )
        return guarded(path, lambda: found[wanted])
    return found


def guarded(path: str, read: Any) -> Any:
    """What ``read`` returns. Raises InputError, which names the file, for whatever it raises."""
    try:
        return read()
    except InputError:
        raise
    except OSError as e:
        raise InputError("C2CU056", f"cannot read '{path}': {e.strerror or e}") from None
    except (ValueError, EOFError, KeyError) as e:
        if "pickle" in str(e):  # its advice is to load what may be anything
            e = ValueError("it holds no array of numbers")
        short = isinstance(e, EOFError) or any(text in str(e) for text in SHORT)
        hint = "was it cut short while it was written?" if short else ""
        raise InputError("C2CU056", f"'{path}' is not a whole array file: {e}", None, hint) from None
    except Exception as e:  # zipfile and numpy raise many things on damaged files
        raise InputError("C2CU056", f"'{path}' is damaged: {e}") from None


def _raw(path: str, slot: Slot | None, layout: str) -> numpy.ndarray:
    import numpy

    if slot is None or slot.nbytes == 0 or -1 in slot.shape:
        raise InputError(
            "C2CU056",
            f"'{path}' is raw, and the length of its array is not known",
            None,
            "name it: --in NAME=FILE, with --shape NAME=n if the C does not say",
        )
    size = os.path.getsize(path)
    if slot.shared:
        if size != slot.nbytes:
            raise InputError("C2CU056", f"'{path}' has {size} bytes, wanted {slot.nbytes} for '{slot.name}'")
        return numpy.fromfile(path, slot.dtype).reshape(slot.shape)
    if size % slot.nbytes:
        raise InputError(
            "C2CU056", f"'{path}' has {size} bytes, which is no multiple of the {slot.nbytes} of one input"
        )
    p = size // slot.nbytes
    shape = shape_of(slot, p, layout)
    return numpy.memmap(path, slot.dtype, "r", shape=shape) if size else numpy.empty(shape, slot.dtype)


def check_target(path: str) -> None:
    """Raises InputError for a name to which an array cannot be written, or not as its ending says."""
    if path == "-":
        return
    try:
        there = os.path.lexists(path) and os.stat(path) is not None
    except FileNotFoundError:
        there = False  # a link to nothing, which is written through
    except OSError as e:
        raise _unwritable(path, e.errno) from None
    target = resolved(path)
    if there and _special(target):  # a device or pipe has no ending, and gets .npy
        if not os.access(target, os.W_OK):
            raise _unwritable(path, errno.EACCES)
        return
    if target.is_dir() and Path(path).suffix != ".zarr":
        raise _unwritable(path, errno.EISDIR)
    ending(path)
    if target.is_dir() and not zarr_files.replaceable(target):
        message = f"'{path}' is a directory that holds something else than a zarr array"
        raise InputError("C2CU057", message, None, "give another name: it would be replaced")
    if not target.parent.exists():
        raise _unwritable(path, errno.ENOENT, f"there is no directory '{Path(path).parent}'")
    if not target.parent.is_dir():
        raise _unwritable(path, errno.ENOTDIR)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise _unwritable(path, errno.EACCES, f"files are made in '{Path(path).parent}', which must be writable")


def _unwritable(path: str, number: int | None, hint: str = "") -> InputError:
    return InputError("C2CU057", f"cannot write '{path}': {os.strerror(number or errno.EIO)}", None, hint)


def check_apart(paths: Sequence[str]) -> None:
    """Raises InputError where two outputs would be one file, by whatever names, or one lies within the other."""
    places = [(path, resolved(path)) for path in paths if path != "-"]
    for k, (one, a) in enumerate(places):
        for other, b in places[:k]:
            if a == b:
                raise InputError("C2CU058", f"--out: '{other}' and '{one}' are one file", None, "give each its own")
            if a in b.parents or b in a.parents:
                message = f"--out: of '{other}' and '{one}' one lies within the other"
                raise InputError("C2CU058", message, None, "give each a place of its own")


def ending(path: str) -> str:
    """Which kind of file a name says. Raises InputError for none of ours."""
    suffix = Path(path).suffix
    if suffix not in ENDINGS:
        given = f"'{suffix}'" if suffix else "without an ending"
        message = f"'{path}': files are .npy, .npz, .bin or .zarr, not {given}"
        raise InputError("C2CU056", message, None, "give a file's name, or a number where one is enough")
    return suffix


def write(path: str, data: bytes | numpy.ndarray) -> None:
    """Write text or an array to ``path``: first beside it, then moved into place. ``-`` is stdout.

    Raises InputError; an old file under that name is then still whole.
    """
    target = Path(path)
    if path == "-" and sys.stdout is None:
        raise InputError("C2CU057", "cannot write to stdout: it is closed")
    try:
        if path == "-":
            _put(sys.stdout.buffer, data, ".npy")
            sys.stdout.buffer.flush()
        elif _special(target):
            with open(target, "wb") as f:  # a device or pipe: nothing to keep whole
                _put(f, data, target.suffix)
        else:
            _replace(resolved(path), data)
    except OSError as e:
        raise InputError("C2CU057", f"cannot write '{path}': {e.strerror or e}") from None


def resolved(path: str) -> Path:
    """The file that a name leads to, through links; devices and pipes keep their names."""
    given = Path(path)
    return given if path == "-" or _special(given) else Path(os.path.realpath(path))


def _special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


def _replace(target: Path, data: bytes | numpy.ndarray) -> None:
    folder = target.parent
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as f:
            _put(f, data, target.suffix)
            f.flush()
            os.fsync(f.fileno())
        settle(Path(name), target)
    finally:
        Path(name).unlink(missing_ok=True)


def settle(written: Path, target: Path) -> None:
    """Move a file into place, with the mode of the one that was there or of a new one."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(written, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
    os.replace(written, target)


def _put(f: Any, data: bytes | numpy.ndarray, suffix: str) -> None:
    if isinstance(data, bytes):
        f.write(data)
        return
    import numpy

    if suffix == ".bin":
        f.write(numpy.ascontiguousarray(data).tobytes())
    elif suffix == ".npz":
        numpy.savez(f, data)
    else:
        numpy.lib.format.write_array(f, numpy.asarray(data), allow_pickle=False)
