// The tree as an icicle: the root on top, a node as wide as its leaves. Subtrees narrower than a pixel are drawn as
// one column with a share for each status, so that the cost of a picture is that of its pixels, not of its nodes.

const ROW = 20;
const NAMED_FROM = 46;
/** The order of statuses in a column, errors last: they have a pixel, however few they are. */
const STACKED = [1, 2, 5, 6, 0, 4, 3];

class Icicle {
  constructor(canvas, tree, describe, onSelect) {
    Object.assign(this, { canvas, tree, describe, onSelect });
    this.selected = -1;
    this.linked = [];
    this.mark(null);
    this.onPath = new Set();
    this.whole();
    this.listen();
  }

  /** Another tree, of which this one may be a part: zoomed as before if a node is selected. */
  replace(tree) {
    const zoomed = this.scaleX > this.fitX && this.selected >= 0;
    const [scaleX, row] = [this.scaleX, this.row];
    Object.assign(this, { tree, selected: -1, linked: [], onPath: new Set() });
    this.mark(null);
    this.whole();
    if (zoomed) Object.assign(this, { scaleX: Math.max(this.fitX, scaleX), row: Math.max(this.fitY, row) });
  }

  /** Shows the marked nodes and dims the others; all without marks. */
  mark(marks) {
    this.marks = marks;
    const { tree } = this;
    this.sums = tree.countStatuses(marks ? (i) => marks[i] >= 2 : (i) => tree.status[i] !== INNER);
  }

  /** Zooms out. A tree of few levels needs less room. */
  whole() {
    this.canvas.style.height = `${Math.min(250, Math.max(80, this.tree.height * ROW + 4))}px`;
    const { width, height } = this.canvas.getBoundingClientRect();
    this.fitX = width / this.tree.width;
    this.fitY = Math.min(ROW, height / this.tree.height);
    Object.assign(this, { x: 0, y: 0, scaleX: this.fitX, row: this.fitY });
  }

  draw() {
    const [context, width, height] = prepare(this.canvas);
    Object.assign(this, { context, width, height });
    context.fillStyle = colour("back");
    context.fillRect(0, 0, width, height);
    this.column = { x: -1 };
    const { tree } = this;
    for (let i = 0; i < tree.size; ) i = this.drawNode(i);
    this.flushColumn();
    for (const i of this.linked) this.frame(i, colour("accent"), 1);
    if (this.selected >= 0) this.frame(this.selected, colour("text"), 2);
  }

  /** Draws a node, or a whole subtree; where to go on. */
  drawNode(i) {
    const { tree } = this;
    const x = (tree.left[i] - this.x) * this.scaleX;
    const w = tree.leaves[i] * this.scaleX;
    const y = (tree.depth[i] - this.y) * this.row;
    if (x + w < 0 || x > this.width || y > this.height) return tree.end[i];
    if (w < 1.2) {
      this.addToColumn(i, Math.floor(x), y, (tree.deepest[i] + 1 - this.y) * this.row);
      return tree.end[i];
    }
    // Of rows thinner than a pixel only the first of a pixel is drawn.
    const thin = this.row < 1 && tree.status[i] === INNER && Math.floor(y) === Math.floor(y - this.row);
    if (!thin && y + this.row >= 0) this.drawBox(i, x, y, w);
    return i + 1;
  }

  drawBox(i, x, y, w) {
    const { context, tree } = this;
    const gap = w > 3 ? 1 : 0;
    const from = Math.max(0, x);
    const to = Math.min(this.width, x + w);
    this.paint(this.marks === null ? 2 : this.marks[i], tree.status[i], this.onPath.has(i));
    context.fillRect(from, y, to - from - gap, Math.max(1, this.row - (this.row > 3 ? 1 : 0)));
    context.globalAlpha = 1;
    if (to - from >= NAMED_FROM && this.row >= 13) this.name(i, from, y, to - from);
  }

  name(i, x, y, w) {
    const { context } = this;
    context.fillStyle = this.tree.status[i] === INNER && !this.onPath.has(i) ? colour("text") : colour("back");
    context.font = "11px ui-monospace, monospace";
    const text = this.describe(i);
    const room = Math.floor((w - 8) / 6.7);
    context.fillText(text.length > room ? text.slice(0, Math.max(0, room - 1)) + "…" : text, x + 4, y + this.row - 6);
  }

  paint(mark, status, onPath) {
    this.context.fillStyle = colour(onPath && status === INNER ? "accent" : STATUSES[status].colour);
    this.context.globalAlpha = mark === 0 ? 0.12 : mark === 1 && status === INNER ? 0.6 : 1;
  }

  /** Subtrees of one column of pixels are drawn together; in preorder they are one range. */
  addToColumn(i, x, top, bottom) {
    const c = this.column;
    if (c.x !== x) {
      this.flushColumn();
      this.column = { x, top, bottom, from: i, to: this.tree.end[i] };
    } else {
      c.top = Math.min(c.top, top);
      c.bottom = Math.max(c.bottom, bottom);
      c.to = this.tree.end[i];
    }
  }

  flushColumn() {
    const { x, top, bottom, from, to } = this.column;
    if (x < 0) return;
    const { context } = this;
    const shares = STACKED.map((s) => this.sums[s][to] - this.sums[s][from]);
    const all = shares.reduce((a, b) => a + b, 0);
    const height = Math.max(1, bottom - top);
    if (all === 0) {
      this.paint(0, INNER, false);
      context.fillRect(x, top, 1, height);
      context.globalAlpha = 1;
      return;
    }
    let left = all;
    STACKED.forEach((s, k) => {
      if (shares[k] === 0) return;
      const h = Math.max(1, (height * left) / all);
      context.fillStyle = colour(STATUSES[s].colour);
      context.fillRect(x, top + height - h, 1, h);
      left -= shares[k];
    });
  }

