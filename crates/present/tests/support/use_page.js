// Uses the page as a person does, and writes down what is to be seen.
{
  const seen = { size: page.tree.size };
  const line = () => document.querySelector("#source .selected .n")?.textContent;
  const node = () => (page.icicle.selected < 0 ? null : page.tree.id[page.icicle.selected]);
  const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
  seen.line = line();
  seen.node = node();
  seen.detail = $("detail").textContent;
  seen.statistics = Object.fromEntries([...document.querySelectorAll("[data-statistic]")].map((e) => [e.dataset.statistic, e.textContent]));
  document.querySelector("[data-key='test-1']").click();
  seen.afterTest = node();
  [...document.querySelectorAll("#lists .row")].find((r) => r.textContent.includes("external-call")).click();
  seen.cut = $("found").textContent;
  $("search").value = "subsumed";
  $("search").dispatchEvent(new Event("input"));
  seen.found = $("found").textContent;
  key($("icicle"), "ArrowUp");
  key($("icicle"), "ArrowDown");
  seen.afterKeys = node();
  key(document.body, "n");
  key(document.body, "]");
  seen.step = line();
  page.showLine("a.c", 3);
  seen.atLine = $("detail").textContent;
  const box = $("icicle").getBoundingClientRect();
  seen.clicked = page.tree.id[page.icicle.at(box.width / 2, 2)];
  key(document.body, "n");
  const panel = $("detail").textContent;
  const changed = { ...page.data, statistics: { ...page.data.statistics, instructions: 2000000 } };
  page.update(changed, $("tree").textContent);
  const instructions = document.querySelector("[data-statistic=instructions]").textContent;
  const heading = document.querySelector("#lists h3").textContent;
  seen.updated = [instructions, line(), node(), $("detail").textContent === panel, heading];
  page.icicle.whole();
  // From the bytes to the picture.
  const start = Date.now();
  const tree = new Tree(Uint8Array.from(atob($("tree").textContent), (c) => c.charCodeAt(0)), page.data.treeCount);
  new Icicle($("icicle"), tree, () => "", () => {}).draw();
  seen.paint = Date.now() - start;
  seen.troubles = troubles;
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = JSON.stringify(seen);
  document.body.append(pre);
}
