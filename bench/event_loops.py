"""Event loops without end, generated: cost by states and by inputs per round (`bench/unbounded --growth`)."""

import json
import random
import re
import shutil

import measure

STATES = (5, 20, 80, 320)
INPUTS = (2, 8, 32)


def event_loop(states, inputs, unsafe, seed=1):
    """A machine that takes one of `inputs` events in each round; unsafe: its last state is an error."""
    rng = random.Random(f"{states} {inputs} {seed}")
    out = ["extern int __VERIFIER_nondet_int(void);", "void reach_error(void);", "int q, armed;", "void step(int e) {", "  switch (q) {"]
    for q in range(states):
        out.append(f"  case {q}:")
        for e in range(inputs):
            # One event leads on, so that every state is reached; the others lead somewhere.
            to = (q + 1) % states if e == q % inputs else rng.randrange(states)
            arms = rng.choice(["", " armed = 1;", " armed = 0;"])
            out.append(f"    if (e == {e}) {{ q = {to};{arms} return; }}")
        out.append("    return;")
    out += ["  default: reach_error();", "  }", "}", "int main(void) {", "  while (1) {", "    int e = __VERIFIER_nondet_int();"]
    out += [f"    if (e < 0 || e >= {inputs}) return 0;", "    step(e);", "    if (armed != 0 && armed != 1) reach_error();"]
    if unsafe:
        out.append(f"    if (q == {states - 1}) reach_error();")
    return "\n".join([*out, "  }", "}", ""])


def growth(args, work):
    """Rows by states, inputs and verdict; the factor is per doubling of the states."""
    rows, wrong = [], 0
    print("| inputs | expected | states | verdict | CPU seconds | per doubling |")
    print("|---|---|---|---|---|---|")
    for inputs in INPUTS:
        for unsafe in (False, True):
            before = None
            for states in STATES:
                r = one(args, states, inputs, unsafe, work)
                # A quadrupling is two doublings. The start of the process is not part of the growth.
                factor = "" if before is None else f"{(max(r['cpu'], 0.01) / max(before, 0.01)) ** 0.5:.1f}"
                before = r["cpu"]
                expected = "unsafe" if unsafe else "safe"
                wrong += r["verdict"] in {"safe", "unsafe"} - {expected}
                rows.append({"inputs": inputs, "states": states, "expected": expected, **r})
                print(f"| {inputs} | {expected} | {states} | {r['verdict']} | {r['cpu']:.2f} | {factor} |", flush=True)
    return rows, wrong


def one(args, states, inputs, unsafe, work):
    source, run, log = work / "loop.c", work / "loop.run", work / "loop.log"
    source.write_text(event_loop(states, inputs, unsafe))
    command = [args.pleach, "verify", source, "--property", "unreach-call", "--quiet", "--no-replay", "--output-dir", run, *args.arg]
    cost = measure.run(command, log, 20 * args.timeout + 60, args.timeout)
    try:
        verdict = json.loads((run / "summary.json").read_text()).get("verdict", "unknown")
    except OSError:
        verdict = re.sub(r"\s+", " ", log.read_text(errors="replace"))[:80]
    shutil.rmtree(run, ignore_errors=True)
    return {"verdict": verdict, "cpu": cost.cpu}
