// A run that is under way: the page asks its server how far it is, and shows that.

/** Pause between two requests: a second, and more where answers take long. */
const PAUSE = { least: 1000, times: 8 };

/** Follows the run until it ends. `page` is updated where something is new. */
async function follow(page) {
  const state = $("live");
  for (let seen = ""; page.data.live; ) {
    state.textContent = "under way";
    const asked = performance.now();
    await new Promise((wake) => setTimeout(wake, follow.pause ?? PAUSE.least));
    try {
      const now = await (await fetch("api/run")).json();
      const key = JSON.stringify(now);
      if (key !== seen) {
        const { data, tree } = await (await fetch("api/data")).json();
        page.update(data, tree);
        seen = key;
      }
    } catch {
      state.textContent = "the server has ended";
      return;
    }
    const took = performance.now() - asked - (follow.pause ?? PAUSE.least);
    follow.pause = Math.max(PAUSE.least, PAUSE.times * took);
  }
  state.textContent = follow.pause ? "ended" : "";
}
