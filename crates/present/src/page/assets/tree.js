// The execution tree: typed arrays in preorder, so that a subtree is a range.

/** By number in the run's tree. */
const STATUSES = [
  { name: "live", colour: "live" },
  { name: "inner", colour: "inner" },
  { name: "completed", colour: "completed" },
  { name: "error", colour: "errored" },
  { name: "cut", colour: "cut" },
  { name: "subsumed", colour: "subsumed" },
  { name: "merged", colour: "merged" },
];
const INNER = 1;

class Tree {
  constructor(bytes, size) {
    this.size = size;
    this.parent = new Int32Array(size);
    this.id = new Uint32Array(size);
    this.status = new Uint8Array(size);
    this.tainted = new Uint8Array(size);
    this.place = new Int32Array(size);
    this.test = new Uint32Array(size);
    this.decode(bytes);
    this.layOut();
    this.index = null;
  }

  decode(bytes) {
    let at = 0;
    const next = () => {
      let value = 0;
      let scale = 1;
      for (;;) {
        const byte = bytes[at++];
        value += (byte & 127) * scale;
        if (byte < 128) return value;
        scale *= 128;
      }
    };
    let id = 0;
    for (let i = 0; i < this.size; i++) {
      const back = next();
      this.parent[i] = back === 0 ? -1 : i - back;
      const step = next();
      id += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
      this.id[i] = id;
      const flags = next();
      this.status[i] = flags & 7;
      this.tainted[i] = flags >> 3;
      this.place[i] = next() - 1;
      this.test[i] = next();
    }
  }

  /** Width in leaves, place from the left, depth, end of the subtree, deepest level below. */
  layOut() {
    const n = this.size;
    this.leaves = new Uint32Array(n);
    this.left = new Uint32Array(n);
    this.depth = new Uint32Array(n);
    this.end = new Uint32Array(n);
    this.deepest = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      this.depth[i] = this.parent[i] < 0 ? 0 : this.depth[this.parent[i]] + 1;
    }
    for (let i = n - 1; i >= 0; i--) {
      this.leaves[i] = Math.max(1, this.leaves[i]);
      this.end[i] = Math.max(i + 1, this.end[i]);
      this.deepest[i] = Math.max(this.depth[i], this.deepest[i]);
      const p = this.parent[i];
      if (p < 0) continue;
      this.leaves[p] += this.leaves[i];
      this.end[p] = Math.max(this.end[p], this.end[i]);
      this.deepest[p] = Math.max(this.deepest[p], this.deepest[i]);
    }
    let roots = 0;
    const used = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      const p = this.parent[i];
      this.left[i] = p < 0 ? roots : this.left[p] + used[p];
      if (p < 0) roots += this.leaves[i];
      else used[p] += this.leaves[i];
    }
    this.width = Math.max(1, roots);
    this.height = n === 0 ? 1 : this.deepest.reduce((a, b) => Math.max(a, b), 0) + 1;
  }

  /** The place in the arrays of the node with this number, or -1. */
  find(id) {
    if (!this.index) {
      this.index = new Map();
      for (let i = 0; i < this.size; i++) this.index.set(this.id[i], i);
    }
    return this.index.has(id) ? this.index.get(id) : -1;
  }

  children(i) {
    const all = [];
    for (let c = i + 1; c < this.end[i]; c = this.end[c]) all.push(c);
    return all;
  }

  /** From the root to the node. */
  path(i) {
    const path = [];
    for (; i >= 0; i = this.parent[i]) path.push(i);
    return path.reverse();
  }

  /** For each node whether it or one below it matches. */
  matching(test) {
    const marks = new Uint8Array(this.size);
    let found = 0;
    for (let i = this.size - 1; i >= 0; i--) {
      if (test(i)) {
        marks[i] |= 2;
        found++;
      }
      if (marks[i] !== 0 && this.parent[i] >= 0) marks[this.parent[i]] |= 1;
    }
    return { marks, found };
  }

  /** How many nodes of each status are before each node: the statuses of a subtree are a difference. */
  countStatuses(counts) {
    const sums = STATUSES.map(() => new Uint32Array(this.size + 1));
    for (let i = 0; i < this.size; i++) {
      for (let s = 0; s < sums.length; s++) sums[s][i + 1] = sums[s][i];
      if (counts(i)) sums[this.status[i]][i + 1]++;
    }
    return sums;
  }
}
