// Errors, targets, tests and cuts. A row selects its line and its node, or filters the tree.

class Lists {
  constructor(data, page) {
    this.page = page;
    this.rows = [];
    const nav = $("lists");
    this.section(nav, "Errors", data.errors.length, data.errors, (e) => this.error(e));
    if (data.targets.length > 0) this.section(nav, "Targets", data.targets.length, data.targets, (t) => this.target(t));
    if (data.cuts.length > 0) this.section(nav, "Not explored", null, data.cuts, (c) => this.cut(c));
    // Loops of the model of the system have no line.
    const loops = data.loops.filter((l) => l.line > 0);
    if (loops.length > 0) this.section(nav, "Loops", loops.length, loops, (l) => this.loop(l));
    if (data.contracts.length > 0) {
      this.section(nav, "Recursive functions", data.contracts.length, data.contracts, (c) => this.contract(c));
    }
    this.section(nav, "Tests", data.testsTotal, data.tests, (t) => this.test(t));
    const left = data.testsTotal - data.tests.length;
    if (left > 0) nav.append(el("p", { class: "more" }, `and ${count(left, "test")} more, with nothing new`));
  }

  section(nav, title, total, items, row) {
    nav.append(el("h3", {}, total === null ? title : `${title} (${number(total)})`));
    if (items.length === 0) nav.append(el("p", { class: "more" }, "none"));
    // Long lists are added in pieces, so that the page is there at once.
    let at = 0;
    const more = el("button", { class: "row", type: "button", onclick: () => add() }, "more …");
    const add = () => {
      for (const item of items.slice(at, at + 200)) more.before(row(item));
      at += 200;
      if (at >= items.length) more.remove();
    };
    nav.append(more);
    add();
  }

  row(colourName, text, small, act, key) {
    const dot = colourName ? el("span", { class: "dot", css: `--c: var(--${colourName})` }) : null;
    const click = () => {
      for (const r of $("lists").querySelectorAll("[aria-current]")) r.removeAttribute("aria-current");
      row.setAttribute("aria-current", "true");
      act();
    };
    const more = small && el("small", {}, small);
    const row = el("button", { class: "row", type: "button", onclick: click }, dot, text, more);
    if (key) row.dataset.key = key;
    return row;
  }

  error(e) {
    const at = e.line ? `${e.file}:${e.line}` : "";
    return this.row("errored", `${e.kind} ${at}`, e.message, () => this.page.showError(e), `error-${e.test}`);
  }

  target(t) {
    const colours = { reachable: "completed", unreachable: "subsumed", unknown: "cut" };
    const [, file, line] = /^(.*):(\d+)$/.exec(t.at) ?? [null, "", "0"];
    const act = () => this.page.showTarget(t, file, Number(line));
    return this.row(colours[t.result] ?? "soft", `${t.target}: ${t.result}`, t.reason || t.replay, act);
  }

  cut(c) {
    const text = `${c.reason}${c.detail ? `: ${c.detail}` : ""}`;
    return this.row("cut", text, `${count(c.count, "path")} not explored to the end`, () => this.page.showCut(c));
  }

  loop(l) {
    const text = `${l.file.split("/").pop()}:${l.line} in ${l.function}`;
    const said = l.invariants.length > 0 ? count(l.invariants.length, "invariant") : "no invariant was found";
    const small = l.states > 0 ? `explored from each of its ${count(l.states, "state")}` : said;
    const known = l.invariants.length > 0 || l.states > 0;
    return this.row(known ? "completed" : "soft", text, small, () => this.page.showLoop(l));
  }

  contract(c) {
    const small = `ensures ${c.ensures.join(" and ") || "nothing"}`;
    return this.row("completed", `${c.function} at ${c.file.split("/").pop()}:${c.line}`, small, () => this.page.showContract(c));
  }

  test(t) {
    const small = t.outcome + (t.new ? " · covers something new" : "");
    return this.row(t.kind, `test ${t.test}`, small, () => this.page.showTest(t), `test-${t.test}`);
  }
}
