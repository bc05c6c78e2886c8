"""Whole programs of GNU coreutils whose files and input have an unknown size, in the modes of the thesis (Memory §5.4.3)."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import measure  # noqa: E402

SAMPLE = "basename base64 cat cksum comm cut echo expand fold head nl paste sum tac tail tr tsort unexpand uniq wc".split()
# up to N bytes in a file and in standard input, one argument and an option
ENVIRONMENT = "--sym-args 0 1 3 --sym-files-up-to 1 {n} --sym-stdin-up-to {n} --sym-stdout"
# the same with fixed sizes, where nothing merges
FIXED = "--sym-args 0 1 10 --sym-args 0 2 2 --sym-files 1 8 --sym-stdin 8"
CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def collected(said):
    """Machine instructions that callgrind counted."""
    return int(re.search(r"Collected : (\d+)", said).group(1))


def lines(lcov):
    """Covered and all lines of the program's own files."""
    own, hit, found = False, 0, 0
    for line in lcov.read_text().splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            own = "/src/" in rest
        elif own and kind == "LH":
            hit += int(rest)
        elif own and kind == "LF":
            found += int(rest)
    return hit, found


def run(args, directory, name, size, flags):
    """What one run says of itself, with a limit of processor time."""
    with tempfile.TemporaryDirectory() as work:
        out, log = Path(work) / "run", Path(work) / "log"
        command = [args.pleach, "test", directory / "src" / name, "--quiet", "--output-dir", out, "--search=dfs", *flags]
        command += ENVIRONMENT.format(n=size).split()
        cost = measure.run(command, log, 60 * args.timeout + 60, cpu=int(args.timeout))
        if not (out / "summary.json").exists():
            sys.exit(f"{name}: {log.read_text()}")
        summary = json.loads((out / "summary.json").read_text())
        timing = json.loads((out / "timing.json").read_text())
        hit, found = lines(out / "coverage.info")
        shutil.rmtree(out)
    reasons = {c["reason"] for c in summary["cut"]}
    return {
        "program": name,
        "seconds": cost.cpu,
        "exploring": timing["cpu_us"] / 1e6,
        "paths": summary["paths"]["completed"] + summary["paths"]["errored"],
        "merged": summary["paths"]["merged"],
        "errors": len(summary["errors"]),
        "hit": hit,
        "found": found,
        "timeout": bool(reasons & {"cpu-time", "max-time", "interrupted"}),
    }


def report(modes, found):
    """The tables: every run, and the modes as a whole."""
    by = {(r["program"], r["mode"]): r for r in found}
    programs = list(dict.fromkeys(r["program"] for r in found))
    print("Lines covered of the program's own, in percent, and paths; `*` where the limit ended the run.\n")
    print("| program | " + " | ".join(modes) + " |")
    print("|---" * (len(modes) + 1) + "|")
    percent = lambda r: 100 * r["hit"] / max(r["found"], 1)  # noqa: E731
    for p in programs:
        cells = [f"{percent(by[p, m]):.1f}, {by[p, m]['paths']}{'*' if by[p, m]['timeout'] else ''}" for m in modes]
        print(f"| {p} | " + " | ".join(cells) + " |")
    late = [p for p in programs if all(by[p, m]["timeout"] for m in modes)]
    some = [p for p in programs if p not in late]
    print(f"\n{len(programs)} programs, {len(late)} ended by the limit in all modes.\n")
    print("| mode | ended by the limit | CPU s | lines covered, all | where all end by the limit | best there in |")
    print("|---|---|---|---|---|---|")
    for m in modes:
        mine = [by[p, m] for p in programs]
        best = sum(by[p, m]["hit"] == max(by[p, o]["hit"] for o in modes) for p in late)
        mean = lambda names: f"{sum(percent(by[p, m]) for p in names) / len(names):.1f} %" if names else "–"  # noqa: E731, B023
        print(f"| {m} | {sum(r['timeout'] for r in mine)} | {sum(r['exploring'] for r in mine):.1f} | {mean(programs)} | {mean(late)} | {best} |")
    if some:
        print("\nCPU seconds where not all modes were ended by the limit:\n")
        print("| program | " + " | ".join(modes) + " |")
        print("|---" * (len(modes) + 1) + "|")
        for p in some:
            print(f"| {p} | " + " | ".join(f"{by[p, m]['exploring']:.2f}{'*' if by[p, m]['timeout'] else ''}" for m in modes) + " |")


def measure_all(args, modes):
    """Every program in every mode."""
    size = int((args.sizes or "8").split(",")[0])
    names = args.names or SAMPLE
    kept = [json.loads(line) for line in args.rows.read_text().splitlines()] if args.rows and args.rows.exists() else []
    found = {(r["program"], r["mode"]): r for r in kept if r["program"] in names and r["mode"] in modes}
    for name in names:
        for mode, flags in modes.items():
            if (name, mode) in found:
                continue
            row = {"mode": mode, **run(args, args.coreutils, name, size, flags)}
            found[name, mode] = row
            if args.rows:
                with open(args.rows, "a") as out:
                    out.write(json.dumps(row) + "\n")
            print(f"{name}, {mode}: {row['exploring']:.1f} s", file=sys.stderr, flush=True)
    found = list(found.values())
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        report(list(modes), found)


def instructions(args, name, flags):
    """Executed by the exploring process, and the groups that were merged."""
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / "run"
        command = [*CALLGRIND, args.pleach, "test", args.coreutils / "src" / name, "--quiet", "--output-dir", out, *flags]
        command += ["--search=dfs", f"--max-instructions={args.overhead}", *FIXED.split()]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        groups = json.loads((out / "summary.json").read_text()).get("merging", {}).get("groups", 0)
    return collected(done.stderr), groups


def overhead(args):
    """What merging costs where nothing merges."""
    print("| program | none | `size-dependent` |")
    print("|---|---|---|")
    for name in args.names or SAMPLE:
        # What a run does each second costs instructions, too: the least of several counts.
        both = [(instructions(args, name, []), instructions(args, name, ["--merge", "--merge-scope=size-dependent"])) for _ in range(args.repeat)]
        base, (count, groups) = min(b[0][0] for b in both), min(b[1] for b in both)
        remark = f" ({groups} groups merged)" if groups else ""
        print(f"| {name} | {base:,} | {100 * (count / base - 1):+.2f} %{remark} |", flush=True)
