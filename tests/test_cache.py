"""The cache trusts nothing: damaged entries are made anew, others' folders and files are not used."""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import c2cu
from c2cu.base import cache as caching
from c2cu.base import machine_code, scratch, toolchain
from c2cu.base.cache import Cache, cache_folder, key
from c2cu.base.recent import Recent
from c2cu.base.toolchain import compiled, find_compiler
from c2cu.report import machine
from c2cu.runtime import cpu
from tests.sample import slow
from tests.workloads import EXAMPLES

TEXT = "float a[8];\nvoid k(int n) { for (int i = 0; i < 8; i++) if (i < n) a[i] += 0.5f; }\n"
NAME = key("an entry")


def run(text: str = TEXT) -> np.ndarray:
    """A call in a process that has nothing loaded."""
    a = np.arange(24, dtype=np.float32).reshape(3, 8)
    return c2cu.bulk(text, {"a": a}, shared={"n": 5}, backend="cpu", schedule="gang", tune=True) - a


EXPECTED = np.tile(np.float32([0.5] * 5 + [0] * 3), (3, 1))


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("C2CU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("c2cu.tune.ENOUGH", 1e-6)
    forget(monkeypatch)
    return tmp_path / "cache"


def forget(monkeypatch):
    """As in a new process."""
    monkeypatch.setattr(cpu, "_loaded", Recent(16))
    monkeypatch.setattr("c2cu.api._programs", Recent(16))


def test_an_entry_comes_back_as_it_was_stored(folder):
    cache = Cache()
    assert cache.get(NAME, ".so") is None
    for content in (b"", b"x", bytes(100_000)):
        cache.store(NAME, ".so", content)
        assert cache.get(NAME, ".so") == content
    assert cache.get(NAME, ".trace") is None and folder.stat().st_mode & 0o777 == 0o700


# Damage


def flip(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def swap(path, rng):
    other = rng.choice([p for p in path.parent.iterdir() if p.is_file() and p.stat().st_size < 1 << 30] or [path])
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)


def replaced(make):
    def damage(path, rng):
        path.unlink()
        make(path)

    return damage


DAMAGES = {
    "flip": flip,
    "truncate": lambda path, rng: os.truncate(path, rng.randrange(max(1, path.stat().st_size))),
    "empty": lambda path, rng: os.truncate(path, 0),
    "append": lambda path, rng: path.write_bytes(path.read_bytes() + rng.randbytes(rng.randrange(1, 99))),
    "random": lambda path, rng: path.write_bytes(rng.randbytes(rng.randrange(1, 9999))),
    "zero": lambda path, rng: path.write_bytes(bytes(path.stat().st_size)),
    "swap": swap,
    "gone": lambda path, rng: path.unlink(),
    "folder": replaced(lambda path: (path / "in it").mkdir(parents=True)),
    "link to nothing": replaced(lambda path: path.symlink_to("nowhere")),
    "link to itself": replaced(lambda path: path.symlink_to(path.name)),
    "link to a device": replaced(lambda path: path.symlink_to("/dev/zero")),
    "FIFO": replaced(os.mkfifo),
    "hole": replaced(lambda path: (path.touch(), os.truncate(path, 1 << 40))),
    "unreadable": lambda path, rng: path.chmod(0),
    "anyone's": lambda path, rng: path.chmod(0o666),
    "folder gone": lambda path, rng: shutil.rmtree(path.parent),
}


def _is_plain(path):
    """Whether it is a file that can be damaged once more: no link, no hole of a terabyte."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 30


def damage_and_run(folder, monkeypatch, damages):
    """Programs run right after each damage, to whatever entry."""
    rng = random.Random(1)
    for name in damages:
        entries = sorted(p for p in folder.iterdir() if _is_plain(p) and p.stat().st_size) if folder.is_dir() else []
        if entries:
            DAMAGES[name](rng.choice(entries), rng)
        forget(monkeypatch)
        assert np.array_equal(run(), EXPECTED), name
        if folder.is_dir():
            for path in folder.iterdir():
                if not _is_plain(path):
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def test_a_damaged_entry_is_made_anew(folder, monkeypatch):
    run()
    assert {p.suffix for p in folder.iterdir()} >= {".so", ".tracer", ".trace", ".tuned"}
    damage_and_run(folder, monkeypatch, DAMAGES)


@pytest.mark.slow
def test_a_thousand_damages(folder, monkeypatch):
    run()
    damage_and_run(folder, monkeypatch, random.Random(2).choices(list(DAMAGES), k=1000))


def test_a_library_that_is_in_use_is_not_the_file(folder, monkeypatch):
    program = c2cu.compile("int x;\nvoid k(void) { x = 3 * x; }\n", backend="cpu", schedule="gang")
    for path in folder.iterdir():
        os.truncate(path, 0)
    assert program(np.int32([1, 2])).tolist() == [3, 6]


def test_neighbours_are_not_taken_for_each_other(folder):
    cache, other = Cache(), key("another")
    cache.store(NAME, ".so", b"one")
    shutil.copy(folder / f"{NAME}.so", folder / f"{other}.so")
    assert cache.get(other, ".so") is None and cache.get(NAME, ".so") == b"one"


# Folders


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners")
def test_a_planted_library_is_run_from_no_shared_folder(folder, monkeypatch):
    sign = folder / "it ran"
    command, text = (*find_compiler(), "-shared", "-fPIC"), "#include <stdio.h>\n__attribute__((constructor)) static "
    plant = compiled(command, f'{text} void f(void) {{ fopen("{sign}", "w"); }}\n')
    with monkeypatch.context() as m, pytest.raises(AttributeError):
        m.setattr(toolchain, "compiled", lambda *_: plant)
        run()
    sign.unlink()
    forget(monkeypatch)
    with pytest.raises(AttributeError):  # it has no kernel, but it is what the name says
        run()
    sign.unlink()
    folder.chmod(0o777)
    caching._say.cache_clear()
    forget(monkeypatch)
    with pytest.warns(c2cu.CacheWarning, match="others may write to it") as told:
        assert np.array_equal(run(), EXPECTED)
        forget(monkeypatch)
        assert np.array_equal(run(), EXPECTED)
    assert not sign.exists() and [(w.category, w.filename) for w in told] == [(c2cu.CacheWarning, __file__)]
    capability = {r.what: r for r in machine.findings()}["cache"]
    assert "others may write to it" in capability.state and "chmod 700" in capability.mend


def owned_by(monkeypatch, *paths):
    """These seem to belong to another user."""
    numbers, fstat, stat = {os.stat(p).st_ino for p in paths}, os.fstat, os.stat

    def changed(real):
        def status(*a, **k):
            result = real(*a, **k)
            return os.stat_result([*result[:4], 4711, *result[5:]]) if result.st_ino in numbers else result

        return status

    monkeypatch.setattr(os, "fstat", changed(fstat))
    monkeypatch.setattr(os, "stat", changed(stat))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners")
def test_a_file_of_another_user_is_not_read(folder, monkeypatch):
    cache = Cache()
    cache.store(NAME, ".so", b"code")
    assert cache.get(NAME, ".so") == b"code"
    owned_by(monkeypatch, folder / f"{NAME}.so")
    assert cache.get(NAME, ".so") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners")
def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    owned_by(monkeypatch, folder)
    caching._say.cache_clear()
    with pytest.warns(c2cu.CacheWarning, match="it belongs to another user"):
        assert cache_folder() != folder


def test_the_users_own_folder_is_closed(monkeypatch, tmp_path):
    monkeypatch.delenv("C2CU_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "c2cu").mkdir()
    (tmp_path / "c2cu").chmod(0o775)
    assert cache_folder() == tmp_path / "c2cu" and (tmp_path / "c2cu").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["/dev/null/x", "/proc/x", "\0", "a file", "/dev/full", "l" * 300])
def test_where_there_can_be_no_folder(place, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("a file").touch()
    monkeypatch.setattr(caching, "chosen_folder", lambda: (Path(place), caching.objection(Path(place))))
    forget(monkeypatch)
    assert np.array_equal(run(), EXPECTED)
    assert [p.name for p in tmp_path.iterdir()] == ["a file"]


SCRIPT = """
import json, sys, c2cu, numpy as np
from c2cu.base.cache import cache_folder
a = c2cu.bulk("int x;\\nvoid k(void) { x = 3 * x; }\\n", np.int32([1, 2]), backend="cpu").tolist()
json.dump([a, str(cache_folder())], sys.stdout)
"""


@pytest.mark.parametrize("home", [None, slow("/proc/home"), slow("/dev/null")])
def test_without_a_home(home, tmp_path):
    left = {n: v for n, v in os.environ.items() if n not in ("HOME", "XDG_CACHE_HOME", "C2CU_CACHE_DIR")}
    environment = {
        **left,
        "PYTHONPATH": str(EXAMPLES.parent),
        **({"HOME": home} if home else {"XDG_CACHE_HOME": "/dev/null"}),
    }
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stderr == "" and json.loads(done.stdout)[0] == [3, 6]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.os, "replace", full)
    assert np.array_equal(run(), EXPECTED)
    assert not list(folder.iterdir())


def test_many_processes_and_threads_at_once(folder):
    contents = {key(k): os.urandom(1000) for k in range(8)}

    def work():
        cache = Cache(limit=5000)
        for name in list(contents) * 5:
            assert cache.put(name, ".x", lambda name=name: contents[name]) == contents[name]

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 6200


# Machine code in memory


@pytest.mark.parametrize("memory", [True, False])
def test_libraries_of_one_name_are_told_apart(folder, monkeypatch, memory):
    """The loader knows libraries by their paths, and descriptors are used again."""
    if not memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    command = (*find_compiler(), "-shared", "-fPIC")
    loaded = [machine_code.library(compiled(command, f"int f(void) {{ return {k}; }}\n")) for k in range(6)]
    assert [x.f() for x in loaded] == list(range(6))


@pytest.mark.parametrize("memory", [True, False])
def test_a_program_is_executed(folder, monkeypatch, memory):
    if not memory:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    code = compiled(find_compiler(), "#include <stdio.h>\nint main(int n, char **a) { puts(a[n - 1]); return n; }\n")
    done = machine_code.execute(code, ["one", "two"], capture_output=True)
    assert (done.stdout, done.returncode) == (b"two\n", 3) and not list(folder.glob("*"))


def test_the_scratch_folder_is_where_there_is_room(monkeypatch, tmp_path):
    with scratch.scratch(tmp_path) as made:
        assert made.parent == tmp_path and made.stat().st_mode & 0o777 == 0o700
    assert not list(tmp_path.iterdir())
    with scratch.scratch(Path("/dev/null"), Path("/proc"), tmp_path) as made:
        assert made.parent == tmp_path
