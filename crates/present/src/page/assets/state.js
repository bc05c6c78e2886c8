// The state at a node, as the server re-executes it: the stack and the objects as boxes with arrows, the path constraint.

/** Fills the pane with the state at a node, unless it shows that already. `frame` makes a link of a place. */
function showState(id, frame) {
  const pane = $("state");
  if (pane.dataset.node === String(id)) return;
  pane.dataset.node = id;
  pane.hidden = false;
  const fill = (...parts) => {
    // Another node may have been selected meanwhile.
    if (pane.dataset.node === String(id)) pane.replaceChildren(el("h2", {}, `State at node ${id}`), ...parts);
  };
  fill(el("p", {}, "re-executing …"));
  fetch(`api/node/${id}`)
    .then((answer) => answer.json())
    .then((state) => {
      fill(...stateParts(state, frame));
      drawArrows(pane.querySelector(".heap"));
    })
    .catch((why) => fill(el("p", {}, String(why))));
}

function stateParts(state, frame) {
  if (state.problem) return [el("p", {}, `This node cannot be re-executed: ${state.problem}.`)];
  const parts = [];
  if (state.end) parts.push(el("p", {}, `The path ends here: ${state.end}`));
  parts.push(el("div", { class: "heap", tabindex: 0 }, ...columns(state, frame).map((boxes) => el("div", {}, ...boxes))));
  if (state.more_objects > 0) parts.push(el("p", {}, `${count(state.more_objects, "more object")}`));
  parts.push(el("h4", {}, "Path constraint"), el("pre", {}, state.constraint.join("\n") || "true"));
  return parts;
}

/** Boxes by column: the stack, then the objects by the number of pointers that lead to them. */
function columns(state, frame) {
  const frames = state.stack.map((f) => frameBox(f, frame));
  const objects = new Map(state.objects.map((o) => [o.id, o]));
  const all = [frames];
  let next = state.stack.flatMap((f) => f.variables).map((v) => v.object);
  while (objects.size > 0) {
    // An object that nothing shown leads to is in the last column.
    const found = [...new Set(next)].filter((id) => objects.has(id));
    const ids = found.length > 0 ? found : [...objects.keys()];
    const here = ids.map((id) => objects.get(id));
    ids.forEach((id) => objects.delete(id));
    next = here.flatMap((o) => o.cells).map((c) => c.object);
    all.push(here.map(objectBox));
  }
  return all;
}

function frameBox(f, frame) {
  const rows = f.variables.map((v) => el("tr", {}, el("td", {}, v.name), valueCell(v)));
  return el("table", { class: "object frame" }, el("caption", {}, frame(f)), ...rows);
}

function objectBox(o) {
  const rows = o.cells.map((c) => el("tr", {}, el("td", { class: "offset" }, `+${c.offset}`), valueCell(c)));
  const title = el("caption", {}, o.name, el("small", {}, `${o.kind}, ${o.size}${o.freed ? ", freed" : ""}`));
  if (o.freed) rows.push(el("tr", {}, el("td", {}, "freed")));
  return el("table", { class: o.freed ? "object freed" : "object", id: `object-${o.id}` }, title, ...rows);
}

/** A value; one that points to a box goes there. */
function valueCell(v) {
  if (v.object === null || v.object === undefined) return el("td", {}, v.value);
  const go = () => $(`object-${v.object}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  return el("td", {}, el("button", { type: "button", onclick: go, "data-to": v.object }, v.value));
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** An arrow from each pointer to its box, above the boxes. */
function drawArrows(heap) {
  if (!heap) return;
  const head = svg("path", { d: "M0 0 L8 4 L0 8 z" });
  const marker = { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  const picture = svg("svg", { class: "arrows", "aria-hidden": "true" }, svg("defs", {}, svg("marker", marker, head)));
  const origin = heap.getBoundingClientRect();
  const at = (box) => ({
    left: box.left - origin.left + heap.scrollLeft,
    right: box.right - origin.left + heap.scrollLeft,
    top: box.top - origin.top + heap.scrollTop,
    height: box.height,
  });
  for (const button of heap.querySelectorAll("[data-to]")) {
    const target = $(`object-${button.dataset.to}`);
    if (!target) continue;
    const from = at(button.getBoundingClientRect());
    const to = at(target.getBoundingClientRect());
    picture.append(svg("path", { class: "arrow", d: arrow(from, to), "marker-end": "url(#head)" }));
  }
  picture.setAttribute("width", heap.scrollWidth);
  picture.setAttribute("height", heap.scrollHeight);
  heap.append(picture);
}

/** To a box on the right from its left; to one below or on the left around on the right. */
function arrow(from, to) {
  const [x, y] = [from.right, from.top + from.height / 2];
  const into = to.top + Math.min(10, to.height / 2);
  if (to.left > x) {
    const bend = Math.max(14, (to.left - x) / 2);
    return `M${x} ${y} C${x + bend} ${y} ${to.left - bend} ${into} ${to.left} ${into}`;
  }
  const side = Math.max(x, to.right) + 22;
  return `M${x} ${y} C${side} ${y} ${side} ${into} ${to.right} ${into}`;
}
