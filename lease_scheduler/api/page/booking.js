/** From what people fill in to a request for a lease, and back. Values are texts by the names of their fields. */

import { siteOf } from "./elsewhere.js";
import { durationText, fieldOfInstant, instantOf, instantOfField, isoInstant, kindCounts, plural, shortInstant } from "./format.js";
import { missingOfRepeat } from "./repeat.js";
import { fieldOfServers, missingOfServers, serversFrom } from "./servers.js";

/** What each kind of lease promises, in a line. */
export const PROMISES = {
  reservation: "Starts and ends when you say. Other leases may have to make room for it.",
  immediate: "Starts now and is never interrupted, if there is room without moving anybody.",
  deadline: "Has its whole duration before the deadline. The planner chooses when.",
  "best-effort": "Waits in the queue for room. May be interrupted, and continues later.",
};

/** The fields for the times of each kind, and which of them it needs. */
export const TIMES = {
  reservation: { start_date: false, end_date: true },
  immediate: { duration: true },
  deadline: { duration: true, deadline: true, start_date: false },
  "best-effort": { duration: false },
};

const RESOURCES = ["VCPU", "MEMORY_MB", "DISK_GB"];
const words = (text) => text.split(/[\s,;]+/).filter(Boolean);
/** A number if the text is one, else the text, which the server then refuses by its name. */
const numberOr = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

/** Names of the fields that are empty and needed. */
export function missing(values) {
  const needed = Object.entries(TIMES[values.kind]).filter(([, isNeeded]) => isNeeded).map(([name]) => name);
  const empty = ["name", "count", ...needed].filter((name) => !values[name].trim());
  return [...empty, ...missingOfServers(values), ...missingOfRepeat(values)];
}

/** A group of resources that come from one device, from a text such as "VGPU:1/MEMORY:2@CUSTOM_A100/CUSTOM_FAST". */
function groupFrom(text) {
  const [amounts, ...traits] = text.split("@");
  const pairs = amounts.split("/").map((pair) => pair.split(":"));
  const resources = Object.fromEntries(pairs.map(([name, amount = ""]) => [name, numberOr(amount)]));
  return traits.length ? { resources, traits: traits.join("@").split("/") } : { resources };
}

function nodeSet(values) {
  const nodes = { count: numberOr(values.count) };
  const resources = {};
  if (!values.exclusive) for (const name of RESOURCES) if (values[name].trim()) resources[name] = numberOr(values[name]);
  for (const pair of words(values.resources)) {
    const [name, amount = ""] = pair.split("=");
    resources[name] = numberOr(amount);
  }
  if (Object.keys(resources).length) nodes.resources = resources;
  if (values.groups.trim()) nodes.groups = words(values.groups).map(groupFrom);
  if (values.traits.trim()) nodes.traits = words(values.traits);
  if (values.exclusive) nodes.exclusive = true;
  if (values.per_host.trim()) nodes.per_host = numberOr(values.per_host);
  return nodes;
}

/** What the lease is for: nodes of some size, or those of a flavor of Nova. */
function resourcesOf(values) {
  const flavor = values.flavor.trim();
  if (!flavor) return { nodes: [nodeSet(values)] };
  return { reservations: [{ resource_type: "flavor:instance", flavor_id: flavor, amount: numberOr(values.count) }] };
}

function timeOf(name, text) {
  if (name === "duration") return text.replaceAll(/\s/g, "");
  return isoInstant(instantOfField(text));
}

/** The body of POST /v1/leases and /v1/quotes. A reservation without a start starts now. */
export function leaseBody(values) {
  const body = { name: values.name.trim(), kind: values.kind, ...resourcesOf(values) };
  for (const name of Object.keys(TIMES[values.kind])) {
    if (values[name].trim()) body[name] = timeOf(name, values[name]);
    else if (values.kind === "reservation" && name === "start_date") body[name] = "now";
  }
  if (values.site) body.site = values.site;
  if (values.pool) body.pool = values.pool;
  if (values.max_price.trim()) body.max_price = numberOr(values.max_price);
  if (values.description.trim()) body.description = values.description.trim();
  const servers = serversFrom(values);
  if (servers) body.servers = servers;
  return body;
}

/** A new UUID. (crypto.randomUUID is missing from pages that come over HTTP.) */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * A request with an id for its lease. The same request again has the same id, so that it makes no second lease.
 * @param {{text: string, id: string}|null} last what this function has returned before
 * @param {object} body
 */
export function identified(last, body) {
  const text = JSON.stringify(body);
  return last?.text === text ? last : { text, id: newId() };
}

/** Fields of this form with another name than in requests. */
const OTHER_NAMES = { amount: "count", flavor_id: "flavor", rule: "repeat", time_zone: "repeat_local" };

/** The name of the field of this form that a JSON path of a request is about, or null. */
export function fieldOf(path) {
  if (!path) return null;
  const [, set, rest] = /^(?:lease\.)?(?:(nodes|reservations|servers)(?:\[\d+\])?\.?)?(.*)$/.exec(path);
  if (set === "servers") return fieldOfServers(rest);
  if (set && !rest) return "count";
  const [first, ...others] = rest.split(/[.[]/);
  if (first !== "resources") return OTHER_NAMES[first] ?? first;
  if (!others.length) return "VCPU";
  return RESOURCES.includes(others[0]) ? others[0] : "resources";
}

/** The values that turn a refused request into an alternative, which the server has offered. */
export function termsOf(values, alternative) {
  const { change, start, end, count, isSame } = alternative;
  const site = siteOf(alternative);
  if (site) return { ...(isSame ? {} : termsOf(values, { change: "start", start, end, count })), site };
  const [from, until] = [instantOf(start), instantOf(end)];
  const dates = { start_date: fieldOfInstant(from), end_date: fieldOfInstant(until) };
  const nodes = { count: String(count) };
  const length = { duration: durationText(until - from) };
  if (values.kind === "reservation") return { ...nodes, ...dates };
  // Only reservations and deadline leases start later.
  if (values.kind === "immediate" && change === "start") return { ...nodes, ...dates, kind: "reservation" };
  if (values.kind === "deadline" && until > instantOfField(values.deadline)) {
    return { ...nodes, ...length, deadline: fieldOfInstant(until) };
  }
  return values.duration ? { ...nodes, ...length } : nodes;
}

/** An alternative in words. */
export function alternativeText(alternative) {
  const { change, start, end, count, preempted_kinds: kinds } = alternative;
  const [from, until] = [instantOf(start), instantOf(end)];
  const site = siteOf(alternative);
  const there = () => (from === null ? "a place in the queue" : `${plural(count, "node")}, ${shortInstant(from)} to ${shortInstant(until)} UTC`);
  const terms = {
    start: () => `Start ${shortInstant(from)} UTC`,
    nodes: () => plural(count, "node"),
    duration: () => `End ${shortInstant(until)} UTC`,
  };
  const text = site ? `At ${site}: ${there()}` : (terms[change] ?? terms.start)();
  return Object.keys(kinds ?? {}).length ? `${text}, preempting ${kindCounts(kinds)}` : text;
}
