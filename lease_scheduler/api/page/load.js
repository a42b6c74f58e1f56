/** Number of hosts that each kind of lease uses over time. */

import { KINDS, isBusy } from "./model.js";

const LAST = KINDS.length - 1;
const kindIndex = (lease) => {
  const index = KINDS.indexOf(lease.kind);
  return index < 0 ? LAST : index;
};

/**
 * Changes in the number of used hosts, as [instant, kind, difference]. A host that several leases share counts as one,
 * divided among their kinds.
 */
function changesOf(rows) {
  const changes = [];
  for (const chains of rows) {
    const known = chains.filter((chain) => !isBusy(chain.lease));
    const edges = known.flatMap((chain) => {
      const kind = kindIndex(chain.lease);
      return [[chain.start, kind, 1], [chain.end, kind, -1]];
    });
    edges.sort((a, b) => a[0] - b[0]);
    const count = KINDS.map(() => 0);
    const share = KINDS.map(() => 0);
    edges.forEach(([instant, kind, step], index) => {
      count[kind] += step;
      if (edges[index + 1]?.[0] === instant) return;
      const all = count.reduce((sum, value) => sum + value, 0);
      count.forEach((value, other) => {
        const wanted = all ? value / all : 0;
        if (wanted !== share[other]) changes.push([instant, other, wanted - share[other]]);
        share[other] = wanted;
      });
    });
  }
  return changes.sort((a, b) => a[0] - b[0]);
}

export class Load {
  #times = [];
  #levels = [];
  #sums = [];

  /** @param {object[][]} rows chains of each host */
  constructor(rows) {
    const level = KINDS.map(() => 0);
    const sum = KINDS.map(() => 0);
    let last = null;
    for (const [instant, kind, step] of changesOf(rows)) {
      if (instant !== last) {
        if (last !== null) level.forEach((value, index) => (sum[index] += value * (instant - last)));
        this.#times.push(instant);
        this.#levels.push(null);
        this.#sums.push([...sum]);
        last = instant;
      }
      level[kind] += step;
      this.#levels[this.#levels.length - 1] = [...level];
    }
  }

  /** Host-seconds of each kind up to an instant. */
  #until(instant) {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle] <= instant) low = middle + 1;
      else high = middle;
    }
    if (!low) return KINDS.map(() => 0);
    const passed = instant - this.#times[low - 1];
    return this.#sums[low - 1].map((sum, kind) => sum + this.#levels[low - 1][kind] * passed);
  }

  /** Average number of hosts that each kind uses, in each of `count` intervals of `step` seconds. */
  averages(start, step, count) {
    const averages = [];
    let before = this.#until(start);
    for (let index = 1; index <= count; index += 1) {
      const after = this.#until(start + index * step);
      averages.push(after.map((sum, kind) => (sum - before[kind]) / step));
      before = after;
    }
    return averages;
  }
}
