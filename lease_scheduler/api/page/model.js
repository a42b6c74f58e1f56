/** The hosts and leases of the server, kept up to date by merging its answers. */

import { compareNames } from "./format.js";
import { SILENT, atSite, rowOfSite } from "./sites.js";

/** Kinds of leases, in the order in which they are listed and stacked. */
export const KINDS = ["reservation", "immediate", "deadline", "best-effort"];

/** Groups of states for filters and counts, with their states. */
export const GROUPS = {
  active: ["active", "suspending", "resuming", "resumed-ready"],
  planned: ["scheduled", "preparing", "ready"],
  queued: ["new", "pending", "queued"],
  suspended: ["suspended-pending", "suspended-queued", "suspended-scheduled", "migrating"],
  past: ["done", "rejected", "rejected-by-user", "cancelled", "failed"],
};

const GROUP_OF = new Map(Object.entries(GROUPS).flatMap(([group, states]) => states.map((state) => [state, group])));
const WAITING = new Set(["new", "pending", "queued", "suspended-pending", "suspended-queued"]);

/** Group of a lease's state. A state that this page does not know counts as planned. */
export const groupOf = (lease) => GROUP_OF.get(lease.state) ?? "planned";

/** Whether this is not a lease, but a time during which leases of other projects keep the site busy. */
export const isBusy = (lease) => lease.kind === "";

/** Whether a lease is held until somebody else approves it. */
export const awaitsApproval = (lease) => lease.state === "awaiting-approval";

/** Whether a lease is held, for its project, which has not accepted it yet, or until it is approved. */
export const isOffered = (lease) => Number.isInteger(lease.offered_until);

/** Whether a lease waits in the queue. */
export const isQueued = (lease) =>
  lease.queue_position !== null && lease.queue_position !== undefined
    ? true
    : lease.kind === "best-effort" && WAITING.has(lease.state);

/**
 * Seconds that a lease still has to run, or null if it is over or the server does not send its duration.
 * @param {object} lease with duration and accumulated, s, if known
 * @param {number} now s
 */
export function remaining(lease, now) {
  if (lease.duration === null || lease.duration === undefined || groupOf(lease) === "past") return null;
  const running = lease.state === "active" ? lease.holdings.find((held) => held.run_start <= now && now < held.end) : null;
  const since = running ? Math.min(now, running.run_end) - running.run_start : 0;
  return Math.max(0, lease.duration - (lease.accumulated ?? 0) - since);
}

/**
 * When a lease has to leave its hosts before its work is done, and how, or null if it is to run until its end.
 * @returns {{at: number, how: string, isOpen: boolean}|null} isOpen: nothing is planned for the rest
 */
export function interruptionOf(lease) {
  const [first, last] = [lease.holdings[0], lease.holdings.at(-1)];
  if (!first || first.closing === "shutdown") return null;
  return { at: first.run_end, how: first.closing === "suspend" ? "suspended" : "stopped", isOpen: last.closing !== "shutdown" };
}

/** Words for hosts that cannot be used at once because they sleep, by state of their power. */
const POWER = { "falling-asleep": "falling asleep", asleep: "asleep", waking: "waking", failed: "not awake in time" };

/** What a host is besides in service, in words, or nothing. */
export function conditionOf(host) {
  if (host.stands_for === "site") return host.state === "up" ? "" : SILENT;
  return host.state === "up" ? (POWER[host.power?.state] ?? "") : host.state;
}

/** Energy that a host has saved by sleeping, Wh. */
export function savedBy(host, now) {
  if (!host.power) return 0;
  const { state, since, slept, saved_watts: watts } = host.power;
  return (watts * (slept + (state === "asleep" ? Math.max(0, now - since) : 0))) / 3600;
}

export class Model {
  /** Project of the user, as id and name; null if the server does not check who asks. */
  own = null;
  /** @type {Map<string, string>} names of projects by id: the own one, and those of the login */
  projectNames = new Map();
  /** Whether the user of the page may book leases. */
  mayBook = false;
  /** Names of the pools that the project may use; none if the site has only one. */
  pools = [];
  /** Sites behind the gateway, as name and unreachable_since; none if the service is a site. */
  sites = [];
  /** Whether the viewer may decide on leases that await approval. */
  mayApprove = false;
  /** Whether the last answer had other sites than the one before, or other ones that do not answer. */
  hasOtherSites = false;
  /** Number of all leases in each state, loaded or not; empty before the first answer. */
  #states = {};
  /** Number of hosts that leases of all projects hold now, and number of hosts that they could hold. */
  use = { held: 0, usable: 0 };
  /** @type {Map<string, object>} leases by id */
  leases = new Map();
  #hosts = new Map();
  /** Hosts in the order of their rows. */
  rows = [];
  /** @type {Map<string, number>} row of a host by its id */
  rowOf = new Map();

