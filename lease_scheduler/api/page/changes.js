/** What people may do with a lease, and the requests for it. */

import { durationText, fieldOfInstant, instantOf, instantOfField, isUnlimited, isoInstant, secondsOfText } from "./format.js";
import { awaitsApproval, groupOf, interruptionOf, isOffered } from "./model.js";

/** Kinds that have their hosts for one interval with a fixed end. The others have a duration. */
const WITH_END = new Set(["reservation", "immediate"]);
const WITH_START = new Set(["reservation", "deadline"]);

/** The label of each action, and what it does. Those with a field say what it holds. */
export const ACTIONS = {
  accept: { label: "Accept", text: "The offer becomes a lease like any other." },
  reject: { label: "Reject", text: "The offer is given back, and others may get its place." },
  approve: { label: "Approve", text: "The lease will start as it is planned." },
  decline: { label: "Decline", field: "Reason", type: "text" },
  end_date: { label: "Change the end", field: "New end, UTC", type: "datetime-local" },
  duration: { label: "Change the duration", field: "New duration", type: "text" },
  move: { label: "Move", field: "New start, UTC", type: "datetime-local" },
  end: { label: "End now", text: "The lease ends now and is done. This cannot be undone." },
  cancel: { label: "Cancel the lease", text: "The lease ends now and is cancelled. This cannot be undone." },
};

/** First and last instant at which a lease is planned to run, or null where that is not known. */
export function runOf(lease) {
  return {
    start: lease.holdings[0]?.run_start ?? lease.start,
    end: lease.end === null || interruptionOf(lease)?.isOpen ? lease.end : lease.holdings.at(-1)?.run_end ?? lease.end,
  };
}

/**
 * Names of the actions that are possible for a lease, as far as the page can know; the server decides.
 * @param {object} lease
 * @param {boolean} mayApprove whether the viewer may decide on leases that await approval
 */
export function actionsOf(lease, mayApprove = false) {
  const group = groupOf(lease);
  if (awaitsApproval(lease)) {
    return [...(mayApprove ? ["approve", "decline"] : []), ...(lease.may_change ? ["cancel"] : [])];
  }
  if (!lease.may_change || group === "past") return [];
  if (isOffered(lease)) return ["accept", "reject"];
  const hasStarted = group === "active" || group === "suspended";
  const { start, end } = runOf(lease);
  const isMovable = !hasStarted && WITH_START.has(lease.kind) && start !== null;
  return [
    ...(WITH_END.has(lease.kind) ? (end === null ? [] : ["end_date"]) : lease.duration === null ? [] : ["duration"]),
    ...(isMovable ? ["move"] : []),
    ...(hasStarted ? ["end"] : []),
    "cancel",
  ];
}

/** What the field of an action holds at first. */
export function valueOf(lease, name) {
  const { start, end } = runOf(lease);
  if (name === "decline") return "";
  if (name === "duration") return isUnlimited(lease.duration) ? "" : durationText(lease.duration);
  return fieldOfInstant(name === "move" ? start : end);
}

/**
 * The requests for an action.
 * @param {object} lease
 * @param {string} name
 * @param {string} text what its field holds
 * @returns {{label: string, action: object, quote: object|null}|null} a label for the button that sends the action, and
 *   the bodies for /action and /quote; null if the field has nothing new
 */
export function requestsOf(lease, name, text) {
  if (!ACTIONS[name].field) return { label: ACTIONS[name].label, action: { [name]: {} }, quote: null };
  if (!text.trim() || text === valueOf(lease, name)) return null;
  if (name === "decline") return { label: "Decline", action: { decline: { reason: text.trim() } }, quote: null };
  const run = runOf(lease);
  if (name === "move") {
    const start = instantOfField(text);
    const terms = { start_date: isoInstant(start) };
    if (WITH_END.has(lease.kind)) terms.end_date = isoInstant(start + run.end - run.start);
    return { label: "Move", action: { move: terms }, quote: { change: terms } };
  }
  const [old, wanted] = name === "duration" ? [lease.duration, secondsOfText(text)] : [run.end, instantOfField(text)];
  const value = name === "duration" ? text.replaceAll(/\s/g, "") : isoInstant(wanted);
  const verb = wanted !== null && wanted < old ? "shrink" : "extend";
  const body = { [verb]: { [name]: value } };
  return { label: verb === "shrink" ? "Shorten" : "Extend", action: body, quote: body };
}

/** What the field of an action holds for an alternative, or null if the action cannot express it. */
export function valueOfAlternative(name, { change, start, end }) {
  const [from, until] = [instantOf(start), instantOf(end)];
  if (name === "move") return change === "start" ? fieldOfInstant(from) : null;
  if (change !== "duration") return null;
  return name === "duration" ? durationText(until - from) : fieldOfInstant(until);
}

/**
 * The action and the value of its field that dragging a bar proposes, or null if the lease has no such action.
 * @param {object} lease
 * @param {"start"|"end"} edge what was dragged
 * @param {number} instant where it was dragged to, s
 */
export function proposalOf(lease, edge, instant) {
  const actions = actionsOf(lease);
  if (edge === "start") return actions.includes("move") ? { name: "move", value: fieldOfInstant(instant) } : null;
  if (actions.includes("end_date")) return { name: "end_date", value: fieldOfInstant(instant) };
  if (!actions.includes("duration") || runOf(lease).end === null) return null;
  const seconds = lease.duration + instant - runOf(lease).end;
  return seconds > 0 ? { name: "duration", value: durationText(seconds) } : null;
}