  frame(i, stroke, thickness) {
    const { tree, context } = this;
    const x = (tree.left[i] - this.x) * this.scaleX;
    const w = Math.max(3, tree.leaves[i] * this.scaleX);
    context.strokeStyle = stroke;
    context.lineWidth = thickness;
    context.strokeRect(x, (tree.depth[i] - this.y) * this.row, w, Math.max(3, this.row));
  }

  /** The node at a point, or -1. */
  at(px, py) {
    const { tree } = this;
    const leaf = px / this.scaleX + this.x;
    const depth = Math.floor(py / this.row + this.y);
    let i = this.among(0, tree.size, leaf);
    while (i >= 0 && tree.depth[i] < depth) i = this.among(i + 1, tree.end[i], leaf);
    return i;
  }

  /** Which of the neighbours in a range has the leaf below it, or -1. */
  among(from, to, leaf) {
    const { tree } = this;
    for (let i = from; i < to; i = tree.end[i]) if (leaf < tree.left[i] + tree.leaves[i]) return i;
    return -1;
  }

  select(i, linked = []) {
    this.selected = i;
    this.linked = linked.filter((j) => j >= 0);
    this.onPath = new Set(i < 0 ? [] : this.tree.path(i));
    if (i >= 0) this.reveal(i);
    this.draw();
  }

  /** Pans to a node that is outside. */
  reveal(i) {
    const { tree } = this;
    const { width, height } = this.canvas.getBoundingClientRect();
    const [x, y] = [(tree.left[i] - this.x) * this.scaleX, (tree.depth[i] - this.y) * this.row];
    const w = tree.leaves[i] * this.scaleX;
    if (x + w < 4 || x > width - 4) this.x = tree.left[i] + tree.leaves[i] / 2 - width / 2 / this.scaleX;
    if (y < 0 || y + this.row > height) this.y = tree.depth[i] - height / 2 / this.row;
    this.stayInside();
  }

  zoomTo(i) {
    const { width } = this.canvas.getBoundingClientRect();
    this.scaleX = Math.max(this.fitX, width / this.tree.leaves[i]);
    this.row = ROW;
    this.x = this.tree.left[i];
    this.y = Math.max(0, this.tree.depth[i] - 2);
    this.stayInside();
    this.draw();
  }

  zoom(factor, px, py) {
    const [leaf, depth] = [px / this.scaleX + this.x, py / this.row + this.y];
    this.scaleX = Math.min(Math.max(this.fitX, this.scaleX * factor), Math.max(this.fitX, 400));
    this.row = Math.min(Math.max(this.fitY, this.row * factor), ROW);
    this.x = leaf - px / this.scaleX;
    this.y = depth - py / this.row;
    this.stayInside();
    this.draw();
  }

  stayInside() {
    const { width, height } = this.canvas.getBoundingClientRect();
    this.x = Math.max(0, Math.min(this.x, this.tree.width - width / this.scaleX));
    this.y = Math.max(0, Math.min(this.y, this.tree.height - height / this.row));
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("pointerdown", (e) => {
      drag = { x: e.offsetX, y: e.offsetY, moved: false };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return this.hover(e);
      const [dx, dy] = [e.offsetX - drag.x, e.offsetY - drag.y];
      if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      this.x -= dx / this.scaleX;
      this.y -= dy / this.row;
      this.stayInside();
      drag = { x: e.offsetX, y: e.offsetY, moved: true };
      this.draw();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) this.choose(this.at(e.offsetX, e.offsetY));
      drag = null;
    });
    canvas.addEventListener("dblclick", (e) => {
      const i = this.at(e.offsetX, e.offsetY);
      if (i >= 0) this.zoomTo(i);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }

  hover(e) {
    const i = this.at(e.offsetX, e.offsetY);
    this.canvas.title = i < 0 ? "" : `${this.describe(i)} (${STATUSES[this.tree.status[i]].name})`;
  }

  choose(i) {
    if (i >= 0) this.onSelect(i);
  }

  key(e) {
    const { tree } = this;
    const i = Math.max(0, this.selected);
    const siblings = () => (tree.parent[i] < 0 ? [0] : tree.children(tree.parent[i]));
    const { width, height } = this.canvas.getBoundingClientRect();
    const keys = {
      ArrowUp: () => this.choose(tree.parent[i] < 0 ? i : tree.parent[i]),
      ArrowDown: () => this.choose(i + 1 < tree.end[i] ? i + 1 : i),
      ArrowLeft: () => this.choose(siblings()[Math.max(0, siblings().indexOf(i) - 1)]),
      ArrowRight: () => this.choose(siblings()[siblings().indexOf(i) + 1] ?? i),
      "+": () => this.zoom(1.5, width / 2, height / 2),
      "-": () => this.zoom(1 / 1.5, width / 2, height / 2),
      0: () => (this.whole(), this.draw()),
      Enter: () => this.zoomTo(i),
    };
    if (!(e.key in keys) || e.ctrlKey || e.metaKey || tree.size === 0) return;
    e.preventDefault();
    keys[e.key]();
  }
}
