"""What proofs without a bound cost where nothing is gained: programs whose loops end (`bench/unbounded --overhead`)."""

import json
import shutil
from pathlib import Path

import measure

RUNS = 5


def overhead(args, work):
    """Rows by program: the least processor time of some runs, with and without."""
    rows = []
    print("| program | verdict | unbounded: CPU seconds | `--no-unbounded`: CPU seconds | factor |")
    print("|---|---|---|---|---|")
    for name in args.names:
        plain, verdict = least(args, name, ["--no-unbounded"], work)
        if verdict not in ("safe", "safe-assuming", "unsafe"):
            # Its loops do not end, or something else is missing.
            continue
        proof, same = least(args, name, [], work)
        word = verdict if verdict == same else f"{verdict}, with proofs {same}"
        print(f"| {Path(name).name} | {word} | {proof:.2f} | {plain:.2f} | {proof / max(plain, 0.01):.2f} |", flush=True)
        rows.append({"name": name, "verdict": verdict, "with": proof, "without": plain, "differs": verdict != same})
    both = sum(r["with"] for r in rows), sum(r["without"] for r in rows)
    print(f"| all | | {both[0]:.2f} | {both[1]:.2f} | {both[0] / max(both[1], 0.01):.2f} |")
    return rows, sum(r["differs"] for r in rows)


def least(args, source, flags, work):
    best, verdict = None, "unknown"
    for _ in range(RUNS):
        run, log = work / "overhead.run", work / "overhead.log"
        command = [args.pleach, "verify", source, "--property", "unreach-call", "--quiet", "--no-replay", "--output-dir", run, *flags, *args.arg]
        cost = measure.run(command, log, 20 * args.timeout + 60, args.timeout)
        best = cost.cpu if best is None else min(best, cost.cpu)
        try:
            verdict = json.loads((run / "summary.json").read_text()).get("verdict", "unknown")
        except OSError:
            return best, "not compiled"
        shutil.rmtree(run, ignore_errors=True)
        if verdict == "unknown":
            break
    return best, verdict
