// Puts the parts together: what is selected in one is shown in the others.

class Page {
  constructor() {
    readColours();
    this.read(JSON.parse($("data").textContent), $("tree").textContent);
    this.listen();
    this.redraw();
    this.begin();
  }

  /** Fills the page: the data, and the tree's bytes in base64. */
  read(data, packed) {
    this.data = data;
    const binary = atob(packed);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    this.tree = new Tree(bytes, data.treeCount);
    this.into = new Map(Object.entries(data.merged).map(([leaf, into]) => [Number(leaf), into]));
    for (const part of ["statistics", "notes", "legend", "lists", "time", "cost"]) $(part).replaceChildren();
    this.header();
    this.source = new Source(data, (file, line, why) => this.showLine(file, line, why));
    if (this.icicle) this.icicle.replace(this.tree);
    else this.icicle = new Icicle($("icicle"), this.tree, (i) => this.nameOf(i), (i) => this.showNode(i));
    this.legend();
    this.lists = new Lists(data, this);
    this.drawCharts = charts(data.samples);
    this.cost();
  }

  /** The run went on: new figures, tree and lists. What is selected stays, and the panel about it. */
  update(data, packed) {
    const before = this.tree;
    const node = this.icicle.selected < 0 ? null : before.id[this.icicle.selected];
    const { shown, marked } = this.source;
    const scrolled = [$("source").scrollTop, $("lists").scrollTop];
    const row = $("lists").querySelector("[aria-current]")?.dataset.key;
    this.read(data, packed);
    $("result").textContent = data.text.trimEnd();
    document.body.dataset.verdict = data.verdict;
    if (shown) this.source.show(shown);
    if (marked) this.source.mark(marked);
    [$("source").scrollTop, $("lists").scrollTop] = scrolled;
    $("lists").querySelector(`[data-key="${row}"]`)?.setAttribute("aria-current", "true");
    if ($("search").value) this.search($("search").value);
    this.redraw();
    if (node !== null) this.selectNode(node);
    else if (data.errors.length > 0 || !shown) this.begin();
  }

  /** The node that the address names (`#node-12`), the first error or what was proved is selected, or the first file shown. */
  begin() {
    const main = this.data.files.find((f) => this.data.places.some((p) => p[0] === f.name)) ?? this.data.files[0];
    if (main) this.source.show(main.name);
    const [, id] = /^#node-(\d+)$/.exec(location.hash) ?? [];
    const proved = this.data.loops.find((l) => l.line > 0 && l.invariants.length > 0);
    if (id && this.tree.find(Number(id)) >= 0) this.showNode(this.tree.find(Number(id)));
    else if (this.data.errors.length > 0) this.step(0);
    else if (proved) this.showLoop(proved);
    else if (this.data.contracts.length > 0) this.showContract(this.data.contracts[0]);
    else this.show("Selection", el("p", {}, "Select an error, a test, a line or a node of the tree."));
  }

  header() {
    const d = this.data;
    const f = d.statistics;
    $("command").textContent = `${d.command}   (in ${d.directory}, results in ${d.run}, Pleach ${d.version})`;
    const paths = f.paths.completed + f.paths.errored + f.paths.pruned;
    // The whole is known at the end of a run.
    const part = (n, all) => (d.live ? number(n) : `${number(n)} of ${number(all)}`);
    const statistics = [
      ["paths", "Paths", number(paths) + (f.complete ? " (all)" : "")],
      ["errors", "Errors", number(f.errors)],
      ["cut", "Cut", number(f.paths.cut)],
      ["pruned", "Pruned", number(f.paths.pruned)],
      ["merged", "Merged", number(f.paths.merged)],
      ["tests", "Tests", number(f.tests)],
      ["lines", "Lines", part(f.totals.lines_covered, f.totals.lines)],
      ["branches", "Branches", part(f.totals.branches_covered, f.totals.branches)],
      ["instructions", "Instructions", number(f.instructions)],
      ["forks", "Forks", number(f.forks)],
      ["states_peak", "States at most", number(f.states_peak)],
      ["elapsed", "Time", seconds(f.elapsed_us)],
      ["memory", "Memory", megabytes(f.memory_peak_bytes)],
    ];
    const optional = new Set(["pruned", "merged", "cut", ...(d.live ? ["branches"] : [])]);
    for (const [key, name, value] of statistics) {
      if (value === "0" && optional.has(key)) continue;
      $("statistics").append(el("div", {}, el("dt", {}, name), el("dd", { "data-statistic": key }, value)));
    }
    const notes = [
      ...d.assumptions.map((a) => `Assuming that ${a}.`),
      ...d.warnings.map((w) => `Warning: ${w}`),
      ...d.damage.map((w) => `Not everything could be read: ${w}`),
    ];
    const shown = notes.filter((note) => !d.text.includes(note));
    $("notes").append(...shown.map((note) => el("p", {}, note)));
  }

