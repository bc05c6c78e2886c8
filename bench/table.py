"""Human-readable results: Markdown tables."""


def markdown(head, lines):
    cells = [head, *lines]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    show = lambda line: "| " + " | ".join(_pad(c, w, i) for i, (c, w) in enumerate(zip(line, widths))) + " |"
    rule = "|" + "|".join("-" * (w + 1) + (":" if i else "-") for i, w in enumerate(widths)) + "|"
    return "\n".join([show(head), rule, *map(show, lines)])


def _pad(text, width, column):
    return text.rjust(width) if column else text.ljust(width)


def paths(r):
    return f"{r['completed']:,}" + (f" + {r['partial']:,}" if r["partial"] else "")


def errors(r):
    found = r["errors"]
    if isinstance(found, int):
        return str(found)
    return " ".join(f"{n} {kind}" for kind, n in sorted(found.items())) or "0"


def seconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def ratio(ours, theirs):
    """How many times cheaper we are."""
    return f"{theirs / ours:.1f}" if ours else "–"


def result(r, peers, anchor):
    """One line: ours, the cheapest peer of this run, the recorded measurements."""
    ours = r["pleach"]
    peer = best(peers)
    cells = [r["name"], paths(ours), errors(ours), f"{ours['instructions']:,}", seconds(ours["cpu"]), f"{ours['rss_mb']:.0f}"]
    if peer:
        cells += [paths(peer), errors(peer), f"{peer['instructions']:,}", seconds(peer["cpu"]), f"{peer['rss_mb']:.0f}"]
        cells += [ratio(ours["cpu"], peer["cpu"]), ratio(ours["rss_mb"], peer["rss_mb"])]
    else:
        cells += ["–"] * 7
    if anchor:
        cells += [paths(anchor), errors(anchor), seconds(anchor["cpu"]), ratio(ours["cpu"], anchor["cpu"])]
    else:
        cells += ["–"] * 4
    return cells


HEAD = ["program", "paths", "errors", "instr.", "CPU s", "MB"]
HEAD += ["KLEE paths", "errors", "instr.", "CPU s", "MB", "CPU ×", "MB ×"]
HEAD += ["recorded paths", "errors", "CPU s", "CPU ×"]


def best(peers):
    whole = [p for p in peers.values() if not p["trouble"]]
    return min(whole or peers.values(), key=lambda p: p["cpu"], default=None)


def remarks(r):
    """Everything a reader must know before comparing the line."""
    said = [f"{name}: {x['trouble']}" for name, x in [("pleach", r["pleach"]), *r["klee"].items()] if x["trouble"]]
    peer = best(r["klee"])
    if peer and not peer["trouble"] and not r["pleach"]["trouble"]:
        for what, show in [("paths", paths), ("errors", errors)]:
            a, b = show(r["pleach"]), show(peer)
            if a != b:
                said.append(f"{what} differ: {a} against KLEE's {b}")
    return said


def growth(series, results):
    """Cost per path over the members of a series."""
    lines = []
    for r in results:
        if r["series"] != series:
            continue
        line = [r["name"]]
        for x in [r["pleach"], best(r["klee"])]:
            n = x["completed"] + x["partial"] if x else 0
            line += [f"{n:,}", f"{x['cpu'] / n * 1e6:.0f}", f"{x['rss_mb']:.0f}"] if n else ["–"] * 3
        lines.append(line)
    return markdown([series, "paths", "µs per path", "MB", "KLEE paths", "µs per path", "MB"], lines)