  /**
   * Merge an answer of the server.
   * @param {object} answer body of GET /v1/calendar
   * @returns {{lease: object, from: string|null}[]} leases whose state has changed; from is null for new ones
   */
  merge(answer) {
    const before = this.leases;
    this.own = answer.project ?? null;
    this.mayBook = answer.may_book;
    this.mayApprove = answer.may_approve;
    this.pools = answer.pools ?? [];
    const sites = answer.sites ?? [];
    const isOtherSites = JSON.stringify(sites) !== JSON.stringify(this.sites);
    this.sites = sites;
    this.use = answer.use;
    this.#states = answer.states ?? this.#states;
    if (answer.complete) {
      this.leases = new Map();
      this.#hosts = new Map();
    }
    const changes = [];
    for (const lease of answer.leases) {
      const known = before.get(lease.id);
      if (!known || known.state !== lease.state) changes.push({ lease, from: known?.state ?? null });
      this.leases.set(lease.id, atSite(lease));
    }
    for (const id of answer.removed) this.leases.delete(id);
    for (const host of answer.hosts) this.#hosts.set(host.id, host);
    if (answer.complete || answer.hosts.length || isOtherSites) this.#sortHosts();
    this.hasOtherSites = isOtherSites;
    return changes;
  }

  /** All leases, without the times during which other projects keep the site busy. */
  known() {
    return [...this.leases.values()].filter((lease) => !isBusy(lease));
  }

  /** Number of all leases in each group of states, loaded or not. */
  counts() {
    const counts = Object.fromEntries(Object.keys(GROUPS).map((group) => [group, 0]));
    for (const [state, count] of Object.entries(this.#states)) counts[groupOf({ state })] += count;
    return counts;
  }

  /** Number of all leases, loaded or not. */
  get total() {
    return Object.values(this.#states).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Number of hosts that sleep, and the energy that all hosts have saved by sleeping, Wh; null if none has ever slept.
   * @param {number} now s
   */
  sleep(now) {
    const known = this.rows.filter((host) => host.power);
    if (!known.length) return null;
    const asleep = known.filter((host) => host.power.state === "asleep").length;
    return { asleep, saved: known.reduce((sum, host) => sum + savedBy(host, now), 0) };
  }

  /** Waiting leases, in the order of the queue. */
  queue() {
    const place = (lease) => lease.queue_position ?? Infinity;
    return this.known()
      .filter(isQueued)
      .sort((a, b) => (place(a) === place(b) ? a.submitted - b.submitted : place(a) - place(b)));
  }

  /** All projects, by name. */
  projects() {
    return [...new Set(this.known().map((lease) => lease.project_id))].sort(compareNames);
  }

  /** Name of a project, or its id if the page does not know the name. */
  projectName(id) {
    return this.projectNames.get(id) ?? id;
  }

  /** Name of a host, or its id if the server has not sent the host. */
  hostName(id) {
    return this.#hosts.get(id)?.name ?? id;
  }

  /** The rows of a proposed lease: those of its hosts if all of them are shown, else those that were chosen. */
  rowsFor({ hosts = [], rows }) {
    const named = [...new Set(hosts)].map((id) => this.rowOf.get(id));
    return named.length && !named.includes(undefined) ? named : rows;
  }

  /** The site that rows stand for; an empty text for several, and null if the service is no gateway. */
  siteOf(rows) {
    const names = rows.map((row) => this.rows[row]).filter((row) => row.stands_for === "site").map(({ name }) => name);
    return names.length === 1 ? names[0] : this.sites.length ? "" : null;
  }

  #sortHosts() {
    const unnamed = (host) => Number(host.stands_for === "host");
    const hosts = [...this.#hosts.values()].sort((a, b) => unnamed(a) - unnamed(b) || compareNames(a.name, b.name));
    // Sites keep the order in which the operator has named them.
    this.rows = [...this.sites.map(rowOfSite), ...hosts];
    this.rowOf = new Map(this.rows.map((host, row) => [host.id, row]));
  }
}
