// The state at a node, as the server re-executes it: stack, variables, objects, path constraint.

/** A panel that fills itself. `frame` makes a link of a place. */
function statePanel(id, frame) {
  const panel = el("div", { id: "state", "data-node": id }, el("h3", {}, "State"), el("p", {}, "re-executing …"));
  fetch(`api/node/${id}`)
    .then((answer) => answer.json())
    .then((state) => panel.replaceChildren(el("h3", {}, "State"), ...stateParts(state, frame)))
    .catch((why) => panel.replaceChildren(el("h3", {}, "State"), el("p", {}, String(why))));
  return panel;
}

function stateParts(state, frame) {
  if (state.problem) return [el("p", {}, `This node cannot be re-executed: ${state.problem}.`)];
  const parts = [];
  if (state.end) parts.push(el("p", {}, `The path ends here: ${state.end}`));
  for (const f of state.stack) {
    const rows = f.variables.map((v) => el("tr", {}, el("td", {}, v.name), el("td", {}, valueCell(v))));
    parts.push(el("p", {}, frame(f)), el("table", { class: "variables" }, ...rows));
  }
  if (state.objects.length > 0) parts.push(el("h4", {}, "Objects"), objectBoxes(state.objects));
  if (state.more_objects > 0) parts.push(el("p", {}, `${count(state.more_objects, "more object")}`));
  parts.push(el("h4", {}, "Path constraint"), el("pre", {}, state.constraint.join("\n") || "true"));
  return parts;
}

/** A value; one that points to a box goes there. */
function valueCell(v) {
  if (v.object === null || v.object === undefined) return v.value;
  const go = () => $(`object-${v.object}`)?.scrollIntoView({ block: "nearest" });
  return el("button", { type: "button", onclick: go, "data-to": v.object }, `${v.value} →`);
}

function objectBoxes(objects) {
  const box = (o) => {
    const cells = o.cells.map((c) => el("tr", {}, el("td", {}, `+${c.offset}`), el("td", {}, valueCell(c))));
    const title = el("caption", {}, `${o.name}: ${o.kind}, ${o.size}`);
    return el("table", { class: "object", id: `object-${o.id}` }, title, ...cells);
  };
  return el("div", { class: "objects" }, ...objects.map(box));
}
