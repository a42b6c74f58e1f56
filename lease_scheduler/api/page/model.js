/** What the server has told: hosts and leases, kept up to date by merging its answers. */

import { compareNames } from "./format.js";

/** Kinds of lease in the order in which they are listed and stacked. */
export const KINDS = ["reservation", "immediate", "deadline", "best-effort"];

/** Groups of states that filters and counts know, with the states in them. */
export const GROUPS = {
  active: ["active", "suspending", "resuming", "resumed-ready"],
  planned: ["scheduled", "preparing", "ready"],
  queued: ["new", "pending", "queued"],
  suspended: ["suspended-pending", "suspended-queued", "suspended-scheduled", "migrating"],
  past: ["done", "rejected", "rejected-by-user", "cancelled", "failed"],
};

const GROUP_OF = new Map(Object.entries(GROUPS).flatMap(([group, states]) => states.map((state) => [state, group])));
const WAITING = new Set(["new", "pending", "queued", "suspended-pending", "suspended-queued"]);

/** Group of a lease's state; a state that this page does not know counts as planned. */
export const groupOf = (lease) => GROUP_OF.get(lease.state) ?? "planned";

/** Whether this is no lease, but a time at which leases of other projects keep the site busy. */
export const isBusy = (lease) => lease.kind === "";

/** Whether a lease is held for its consumer, who has not accepted it yet. */
export const isOffered = (lease) => Number.isInteger(lease.offered_until);

/** Whether a lease waits in the queue. */
export const isQueued = (lease) =>
  lease.queue_position !== null && lease.queue_position !== undefined
    ? true
    : lease.kind === "best-effort" && WAITING.has(lease.state);

/**
 * Seconds that a lease still has to run, none if the server does not say how long it is.
 * @param {object} lease with duration and accumulated, s, if known
 * @param {number} now s
 */
export function remaining(lease, now) {
  if (lease.duration === null || lease.duration === undefined) return null;
  const running = lease.state === "active" ? lease.holdings.find((held) => held.run_start <= now && now < held.end) : null;
  const since = running ? Math.min(now, running.run_end) - running.run_start : 0;
  return Math.max(0, lease.duration - (lease.accumulated ?? 0) - since);
}

export class Model {
  /** @type {Map<string, object>} */
  leases = new Map();
  #hosts = new Map();
  /** Hosts in the order of their rows. */
  rows = [];
  /** @type {Map<string, number>} row of a host by its id */
  rowOf = new Map();

  /**
   * Merge an answer of the server.
   * @param {object} answer body of GET /v1/calendar
   * @returns {{lease: object, from: string|null}[]} leases that are new (from is null) or in another state than before
   */
  merge(answer) {
    const before = this.leases;
    if (answer.complete) {
      this.leases = new Map();
      this.#hosts = new Map();
    }
    const changes = [];
    for (const lease of answer.leases) {
      const known = before.get(lease.id);
      if (!known || known.state !== lease.state) changes.push({ lease, from: known?.state ?? null });
      this.leases.set(lease.id, lease);
    }
    for (const id of answer.removed) this.leases.delete(id);
    for (const host of answer.hosts) this.#hosts.set(host.id, host);
    if (answer.complete || answer.hosts.length) this.#sortHosts();
    return changes;
  }

  /** All leases of which more is known than that others keep the site busy. */
  known() {
    return [...this.leases.values()].filter((lease) => !isBusy(lease));
  }

  /** How many leases there are of each group of states. */
  counts() {
    const counts = Object.fromEntries(Object.keys(GROUPS).map((group) => [group, 0]));
    for (const lease of this.known()) counts[groupOf(lease)] += 1;
    return counts;
  }

  /**
   * How many hosts are held by a lease at an instant, and how many could be.
   * @param {number} now s
   */
  use(now) {
    const held = new Set();
    // The row of other projects is no host.
    const others = new Set([...this.leases.values()].filter(isBusy).flatMap((lease) => lease.holdings[0].hosts));
    for (const lease of this.known()) {
      for (const holding of lease.holdings) {
        if (holding.start <= now && now < holding.end) holding.hosts.forEach((id) => held.add(id));
      }
    }
    const usable = this.rows.filter((host) => !others.has(host.id) && (host.state === "up" || held.has(host.id))).length;
    return { held: held.size, usable };
  }

  /** Leases that wait, in the order of the queue. */
  queue() {
    const place = (lease) => lease.queue_position ?? Infinity;
    return this.known()
      .filter(isQueued)
      .sort((a, b) => (place(a) === place(b) ? a.submitted - b.submitted : place(a) - place(b)));
  }

  /** All projects, in order. */
  projects() {
    return [...new Set(this.known().map((lease) => lease.project_id))].sort(compareNames);
  }

  /** Name of a host; its id if the server has not told of it. */
  hostName(id) {
    return this.#hosts.get(id)?.name ?? id;
  }

  #sortHosts() {
    this.rows = [...this.#hosts.values()].sort((a, b) => compareNames(a.name, b.name));
    this.rowOf = new Map(this.rows.map((host, row) => [host.id, row]));
  }
}
