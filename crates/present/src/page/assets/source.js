// The source with counts per line and branch, and why a line was not executed.

const KEYWORDS =
  "auto break case char const continue default do double else enum extern float for goto if inline int long register " +
  "return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool bool true false " +
  "class namespace template typename using new delete public private fn let mut match impl pub use mod trait unsafe";
const TOKEN = new RegExp(
  [
    String.raw`(?<c>\/\/.*|\/\*.*?(?:\*\/|$))`,
    String.raw`(?<s>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)+')`,
    `(?<k>\\b(?:${KEYWORDS.split(" ").join("|")})\\b|^\\s*#\\s*\\w+)`,
  ].join("|"),
  "g",
);

/** The line as elements; `inside` says whether a comment began above. */
function highlight(text, inside) {
  const parts = [];
  let at = 0;
  if (inside) {
    const end = text.indexOf("*/");
    at = end < 0 ? text.length : end + 2;
    parts.push(el("span", { class: "c" }, text.slice(0, at)));
    inside = end < 0;
  }
  TOKEN.lastIndex = at;
  for (let m; (m = TOKEN.exec(text)); ) {
    parts.push(text.slice(at, m.index));
    const kind = Object.keys(m.groups).find((k) => m.groups[k] !== undefined);
    parts.push(el("span", { class: kind }, m[0]));
    at = TOKEN.lastIndex;
    if (kind === "c" && m[0].startsWith("/*") && !m[0].endsWith("*/")) inside = true;
  }
  parts.push(text.slice(at));
  return [parts, inside];
}

class Source {
  constructor(data, onLine) {
    this.data = data;
    this.onLine = onLine;
    this.rows = new Map();
    this.why = new Map(data.why.map((w) => [w.key, w]));
    this.errors = new Set(data.errors.map((e) => `${e.file}:${e.line}`));
    $("file").replaceChildren(...data.files.map((file) => el("option", {}, file.name)));
    $("file").onchange = () => this.show($("file").value);
  }

  has(name) {
    return this.data.files.some((f) => f.name === name);
  }

  show(name) {
    const file = this.data.files.find((f) => f.name === name);
    if (!file || file.name === this.shown) return;
    this.shown = $("file").value = file.name;
    this.rows.clear();
    const counts = Object.values(file.counts);
    const taken = Object.values(file.branches).flat();
    const hit = (all) => all.filter((n) => n > 0).length;
    const covered =
      `${hit(counts)} of ${count(counts.length, "line")}, ` +
      `${hit(taken.map((b) => b[1]))} of ${count(taken.length, "branch direction")} covered`;
    $("coverage").textContent = this.data.live ? "counts come at the end of the run" : covered;
    const body = el("tbody");
    let inside = false;
    const last = Math.max(0, ...Object.keys(file.counts).map(Number));
    const lines = file.lines ?? Array.from({ length: last }, () => "");
    lines.forEach((text, i) => {
      const [parts, still] = highlight(text, inside);
      inside = still;
      const row = this.row(file, i + 1, parts);
      this.rows.set(i + 1, row);
      body.append(row);
    });
    const missing = file.lines ? "" : "The file cannot be read here any more; lines are shown without their text.";
    $("source").replaceChildren(el("p", { class: "why" }, missing), el("table", {}, body));
    if (!missing) $("source").firstChild.remove();
  }

  row(file, line, parts) {
    const n = file.counts[line];
    const why = this.why.get(file.why[line]);
    const kind = n === undefined ? "" : n > 0 ? "hit" : why?.label === "unreachable" ? "unreachable" : "miss";
    const error = this.errors.has(`${file.name}:${line}`) ? " has-error" : "";
    return el(
      "tr",
      { class: kind + error, title: why?.sentence ?? "", onclick: () => this.onLine(file.name, line, why) },
      el("td", { class: "n" }, String(line)),
      el("td", { class: why ? "why" : "count" }, n === undefined ? "" : n > 0 ? number(n) : (why?.label ?? "–")),
      el("td", { class: "count" }, ...this.branches(file.branches[line])),
      el("td", {}, ...parts),
    );
  }

  /** Counts of the directions of each branch of a line: `5|0`. */
  branches(all) {
    if (!all) return [];
    const blocks = new Map();
    for (const [block, n] of all) blocks.set(block, [...(blocks.get(block) ?? []), n]);
    const parts = [];
    for (const directions of blocks.values()) {
      if (parts.length > 0) parts.push(" ");
      directions.forEach((n, i) => {
        if (i > 0) parts.push("|");
        const title = `direction ${i} taken ${count(n, "time")}`;
        parts.push(el("span", { class: n > 0 ? "" : "b0", title }, short(n)));
      });
    }
    return parts;
  }

  /** Selects the next or the previous line. */
  walk(by) {
    const line = (this.marked ?? 0) + by;
    const why = this.why.get(this.data.files.find((f) => f.name === this.shown)?.why[line]);
    if (this.rows.has(line)) this.onLine(this.shown, line, why);
  }

  /** Marks a line of the file that is shown, and returns its row. */
  mark(line) {
    this.marked = line;
    const row = this.rows.get(line);
    row?.classList.add("selected");
    return row;
  }

  select(name, line) {
    if (!this.has(name)) return;
    this.show(name);
    for (const row of $("source").querySelectorAll(".selected")) row.classList.remove("selected");
    const row = this.mark(line);
    if (!row) return;
    // Only the source: `scrollIntoView` would move the whole page, and the result out of sight.
    const pane = $("source");
    const top = row.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
    pane.scrollTop = top - (pane.clientHeight - row.offsetHeight) / 2;
  }
}
