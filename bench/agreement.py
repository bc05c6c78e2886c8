"""What runs of one driver have to agree on, whatever the policy and the cache."""

from collections import defaultdict


def lines(runs):
    """A section of the report: how much was compared, and every difference."""
    groups = defaultdict(list)
    for r in runs:
        if not r["trouble"]:
            groups[r["driver"]].append(r)
    compared, wrong = 0, []
    for driver, all_runs in groups.items():
        # Ended runs have seen everything: the same errors, the same lines.
        ended = [r for r in all_runs if r["ended"]]
        compared += max(len(ended) - 1, 0)
        for what in ("errors", "coverage"):
            wrong += difference(driver, what, ended)
        # Runs that differ in the cache alone follow the same paths, also up to the same number of instructions.
        alike = defaultdict(list)
        for r in all_runs:
            same = tuple(f for f in r["flags"] if not f.startswith(("--query-cache", "--check")))
            work = "ended" if r["ended"] else r["instructions"]
            alike[same, work].append(r)
        for group in alike.values():
            for what in ("paths", "errors", "coverage"):
                wrong += difference(driver, what, group)
    wrong += [f"**{r['driver']} {' '.join(r['flags'])}: {r['trouble']}**" for r in runs if r["trouble"].startswith("exit")]
    out = ["## Do the runs agree?", "", f"{compared} runs that came to their end were compared with another of the same program: errors and covered lines; runs"]
    out += ["that differ in the cache alone also by their paths.", ""]
    return out + ([f"- {w}" for w in dict.fromkeys(wrong)] or ["They agree."])


def difference(driver, what, runs):
    if len({repr(r[what]) for r in runs}) <= 1:
        return []
    first = runs[0]
    other = next(r for r in runs if r[what] != first[what])
    tell = lambda r: f"`{' '.join(r['flags'])}`: {r['lines'] if what == 'coverage' else r[what]}"
    return [f"**{driver}: {what} differ: {tell(first)}, {tell(other)}**"]
