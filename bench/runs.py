"""Runs of the thesis' programs, each kept as soon as it ends, so that a command that was stopped goes on where it was."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))
from drivers import drivers  # noqa: E402

# A run that none of these cut came to its end. What the model of the environment assumes is cut on every path
# and in every run.
LIMITS = ("max-time", "max-memory", "max-instructions", "max-forks", "interrupted", "solver", "unsupported", "external-call")


class Runs:
    """`get` runs a driver with flags once, up to a number of instructions if one is given, and remembers what it did."""

    def __init__(self, pleach, sources, programs, cpu, keep, any_build=False, only_kept=False, repeat=1):
        self.pleach, self.programs, self.cpu, self.keep, self.only_kept, self.repeat = pleach, programs, cpu, keep, only_kept, repeat
        self.known = drivers(sources)
        self.build = hashlib.sha256(Path(pleach).read_bytes()).hexdigest()[:12]
        self.help = subprocess.run([pleach, "test", "--help"], capture_output=True, text=True).stdout
        self.work = Path(tempfile.mkdtemp(prefix="pleach-memory-"))
        self.done = {}
        if keep.exists():
            for line in keep.read_text().splitlines():
                r = json.loads(line)
                if any_build or r["build"] == self.build:
                    self.done[key(r["driver"], r["flags"], r["up_to"], r["limit"])] = r

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)

    def built(self, driver):
        return (self.programs / f"{self.known[driver][0]}.bc").exists()

    def takes(self, flags):
        """Whether this build has the flags, and for `--resolution` the policy."""
        names = [f.partition("=") for f in flags]
        return all(name in self.help and (name != "--resolution" or value in self.help) for name, _, value in names)

    def get(self, driver, *flags, up_to=0):
        k = key(driver, flags, up_to, self.cpu)
        if k not in self.done:
            r = {"driver": driver, "flags": list(flags), "trouble": "not run"} if self.only_kept else self.cheapest(driver, flags, up_to)
            self.done[k] = r
            if not r["trouble"]:
                with self.keep.open("a") as f:
                    f.write(json.dumps(r) + "\n")
        return self.done[k]

    def cheapest(self, driver, flags, up_to):
        """Of several runs the one with the least processor time; one that takes most of its limit is not repeated."""
        r = self.run(driver, flags, up_to)
        for _ in range(self.repeat - 1):
            if not r["trouble"] and r["ended"] | bool(up_to) and r["cpu"] < self.cpu / 2:
                r = min(r, self.run(driver, flags, up_to), key=lambda r: r["cpu"])
        return r

    def run(self, driver, flags, up_to):
        r = {"driver": driver, "flags": list(flags), "up_to": up_to, "limit": self.cpu, "build": self.build, "trouble": ""}
        if not self.built(driver):
            return {**r, "trouble": "not built"}
        if not self.takes(flags):
            return {**r, "trouble": "not in this build"}
        bitcode, options, args = self.known[driver]
        out, log = self.work / "run", self.work / "log"
        shutil.rmtree(out, ignore_errors=True)
        command = [self.pleach, "test", self.programs / f"{bitcode}.bc", "--quiet", "--search=dfs", "--max-memory=4000", "--output-dir", out]
        command += [f"--max-instructions={up_to}"] if up_to else []
        # What is to go as far as another run gets the time to do so. A machine with much else to do gives a small part
        # of its time.
        limit = 4 * self.cpu if up_to else self.cpu
        cost = measure.run([*command, *flags, *options, "--", *args], log, 100 * limit + 600, limit)
        try:
            r.update(measurements(out))
        except OSError:
            if cost.exit == -signal.SIGXCPU:
                return {**r, "trouble": "limit before exploration"}
            lines = log.read_text(errors="replace").strip().splitlines()
            return {**r, "trouble": f"exit {cost.exit}: {lines[-1][:120] if lines else 'no output'}"}
        r["exit"], r["rss_mb"] = cost.exit, cost.rss_mb
        if cost.exit == 70:
            r["trouble"] = "exit 70: " + log.read_text(errors="replace").strip().splitlines()[-1][:120]
        state = "ended" if r["ended"] else "at its limit"
        print(f"{driver} {' '.join(flags)}: {r['cpu']:.1f} s, {r['paths']:,} paths, {state}", flush=True, file=sys.stderr)
        return r


def key(driver, flags, up_to, limit):
    return driver, tuple(flags), up_to, limit


def measurements(out):
    """What a run directory says."""
    summary, timing = (json.loads((out / f"{name}.json").read_text()) for name in ("summary", "timing"))
    solver = summary.get("solver", {})
    get = lambda *names: sum(solver.get(n, 0) for n in names)
    cuts = {c["reason"] for c in summary["cut"]}
    lines = sorted(f"{file}:{line}" for file, covered in summary["covered"].items() for line in covered)
    return {
        "ended": not cuts & set(LIMITS),
        "cuts": sorted(cuts),
        # That of the exploration; loading the program is the same work in every run.
        "cpu": timing["cpu_us"] / 1e6,
        "paths": summary["paths"]["completed"] + summary["paths"]["errored"],
        "errors": sorted({f"{e['kind']} {Path(e['file']).name}:{e['line']}" for e in summary["errors"]}),
        "coverage": hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12],
        "lines": summary["totals"]["lines_covered"],
        "instructions": summary["instructions"],
        "queries": get("chain.queries"),
        "based": get("address.queries"),
        "dependent": get("address.dependent"),
        "renamed": get("address.renamed"),
        "backend": get("bitwuzla.queries", "z3.queries"),
        "entries": get("cache.entries", "address.entries"),
        "memory": summary.get("memory") or {},
    }
