// Small charts of one quantity over time.

function chart(title, times, values, show) {
  const canvas = el("canvas", { role: "img", "aria-label": title });
  const value = el("span", {}, show(values[values.length - 1]));
  const figure = el("figure", {}, el("figcaption", {}, el("span", {}, title), value), canvas);
  const end = Math.max(1, times[times.length - 1]);
  const top = Math.max(1, ...values);
  const draw = (marked) => {
    const [context, width, height] = prepare(canvas);
    const x = (i) => (times[i] / end) * (width - 8) + 4;
    const y = (i) => height - 16 - (values[i] / top) * (height - 24);
    context.strokeStyle = colour("line");
    context.strokeRect(4, height - 16, width - 8, 0);
    context.strokeStyle = colour("accent");
    context.lineWidth = 1.5;
    context.beginPath();
    values.forEach((_, i) => (i === 0 ? context.moveTo(x(i), y(i)) : context.lineTo(x(i), y(i))));
    context.stroke();
    context.fillStyle = colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.fillText("0", 4, height - 3);
    const label = seconds(end);
    context.fillText(label, width - 4 - context.measureText(label).width, height - 3);
    if (marked === undefined) return;
    context.fillStyle = colour("accent");
    context.beginPath();
    context.arc(x(marked), y(marked), 3.5, 0, 7);
    context.fill();
  };
  canvas.addEventListener("pointermove", (e) => {
    const time = ((e.offsetX - 4) / (canvas.clientWidth - 8)) * end;
    let nearest = 0;
    times.forEach((t, i) => {
      if (Math.abs(t - time) < Math.abs(times[nearest] - time)) nearest = i;
    });
    value.textContent = `${show(values[nearest])} after ${seconds(times[nearest])}`;
    draw(nearest);
  });
  canvas.addEventListener("pointerleave", () => {
    value.textContent = show(values[values.length - 1]);
    draw();
  });
  return [figure, draw];
}

/** All charts; what draws them again. */
function charts(samples) {
  // A run of a moment has one sample, and nothing to draw.
  if (new Set(samples.elapsed_us).size < 3) return () => {};
  const drawn = [
    ["Covered lines", samples.covered_lines, number],
    ["States alive", samples.states, number],
    ["Memory", samples.memory_bytes, megabytes],
    ["Paths ended", samples.paths, number],
  ].map(([title, values, show]) => chart(title, samples.elapsed_us, values, show));
  $("time").append(...drawn.map(([figure]) => figure));
  return () => drawn.forEach(([, draw]) => draw());
}
