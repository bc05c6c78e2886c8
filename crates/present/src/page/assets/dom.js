// Small helpers. Text of the run goes on the page as text, never as markup.

const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
function el(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else if (key === "css") element.style.cssText = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

const colours = {};

/** A colour of the style sheet, for canvases. */
function colour(name) {
  return colours[name];
}

/** Reads the colours anew, as after a change between light and dark. */
function readColours() {
  const probe = el("span");
  document.body.append(probe);
  for (const name of ["back", "panel", "text", "soft", "line", "accent", ...STATUSES.map((s) => s.colour)]) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

const number = (n) => n.toLocaleString("en-US");
const short = (n) => (n < 10000 ? String(n) : n < 1e6 ? `${Math.floor(n / 1e3)}k` : `${(n / 1e6).toFixed(1)}M`);
const count = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
const seconds = (us) => (us < 1e6 ? `${Math.round(us / 1e3)} ms` : `${(us / 1e6).toFixed(1)} s`);
const megabytes = (bytes) => `${number(Math.round(bytes / (1 << 20)))} MB`;
const percent = (part, whole) => (whole === 0 ? "–" : `${Math.floor((100 * part) / whole)}%`);

/** A canvas in device pixels; returns its context in CSS pixels, and its size. */
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [context, width, height];
}
