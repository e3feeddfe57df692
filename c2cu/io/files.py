"""Arrays in files: .npy, .npz and raw .bin. Files that are written appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base import catalogue
from ..base.diagnostics import InputError
from ..base.reading import way_to
from ..schedule.slots import Slot, shape_of

if TYPE_CHECKING:
    import numpy  # imported where it is used: a translation needs none

SHORT = ("EOF: ", "mmap length is greater than file size")  # what NumPy says of files that are cut short
ENDINGS = (".npy", ".npz", ".bin", ".zarr")


def load(path: str, slot: Slot | None, layout: str = "row") -> Any:
    """The array in a .npy (memory-mapped), .npz or .bin file. ``slot`` gives dtype and shape to raw files, whose p axis
    is first or, in column layout, last.

    Raises InputError for a file that is missing, unreadable, cut short or of the wrong size.
    """
    import numpy

    suffix = ending(path)
    if suffix == ".bin":
        return guarded(path, lambda: _raw(path, slot, layout))
    if suffix == ".npy":
        return guarded(path, lambda: numpy.load(path, mmap_mode="r", allow_pickle=False))
    archive = guarded(path, lambda: numpy.load(path, allow_pickle=False))
    names = list(archive.files)
    if slot is not None and slot.name in names:
        return guarded(path, lambda: archive[slot.name])
    if len(names) == 1:
        return guarded(path, lambda: archive[names[0]])
    name = slot.name if slot is not None else "NAME"
    raise catalogue.ARRAY_NOT_IN_FILE.error(path=path, names=names or "nothing", name=name)


def is_archive(path: str | Path) -> bool:
    """Whether it is an .npz file, which may hold several arrays."""
    return Path(path).suffix == ".npz"


def names_in(path: str) -> list[str]:
    """What the arrays in an .npz file are called. Raises InputError as `load` does."""
    import numpy

    return guarded(path, lambda: list(numpy.load(path, allow_pickle=False).files))


def guarded(path: str, read: Any) -> Any:
    """What ``read`` returns. Raises InputError, which names the file, for whatever it raises."""
    try:
        return read()
    except InputError:
        raise
    except OSError as e:
        how = way_to(Path(path), e, Path(path).suffix)
        raise catalogue.CANNOT_READ.error(path=path, reason=e.strerror or e, how=how) from None
    except (ValueError, EOFError, KeyError) as e:
        if "pickle" in str(e):  # NumPy's advice would be to run code from the file
            e = ValueError("it holds no array of numbers")
        short = isinstance(e, EOFError) or any(text in str(e) for text in SHORT)
        hint = "was it cut short while it was written?" if short else "write it with numpy.save"
        raise catalogue.NOT_AN_ARRAY_FILE.error(path=path, reason=e, how=hint) from None
    except Exception as e:  # zipfile and numpy raise many things on damaged files
        raise catalogue.DAMAGED_FILE.error(path=path, reason=e) from None


def _raw(path: str, slot: Slot | None, layout: str) -> numpy.ndarray:
    import numpy

    if slot is None or slot.nbytes == 0 or -1 in slot.shape:
        raise catalogue.RAW_LENGTH.error(path=path)
    size = os.path.getsize(path)
    if slot.shared:
        if size != slot.nbytes:
            raise catalogue.RAW_SIZE.error(path=path, size=size, expected=slot.nbytes, name=slot.name)
        return numpy.fromfile(path, slot.dtype).reshape(slot.shape)
    if size % slot.nbytes:
        raise catalogue.RAW_INPUTS.error(path=path, size=size, one=slot.nbytes)
    p = size // slot.nbytes
    shape = shape_of(slot, p, layout)
    return numpy.memmap(path, slot.dtype, "r", shape=shape) if size else numpy.empty(shape, slot.dtype)


def ending(path: str) -> str:
    """Which kind of file a name says. Raises InputError for none of ours."""
    suffix = Path(path).suffix
    if suffix not in ENDINGS:
        what = f"'{suffix}'" if suffix else "without an ending"
        raise catalogue.BAD_ENDING.error(path=path, ending=what)
    return suffix


def fingerprint(file: str | int) -> dict[str, int]:
    """What tells whether a file, or an open one, is still the same: its size and when it was last written to. Of a
    directory: both for all that is in it."""
    stats = [os.stat(file)]
    if isinstance(file, str) and os.path.isdir(file):
        stats += [f.stat() for f in Path(file).rglob("*")]
    return {"size": sum(s.st_size for s in stats), "mtime": max(s.st_mtime_ns for s in stats)}


def bytes_of(array: numpy.ndarray) -> memoryview:
    """An array's bytes in C order; of a C-contiguous one, itself to write to."""
    import numpy

    flat: Any = numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8) if array.nbytes else bytearray()
    return memoryview(flat)


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """What the system refuses is an InputError that names the file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as e:
        raise _unwritable(path, e) from None


def _unwritable(path: str, e: OSError) -> InputError:
    parent = Path(path).parent
    how = "" if parent.exists() else f"there is no directory '{parent}'"
    if not path or Path(path).is_dir():
        how = "give the name of a file"
    return catalogue.CANNOT_WRITE.error(path=path, reason=e.strerror or e, how=how)


Data = bytes | Any | Mapping[str, Any]  # text, an array, or the arrays of an .npz file by name


def write(path: str, data: Data) -> None:
    """Write text, an array, or arrays by name to ``path``: first beside it, then moved into place. ``-`` is stdout.

    Raises InputError; an old file under that name is then still whole.
    """
    target = Path(path)
    if path == "-" and sys.stdout is None:
        raise catalogue.STDOUT_CLOSED.error()
    try:
        if path == "-":
            _put(sys.stdout.buffer, data, ".npy")
            sys.stdout.buffer.flush()
        elif is_special(target):
            with open(target, "wb") as f:  # a device or pipe: nothing to keep whole
                _put(f, data, target.suffix)
        else:
            write_together({path: data})
    except OSError as e:
        raise _unwritable(path, e) from None


def write_together(texts: Mapping[str, Data]) -> None:
    """Write files that belong together, by their paths: all are written beside their places before the first one is
    moved there. Raises InputError; old files under those names are then still whole."""
    made: list[tuple[Path, Path]] = []
    try:
        whole = {path: data for path, data in texts.items() if not is_special(Path(path))}
        for path, data in whole.items():
            with writing(path):
                target = resolved(path)
                if not path or target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
                made.append((Path(name), target))
                with os.fdopen(handle, "wb") as f:
                    _put(f, data, target.suffix)
                    f.flush()
                    os.fsync(f.fileno())
        for path, data in texts.items():
            if path not in whole:  # a device or pipe: it stays what it is
                write(path, data)
        for path, (written, target) in zip(whole, made):
            with writing(path):
                settle(written, target)
    finally:
        for written, _ in made:
            written.unlink(missing_ok=True)


def resolved(path: str) -> Path:
    """The file that a name leads to, through links; devices and pipes keep their names."""
    named = Path(path)
    return named if path == "-" or is_special(named) else Path(os.path.realpath(path))


def write_archives(arrays: Mapping[str, Any], targets: Mapping[str, str]) -> None:
    """Write arrays by name, those that ``targets`` has the same .npz file for together. Raises InputError."""
    archives: dict[str, dict[str, Any]] = {}
    for name, array in arrays.items():
        archives.setdefault(targets[name], {})[name] = array
    for path, held in archives.items():
        write(path, held)


def is_special(target: Path) -> bool:
    """Whether there is a device or a pipe of that name."""
    return target.exists() and not target.is_file() and not target.is_dir()


def settle(written: Path, target: Path) -> None:
    """Move a file into place, with the mode of the one that was there or of a new one."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(written, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
    os.replace(written, target)


def _put(f: Any, data: Data, suffix: str) -> None:
    if isinstance(data, bytes):
        f.write(data)
        return
    import numpy

    if isinstance(data, Mapping):
        with zipfile.ZipFile(f, "w") as archive:  # numpy.savez takes no array named 'file'
            for name, array in data.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    numpy.lib.format.write_array(member, numpy.asarray(array), allow_pickle=False)
    elif suffix == ".bin":
        f.write(numpy.ascontiguousarray(data).tobytes())
    else:
        numpy.lib.format.write_array(f, numpy.asarray(data), allow_pickle=False)


def remove(path: Path) -> None:
    """Remove a file or a directory, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
