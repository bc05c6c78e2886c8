"""Coverage of tests from any engine, by one counter: each `.ktest` runs natively on a build with gcov.

The program runs as nobody, without the rights of the caller: everything but its directory is read-only, and it sees no other processes. Arguments, files,
standard input and output are what the test's objects say (`arg00`, `A_data`, `A_data_stat`, `stdin`, …: KLEE's names), of the type that the
attributes have: regular, directory, link, pipe, terminal. Needs root or user namespaces (`unshare`), gcc's gcov, and a build with gcov-exit.c.
"""

import gzip
import json
import os
import pty
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import tty
from pathlib import Path

SECONDS = 2
NOBODY = 65534


def objects(test):
    """The objects of a `.ktest`, in order: name, bytes."""
    data = Path(test).read_bytes()
    at = 5

    def number():
        nonlocal at
        at += 4
        return struct.unpack(">I", data[at - 4 : at])[0]

    def text():
        nonlocal at
        size = number()
        at += size
        return data[at - size : at]

    version = number()
    for _ in range(number()):
        text()
    if version >= 2:
        number(), number()
    return [(text().decode(errors="replace"), text()) for _ in range(number())]


class Attributes:
    """What a `struct stat` of x86-64 says of a file."""

    def __init__(self, raw):
        links, mode = struct.unpack_from("<QI", raw, 16) if len(raw) >= 28 else (1, 0)
        self.links, self.kind, self.rights = links, stat.S_IFMT(mode), stat.S_IMODE(mode) & 0o777 or 0o644
        seconds = [struct.unpack_from("<q", raw, at)[0] for at in (72, 88)] if len(raw) >= 96 else [0, 0]
        self.times = tuple(min(max(s, -(2**31)), 2**33) for s in seconds)


def feed(fd, contents):
    """Writes in the background; who does not read leaves it there."""

    def write():
        try:
            os.write(fd, contents)
        except OSError:
            pass

    threading.Thread(target=write, daemon=True).start()


def terminal(contents):
    master, slave = pty.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    os.chown(name, NOBODY, NOBODY)
    feed(master, contents)
    return master, slave, name


def make_file(path, contents, is_like, open_fds):
    if is_like.kind == stat.S_IFDIR:
        os.mkdir(path)
    elif is_like.kind == stat.S_IFIFO:
        os.mkfifo(path)
        fd = os.open(path, os.O_RDWR)
        open_fds.append(fd)
        feed(fd, contents)
    elif is_like.kind == stat.S_IFCHR:
        master, slave, name = terminal(contents)
        open_fds += [master, slave]
        os.symlink(name, path)
        return
    else:
        real = path + ".lnk" if is_like.kind == stat.S_IFLNK else path
        Path(real).write_bytes(contents)
        os.utime(real, is_like.times)
        if real != path:
            os.symlink(real, path)
        elif is_like.links > 1:
            os.link(path, path + ".link2")
        path = real
    os.chmod(path, is_like.rights)
    os.chown(path, NOBODY, NOBODY)


def standard(name, given, attributes, directory, open_fds):
    """Descriptor for standard input or output."""
    contents, like = given.get(name), attributes.get(name)
    if contents is None:
        return os.open(os.devnull, os.O_RDWR)
    if like.kind == stat.S_IFCHR:
        master, slave, _ = terminal(contents if name == "stdin" else b"")
        open_fds.append(master)
        return slave
    if like.kind == stat.S_IFIFO or (name == "stdin" and like.kind == 0):
        out, into = os.pipe()
        if name == "stdin":
            os.write(into, contents)
            os.close(into)
            return out
        open_fds.append(out)
        return into
    if like.kind == stat.S_IFDIR:
        os.makedirs(directory / ("as-" + name))
        return os.open(directory / ("as-" + name), os.O_RDONLY)
    path = directory / ("as-" + name)
    path.write_bytes(contents if name == "stdin" else b"")
    os.chmod(path, like.rights)
    os.chown(path, NOBODY, NOBODY)
    return os.open(path, os.O_RDWR)


def run(program, test, scratch):
    inputs = objects(test)
    given = dict(inputs)
    attributes = {n: Attributes(given.get(n + "_stat", b"")) for n in given}
    # The last byte is the terminator, whatever its value here.
    args = [data[:-1].split(b"\0")[0] for name, data in inputs if re.fullmatch(r"arg\d+", name)]
    own, outside, fds = scratch / "own", scratch / "outside", []
    for d in (own, outside):
        shutil.rmtree(d, ignore_errors=True)
        d.mkdir()
        os.chown(d, NOBODY, NOBODY)
    os.chdir(own)
    for name, data in inputs:
        if re.fullmatch("[A-Z](_data)?", name):
            make_file(name[0], data, attributes[name], fds)
    ends = [standard(n, given, attributes, outside, fds) for n in ("stdin", "stdout")]
    counts = {"GCOV_PREFIX": str(scratch / "counts")}
    child = subprocess.Popen([program, *args], stdin=ends[0], stdout=ends[1], stderr=subprocess.DEVNULL, env=counts, user=NOBODY, group=NOBODY, extra_groups=[], start_new_session=True)
    for patience, last in (SECONDS, signal.SIGUSR2), (1, signal.SIGKILL), (None, None):
        try:
            child.wait(patience)
            break
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGCONT)
            os.kill(child.pid, last)
    for fd in fds + ends:
        os.close(fd)
    os.chdir(scratch)


def inside(program, scratch, tests):
    """In the namespaces: makes everything else read-only, then runs the tests."""
    scratch = Path(scratch)
    for command in (["--make-rprivate", "/"], ["--bind", scratch, scratch], ["-o", "remount,bind,ro", "/"]):
        subprocess.run(["mount", *command], check=True)
    (scratch / "counts").mkdir(exist_ok=True)
    os.chmod(scratch / "counts", 0o777)
    for test in tests:
        run(program, test, scratch)


def covered(build, program, tests, scratch):
    """`(lines, branches)` of the program's own files: each a dictionary place -> was it executed."""
    scratch = Path(scratch).resolve()
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    os.chmod(scratch, 0o755)
    command = ["unshare", "-m", "-p", "-f", "--mount-proc", sys.executable, __file__, program, scratch, *map(os.path.abspath, tests)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{program}: {done.stderr.strip()[-500:]}")
    lines, branches = {}, {}
    counts = scratch / "counts" / str(build).lstrip("/") / "src"
    for data in sorted(counts.glob("*.gcda")):
        shutil.copy(build / "src" / (data.stem + ".gcno"), counts)
        subprocess.run(["gcov", "--json-format", "--branch-probabilities", data.name], cwd=counts, capture_output=True, check=True)
        for file in json.loads(gzip.open(counts / (data.stem + ".gcov.json.gz")).read())["files"]:
            if "/src/" not in file["file"] and not file["file"].startswith("src/"):
                continue
            name = Path(file["file"]).name
            for line in file["lines"]:
                place = name, line["line_number"]
                lines[place] = lines.get(place, False) or line["count"] > 0
                for i, b in enumerate(line["branches"]):
                    branches[place, i] = branches.get((place, i), False) or b["count"] > 0
    shutil.rmtree(scratch, ignore_errors=True)
    return lines, branches


if __name__ == "__main__":
    inside(sys.argv[1], sys.argv[2], sys.argv[3:])