  legend() {
    STATUSES.forEach((status, s) => {
      if (s === INNER) return;
      let n = 0;
      for (let i = 0; i < this.tree.size; i++) if (this.tree.status[i] === s) n++;
      if (n === 0) return;
      const dot = el("span", { class: "dot", css: `--c: var(--${status.colour})` });
      const act = () => this.filter((i) => this.tree.status[i] === s, `${status.name}`, button);
      const props = { type: "button", onclick: act, "aria-pressed": "false" };
      const button = el("button", props, dot, `${status.name} ${number(n)}`);
      $("legend").append(button);
    });
  }

  nameOf(i) {
    const place = this.data.places[this.tree.place[i]];
    const at = place ? `${place[0].split("/").pop()}:${place[1]}` : "";
    return `${at || `node ${this.tree.id[i]}`}${this.tree.test[i] ? ` test ${this.tree.test[i]}` : ""}`;
  }

  /** Dims the nodes that do not match; what is shown is said. */
  filter(test, what, button) {
    for (const b of $("legend").children) b.setAttribute("aria-pressed", String(b === button));
    const { marks, found } = test ? this.tree.matching(test) : { marks: null, found: 0 };
    this.icicle.mark(marks);
    $("found").textContent = test ? `${count(found, "node")}: ${what}` : "";
    this.icicle.draw();
  }

