"""Merging by patterns on functions of seven libraries, as ratios next to the tables of Memory ch. 6."""

import json
import math
import shutil
import sys
import tempfile
from pathlib import Path

import apis

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import measure  # noqa: E402
import table  # noqa: E402

SIZE = ["--symbolic-size=symbolic"]
# without `quantified`
LINKS = "--solver-links=domain,independence,cache,models,rewrite,difference,local-search,fallback"
MODES = {
    "base": ["--symbolic-size=max"],
    "none": SIZE,
    "tree": [*SIZE, "--merge", "--merge-exits-only"],
    "pattern": [*SIZE, "--merge=pattern"],
    "incremental": [*SIZE, "--merge=pattern", "--merge-incremental"],
    "auto": [*SIZE, "--merge=auto"],
    "no-link": [*SIZE, "--merge=pattern", "--merge-incremental", LINKS],
    "concrete-tree": ["--symbolic-size=max", "--merge", "--merge-exits-only"],
    "concrete-pattern": ["--symbolic-size=max", "--merge=pattern", "--merge-incremental"],
}
FIRST = "none,tree,pattern,incremental,auto"
STAGES = ["patch", "empty", "lemmas", "construct", "strip-unsat", "strip-sat", "duplicate", "repair", "instances-sat", "instances-unsat", "full"]
# Memory, Tables 6.3 (against merging through the tree), 6.5 (against none), 6.6 (queries solved without falling back)
# and 6.9 (incremental merging): averages
THESIS = {
    "libosip": (7.18, 11.21, 94, 6.78),
    "wget": (2.69, 2.75, 98, 0.97),
    "libtasn1": (0.94, 4.94, 100, 0.96),
    "libpng": (0.70, 2.46, 86, 0.96),
    "apr": (3.50, 8.40, 99, 1.60),
    "json-c": (3.16, 1.36, 98, 1.01),
    "busybox": (1.68, 2.43, 98, 0.98),
}


def explored(args, subject, function, mode, capacity, command, work):
    """What one run says of itself; its CPU time is limited, as others use the machine."""
    out = work / "run"
    shutil.rmtree(out, ignore_errors=True)
    flags = [*MODES[mode], f"--search={args.search}", "--capacity", capacity + 1, "--max-memory=2000"]
    run = [args.pleach, "test", "--quiet", *flags, "--max-time=0", "--output-dir", out, f"-DN={capacity}", f"-DAPI={function}", "-DASSUMED_END", *command]
    # Loading takes a second of its own.
    cost = measure.run(run, work / "log", 40 * args.timeout + 60, cpu=int(args.timeout) + 1)
    try:
        s = json.loads((out / "summary.json").read_text())
        timing = json.loads((out / "timing.json").read_text())
    except OSError:
        return None
    paths = s["paths"]
    return {
        "library": subject.library.name,
        "function": function,
        "mode": mode,
        "cpu": min(timing["cpu_us"] / 1e6, args.timeout),
        "total": cost.cpu,
        "ended": s["complete"] or timing["cpu_us"] / 1e6 < 0.9 * args.timeout,
        "complete": s["complete"],
        "paths": paths["completed"] + paths["errored"] + paths["pruned"],
        "states": s["states_peak"],
        "errors": len(s["errors"]),
        "lines": sum(map(len, s["covered"].values())),
        "queries": s["solver"].get("bitwuzla.queries", 0),
        "quantified": s["solver"].get("quantified.queries", 0),
        "stages": {n: s["solver"].get(f"quantified.{n}", 0) for n in STAGES},
        "merging": {k: v for k, v in s.get("merging", {}).items() if v},
    }


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def number(x):
    return "–" if math.isnan(x) else f"{x:.2f}"


def speedup(by, functions, mode, against):
    """Geometric mean of the ratios of CPU times over the functions that one of the two explored to the end, and how many these are."""
    pairs = [(by.get((f, mode)), by.get((f, against))) for f in functions]
    pairs = [(a, b) for a, b in pairs if a and b and (a["ended"] or b["ended"])]
    return mean([max(b["cpu"], 0.02) / max(a["cpu"], 0.02) for a, b in pairs]), len(pairs)


