"""How each engine is started, and how its account of a run is read."""

import json
import os
import re
import sqlite3
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import measure

# The functions keep `optnone`: an engine that simplifies control flow first would explore another program.
CFLAGS = ["-O0", "-g", "-emit-llvm", "-c", "-w"]
OLD_C = ["-Wno-implicit-function-declaration", "-Wno-implicit-int", "-Wno-int-conversion"]


class CannotRun(Exception):
    pass


@dataclass
class Result:
    completed: int = 0
    # ended early: in an error, or cut
    partial: int = 0
    instructions: int = 0
    queries: int = 0
    # places in the program, by kind
    errors: dict = field(default_factory=dict)
    cpu: float = 0.0
    rss_mb: float = 0.0
    # why the measurements are not those of a whole run
    trouble: str = ""

    def as_dict(self):
        return asdict(self)


def compile_bitcode(clang, source, include, output):
    command = [clang, *CFLAGS, *OLD_C, "-I", str(include), "-I", str(source.parent), str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(f"{clang} does not compile {source.name}: {done.stderr.strip()[:300]}")


class Pleach:
    name = "pleach"

    def __init__(self, binary, clang, include, args):
        self.binary, self.clang, self.include, self.args = binary, clang, include, args

    def run(self, bitcode, work, timeout):
        run = work / "run"
        command = [self.binary, "test", "--search", "dfs", "--output-dir", run, *self.args, bitcode]
        cost = measure.run(command, work / "log", timeout)
        result = Result(cpu=cost.cpu, rss_mb=cost.rss_mb)
        if cost.timed_out:
            result.trouble = f"no end after {timeout} s"
            return result
        if cost.exit not in (0, 1):
            result.trouble = f"exit {cost.exit}: {_tail(work / 'log')}"
        try:
            summary = json.loads((run / "summary.json").read_text())
        except OSError:
            result.trouble = result.trouble or f"no summary: {_tail(work / 'log')}"
            return result
        paths = summary["paths"]
        result.completed = paths["completed"]
        result.partial = paths["errored"] + paths["cut"]
        result.instructions = summary["instructions"]
        result.queries = sum(n for name, n in summary["solver"].items() if name in ("bitwuzla.queries", "z3.queries"))
        result.errors = dict(Counter(_kind(e["kind"]) for e in summary["errors"]))
        if not summary["complete"]:
            result.trouble = result.trouble or "; ".join(f"{c['reason']} {c['detail']}".strip() for c in summary["cut"])
        return result


class Klee:
    def __init__(self, name, binary, clang, include, args):
        self.name, self.binary, self.clang, self.include, self.args = name, binary, clang, include, args

    def run(self, bitcode, work, timeout, cpu=0):
        run = work / "run"
        command = [self.binary, "--search=dfs", f"--output-dir={run}", *self.args, bitcode]
        cost = measure.run(command, work / "log", timeout, cpu)
        result = Result(cpu=cost.cpu, rss_mb=cost.rss_mb)
        if cost.timed_out:
            result.trouble = f"no end after {timeout} s"
            return result
        log = (work / "log").read_text(errors="replace")
        result.completed = _number(log, r"done: completed paths = (\d+)")
        result.partial = _number(log, r"done: partially completed paths = (\d+)")
        result.instructions = _number(log, r"done: total instructions = (\d+)")
        result.queries = self._queries(run / "run.stats")
        result.errors = dict(Counter(f.name.split(".")[1] for f in os.scandir(run) if f.name.endswith(".err")))
        if cost.exit != 0:
            result.trouble = f"exit {cost.exit}: {_tail(work / 'log')}"
        return result

    @staticmethod
    def _queries(stats):
        try:
            with sqlite3.connect(f"file:{stats}?mode=ro", uri=True) as db:
                return db.execute("select SolverQueries from stats order by rowid desc limit 1").fetchone()[0]
        except (sqlite3.Error, TypeError):
            return 0


def _number(text, pattern):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _tail(log):
    lines = Path(log).read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


# Kinds of errors under the names KLEE gives them in its files.
_KINDS = {
    "oob-read": "ptr",
    "oob-write": "ptr",
    "null": "ptr",
    "use-after-free": "ptr",
    "double-free": "free",
    "bad-free": "free",
    "readonly": "readonly",
    "div-zero": "div",
    "overshift": "overshift",
}


def _kind(kind):
    return _KINDS.get(kind, kind)