  search(text) {
    text = text.trim();
    const { tree, data } = this;
    if (text === "") return this.filter(null);
    const test = /^test\s*0*(\d+)$/.exec(text);
    const node = /^(?:node|#)\s*(\d+)$/.exec(text);
    const line = /^(?:(.*):)?(\d+)$/.exec(text);
    const status = STATUSES.findIndex((s) => s.name === text);
    const places = data.places.map(
      ([file, n]) => (line ? Number(line[2]) === n && (!line[1] || file.endsWith(line[1])) : file.includes(text)),
    );
    if (test) this.filter((i) => tree.test[i] === Number(test[1]), text);
    else if (node) this.filter((i) => tree.id[i] === Number(node[1]), text);
    else if (status >= 0) this.filter((i) => tree.status[i] === status, text);
    else this.filter((i) => tree.place[i] >= 0 && places[tree.place[i]], line ? `at line ${text}` : `in ${text}`);
  }

  /** Replaces what is on the right. */
  show(title, ...parts) {
    $("detail").replaceChildren(el("h2", {}, title), ...parts.filter((p) => p));
  }

  showError(e) {
    this.current = this.data.errors.indexOf(e);
    this.show(
      `${e.kind}: ${e.message}`,
      el("pre", { class: e.report ? "report" : "" }, (e.report ?? "").trimEnd() || e.message),
      e.reproduce && el("p", {}, "Reproduce it natively:"),
      e.reproduce && el("pre", {}, e.reproduce),
      e.inputs && !e.report && el("h3", {}, "Input"),
      e.inputs && !e.report && this.inputs(e.inputs),
      el("h3", {}, "Calls, innermost first"),
      el("ol", {}, ...e.stack.map((f) => el("li", {}, this.frame(f)))),
      e.trace?.length > 0 ? this.traceOf(e.trace) : this.pathOf(e.node),
    );
    this.source.select(e.file, e.line);
    this.selectNode(e.node);
  }

  showTest(t) {
    this.show(`Test ${t.test}: ${t.outcome}`, el("h3", {}, "Input"), this.inputs(t.inputs), this.pathOf(t.node));
    const i = t.node === null ? -1 : this.tree.find(t.node);
    const place = i < 0 ? null : this.data.places[this.tree.place[i]];
    if (place) this.source.select(...place);
    this.selectNode(t.node);
  }

  showCut(c) {
    const nodes = new Set(c.nodes);
    const all = c.nodes.length === 0;
    const test = all ? (i) => STATUSES[this.tree.status[i]].name === "cut" : (i) => nodes.has(this.tree.id[i]);
    this.filter(test, all ? "cut" : `cut: ${c.detail || c.reason}`);
    const said = this.data.text.split("\n").filter((l) => c.detail && l.includes(c.detail));
    this.show(
      `Not explored to the end: ${c.reason}`,
      el("p", {}, `${count(c.count, "path")}${c.detail ? `: ${c.detail}` : ""}`),
      ...said.map((l) => el("p", {}, l.trim())),
    );
  }

  showTarget(t, file, line) {
    this.show(`${t.target}: ${t.result}`, el("p", {}, t.reason), t.replay && el("p", {}, t.replay));
    this.source.select(file, line);
    const test = this.data.tests.find((one) => one.test === t.test);
    this.selectNode(test ? test.node : null);
  }

  showLoop(l) {
    const one = (all, n) => el("pre", {}, `${l.invariants.length > 1 ? `invariant ${n + 1}` : "invariant"}:\n${all.join("\n") || "true"}`);
    this.source.select(l.file, l.line);
    this.show(
      `Loop at ${l.file}:${l.line} in ${l.function}`,
      el("p", {}, `Unrolled ${count(l.unrolled, "time")}, at most ${count(l.rounds, "round")} on one path.`),
      l.states > 0 && el("p", {}, `It was explored from each of its ${count(l.states, "state")}.`),
      l.invariants.length > 0
        ? el("p", {}, `At the start of each round, ${l.invariants.length > 1 ? "one of these" : "this"} holds:`)
        : el("p", {}, "No invariant was found."),
      ...l.invariants.map(one),
    );
  }

  showContract(c) {
    const all = (claims) => claims.join("\n") || "nothing";
    this.source.select(c.file, c.line);
    this.show(
      `\`${c.function}\` at ${c.file}:${c.line}`,
      el("p", {}, "Proved for every call, however deep the calls are:"),
      el("pre", {}, `requires:\n${all(c.requires)}`),
      el("pre", {}, `ensures:\n${all(c.ensures)}`),
    );
  }

  showLine(file, line, why) {
    this.source.select(file, line);
    const { tree, data } = this;
    const place = data.places.findIndex(([f, n]) => f === file && n === line);
    this.filter((i) => place >= 0 && tree.place[i] === place, `at ${file}:${line}`);
    const here = data.loops.filter((l) => l.file === file && l.line === line);
    const nodes = [];
    for (let i = 0; i < tree.size && nodes.length < 20; i++) {
      if (place >= 0 && tree.place[i] === place && data.interpolants[tree.id[i]]) nodes.push(i);
    }
    this.show(
      `${file}:${line}`,
      why && el("p", {}, why.sentence),
      ...here.flatMap((l) => l.invariants.map((all) => el("pre", {}, `loop invariant:\n${all.join("\n") || "true"}`))),
      ...nodes.map((i) => this.interpolant(i)),
    );
  }

  showNode(i) {
    const { tree } = this;
    const place = this.data.places[tree.place[i]];
    const test = tree.test[i] && this.data.tests.find((t) => t.test === tree.test[i]);
    const into = this.into.get(tree.id[i]);
    this.show(
      `Node ${tree.id[i]}`,
      el(
        "dl",
        {},
        ...this.term("status", STATUSES[tree.status[i]].name + (tree.tainted[i] ? ", a path below was cut" : "")),
        ...this.term("at", place ? this.link(`${place[0]}:${place[1]}`, ...place) : "unknown"),
        ...this.term("depth", number(tree.depth[i])),
        ...this.term("leaves", number(tree.leaves[i])),
        ...(into === undefined ? [] : this.term("merged into", this.nodeLink(into))),
        ...(test ? this.term(`test ${test.test}`, test.outcome) : []),
      ),
      this.interpolant(i),
      this.pathOf(tree.id[i]),
    );
    if (place) this.source.select(...place);
    this.selectNode(tree.id[i]);
  }

  frame(f) {
    const at = f.file ? `${f.file}:${f.line}` : "";
    return this.link(f.function && at ? `${f.function} at ${at}` : f.function || at, f.file, f.line);
  }

  term(name, value) {
    return [el("dt", {}, name), el("dd", {}, value)];
  }

  interpolant(i) {
    const found = this.data.interpolants[this.tree.id[i]];
    if (!found) return null;
    const conjuncts = found.conjuncts.join("\n") || "true";
    const text = found.none
      ? `no interpolant: ${found.none}`
      : `interpolant, subsumes every state here that satisfies:\n${conjuncts}`;
    const by = typeof found.by === "number" ? el("p", {}, "subsumed by ", this.nodeLink(found.by)) : null;
    return el("div", {}, el("h3", {}, `Node ${this.tree.id[i]}`), by, el("pre", {}, text));
  }

  nodeLink(id) {
    const go = () => this.tree.find(id) >= 0 && this.showNode(this.tree.find(id));
    return el("button", { type: "button", onclick: go }, `node ${id}`);
  }

  link(text, file, line) {
    return el("button", { type: "button", onclick: () => this.source.select(file, line) }, text);
  }

  inputs(all) {
    if (all.lines.length === 0) return el("p", {}, "none");
    const command = all.command ? [el("p", {}, "By hand:"), el("pre", {}, all.command)] : [];
    return el("div", {}, el("pre", {}, all.lines.join("\n")), ...command);
  }

  /** The path as places to step along. */
  pathOf(id) {
    const leaf = id === null || id === undefined ? -1 : this.tree.find(id);
    this.steps = [];
    this.at = -1;
    if (leaf < 0) return null;
    let before = -1;
    for (const i of this.tree.path(leaf)) {
      if (this.tree.place[i] < 0 || this.tree.place[i] === before) continue;
      before = this.tree.place[i];
      const id = this.tree.id[i];
      this.addStep(this.nameOf(i), () => {
        const at = this.tree.find(id);
        if (at < 0) return;
        this.source.select(...this.data.places[this.tree.place[at]]);
        this.icicle.linked = [at];
        this.icicle.draw();
      });
    }
    const shown = this.steps.slice(0, 2000).map((s) => el("li", {}, s.button));
    const title = `Path: ${count(this.steps.length, "place")} where it forked or was compared`;
    return el("div", {}, el("h3", {}, title), el("ol", {}, ...shown));
  }

  /** The path as lines to step along, each with the values that it changes. The last is the error's. */
  traceOf(trace) {
    this.steps = [];
    this.at = -1;
    const lines = trace.map((s) => {
      const text = this.data.files.find((f) => f.name === s.file)?.lines?.[s.line - 1] ?? "";
      const at = `${s.file.split("/").pop()}:${s.line}`;
      const button = this.addStep(el("span", {}, el("small", {}, at), ` ${text.trim()}`), () => this.source.select(s.file, s.line));
      const values = s.values.length > 0 ? el("div", { class: "values" }, s.values.join(", ")) : null;
      return el("li", { css: `--depth: ${Math.min(s.depth, 8)}` }, button, values);
    });
    return el("div", {}, el("h3", {}, "Path: its last lines, with the values that change"), el("ol", { class: "trace" }, ...lines));
  }

  /** One more place to step to. */
  addStep(text, act) {
    const n = this.steps.length;
    const button = el("button", { type: "button", onclick: () => this.stepTo(n) }, text);
    this.steps.push({ button, act });
    return button;
  }

  stepTo(n) {
    if (!this.steps || n < 0 || n >= this.steps.length) return;
    this.steps[this.at]?.button.removeAttribute("aria-current");
    this.at = n;
    const { act, button } = this.steps[n];
    button.setAttribute("aria-current", "true");
    act();
  }

  selectNode(id) {
    const i = id === null || id === undefined ? -1 : this.tree.find(id);
    const found = i >= 0 ? this.data.interpolants[id] : undefined;
    const by = found && typeof found.by === "number" ? this.tree.find(found.by) : -1;
    this.icicle.select(i, [by, i >= 0 && this.into.has(id) ? this.tree.find(this.into.get(id)) : -1]);
    if (i >= 0 && this.data.served) showState(id, (f) => this.frame(f));
    $("node").textContent = i < 0 ? "" : `Node ${id}: ${STATUSES[this.tree.status[i]].name}, ${this.nameOf(i)}`;
  }

  /** The next error, or the one before. */
  step(by) {
    const n = this.data.errors.length;
    if (n === 0) return;
    const next = ((this.current ?? 0) + by + n) % n;
    const error = this.data.errors[next];
    const row = $("lists").querySelector(`[data-key="error-${error.test}"]`);
    if (row) row.click();
    else this.showError(error);
  }

  cost() {
    const { cost } = this.data;
    const at = (file, line) => this.link(`${file.split("/").pop()}:${line}`, file, line);
    const states = cost.states.map(([file, line, forks, ends]) => [at(file, line), number(forks), number(ends)]);
    this.table("States by line", ["line", "forks", "ends"], states);
    this.table(
      "Solver time by line",
      ["line", "queries", "time"],
      cost.lines.map((l) => [at(l.file, l.line), number(l.queries), seconds(l.time_us)]),
    );
    this.table("Queries were answered by", ["", ""], cost.answered.map(([who, n]) => [who, number(n)]));
    const used = (all) => Object.entries(all).filter(([, n]) => n > 0);
    this.table("Time by component", ["", ""], used(cost.components).map(([k, v]) => [k, seconds(v)]));
    for (const [title, key] of [["Pruning", "pruning"], ["Merging", "merging"], ["Memory", "memory"]]) {
      this.table(title, ["", ""], used(cost[key]).map(([k, v]) => [k, number(v)]));
    }
  }

  table(title, head, rows) {
    if (rows.length === 0) return;
    const cell = (c, i) => el("td", { class: i > 0 ? "num" : "" }, c);
    const all = head.some((h) => h) ? [head, ...rows] : rows;
    $("cost").append(el("table", {}, el("caption", {}, title), ...all.map((r) => el("tr", {}, ...r.map(cell)))));
  }

  redraw() {
    readColours();
    this.icicle.draw();
    this.drawCharts();
  }

  listen() {
    $("search").addEventListener("input", () => this.search($("search").value));
    $("clear").addEventListener("click", () => {
      $("search").value = "";
      this.filter(null);
    });
    $("whole").addEventListener("click", () => (this.icicle.whole(), this.icicle.draw()));
    window.addEventListener("resize", () => (this.icicle.whole(), this.redraw()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    document.addEventListener("keydown", (e) => {
      if (["INPUT", "SELECT"].includes(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
      const keys = {
        "/": () => $("search").focus(),
        n: () => this.step(1),
        p: () => this.step(-1),
        "]": () => this.stepTo(this.at + 1),
        "[": () => this.stepTo(this.at - 1),
      };
      // Lines of the source, where it has the focus.
      if (e.target === $("source")) {
        keys.ArrowDown = () => this.source.walk(1);
        keys.ArrowUp = () => this.source.walk(-1);
      }
      if (!(e.key in keys)) return;
      e.preventDefault();
      keys[e.key]();
    });
  }
}

window.page = new Page();