def report(rows, modes):
    libraries = list(dict.fromkeys(r["library"] for r in rows))
    lines, stages = [], []
    for library in libraries:
        mine = [r for r in rows if r["library"] == library]
        functions = list(dict.fromkeys(r["function"] for r in mine))
        by = {(r["function"], r["mode"]): r for r in mine}
        for mode in modes:
            own = [r for r in mine if r["mode"] == mode]
            ratios = []
            for against in ("tree", "none", "pattern"):
                ratio, n = speedup(by, functions, mode, against)
                ratios.append("–" if mode == against or math.isnan(ratio) else f"{number(ratio)} ({n})")
            cells = [library, mode, f"{sum(r['ended'] for r in own)}/{len(functions)}", f"{sum(r['cpu'] for r in own):.1f}", *ratios]
            cells += [f"{sum(r[k] for r in own):,}" for k in ("paths", "states", "queries", "quantified", "lines", "errors")]
            lines.append(cells)
        for mode in (m for m in modes if m not in ("base", "none", "tree", "no-link", "concrete-tree")):
            own = [r for r in mine if r["mode"] == mode]
            total = sum(r["quantified"] for r in own)
            sums = {n: sum(r["stages"][n] for r in own) for n in STAGES}
            solved = f"{100 * (1 - sums['full'] / total):.1f} %" if total else "–"
            stages.append([library, mode, f"{total:,}", *(f"{sums[n]:,}" for n in STAGES), solved, f"{THESIS[library][2]} %"])
    head = ["library", "mode", "ended", "CPU s", "× tree", "× none", "× pattern", "paths", "states", "queries", "quantified", "lines", "errors"]
    print(table.markdown(head, lines))
    print("\nThesis, averages: " + "; ".join(f"{k} {a} over merging through the tree, {b} over none" for k, (a, b, _, _) in THESIS.items() if k in libraries))
    print("\n" + table.markdown(["library", "mode", "quantified", *STAGES, "without full", "thesis"], stages))


def subjects(args):
    """Functions with their libraries and how these are compiled: the first of each library, then the second."""
    chosen = []
    for subject in apis.SUBJECTS:
        library = subject.library.name
        names = [f for f in subject.functions if not args.names or library in args.names or f"{library}/{f}" in args.names]
        command = subject.command(args.patterns, args.pleach) if names else []
        chosen += [(i, subject, f, command) for i, f in enumerate(names[: args.most or None])]
    return sorted(chosen, key=lambda c: c[0])


def main(args):
    modes = (args.modes or FIRST).split(",")
    apis.fetch(args.patterns)
    rows = [json.loads(line) for line in args.rows.read_text().splitlines()] if args.rows and args.rows.exists() else []
    known = {(r["library"], r["function"], r["mode"]) for r in rows}
    with tempfile.TemporaryDirectory() as directory:
        for _, subject, function, command in subjects(args):
            for mode in modes:
                name = subject.library.name
                if (name, function, mode) in known:
                    continue
                row = explored(args, subject, function, mode, args.capacity or subject.capacity, command, Path(directory))
                if row is None:
                    print(f"{name}/{function} {mode}: no results", file=sys.stderr)
                    continue
                rows.append(row)
                cells = [row[k] for k in ("library", "function", "mode")] + [f"{row['cpu']:.2f}", "ended" if row["ended"] else "-"]
                cells += [row[k] for k in ("paths", "states", "errors", "lines", "queries", "quantified")]
                print(*cells, {k: v for k, v in row["stages"].items() if v}, file=sys.stderr, flush=True)
                if args.rows:
                    with args.rows.open("a") as f:
                        f.write(json.dumps(row) + "\n")
    report(sorted(rows, key=lambda r: list(THESIS).index(r["library"])), modes)
