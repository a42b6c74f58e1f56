/** Words for what the server names as programs do: states of leases, terms of reservations, and dates within texts. */

import { instantOf, longInstant, number, termText } from "./format.js";

const STATES = {
  new: "just requested",
  pending: "being planned",
  queued: "waiting in the queue",
  scheduled: "planned",
  preparing: "getting its images",
  ready: "ready to start",
  "awaiting-approval": "waiting for approval",
  suspending: "being suspended",
  "suspended-pending": "suspended, being planned",
  "suspended-queued": "suspended, waiting in the queue",
  "suspended-scheduled": "suspended, return planned",
  migrating: "suspended, moving to other hosts",
  resuming: "being resumed",
  "resumed-ready": "resumed, about to continue",
  rejected: "refused",
  "rejected-by-user": "turned down",
};

/** The state of a lease in words. */
export const stateText = (state) => STATES[state] ?? state;

const ISO_DATE = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?/g;

/** A text of the server with its dates as people read them. */
export const datesText = (text) => text.replace(ISO_DATE, (found) => `${longInstant(instantOf(found.replace(" ", "T")))} UTC`);

const LABELS = {
  amount: "Number", disk_gb: "Disk, GB", hypervisor_properties: "Hypervisors", memory_mb: "Memory, MB",
  resource_properties: "Properties", vcpus: "VCPUs",
};
/** Keys of a reservation that are of no use to people, or shown elsewhere. */
const HIDDEN = new Set(["id", "lease_id", "created_at", "updated_at", "hosts", "terms", "resource_type", "status", "min", "max"]);
const STATUS = { pending: "not begun", deleted: "over", error: "failed" };

function labelText(key) {
  const text = key.replaceAll("_", " ");
  return LABELS[key] ?? text.charAt(0).toUpperCase() + text.slice(1);
}

function valueText(value) {
  return value === true ? "yes" : typeof value === "string" ? datesText(value) : termText(value);
}

/** How many hosts a reservation is for: one number, or the least and the most. */
function hostsText({ min, max }) {
  if (!Number.isInteger(min) || !Number.isInteger(max)) return null;
  return min === max ? number(min) : `${number(min)} to ${number(max)}`;
}

/** The terms of a reservation in words, as pairs of a name and a value, which is empty if the reservation has none. */
export function reservationTerms(reservation) {
  const all = { ...reservation, ...reservation.terms };
  const shown = Object.entries(all)
    .filter(([key, value]) => !HIDDEN.has(key) && !/_id$/.test(key) && value !== false)
    // What is done before the end by default is nothing.
    .filter(([key, value]) => key !== "before_end" || value !== "default")
    .map(([key, value]) => [labelText(key), valueText(value)]);
  return [["Status", STATUS[reservation.status] ?? reservation.status], ["Hosts", hostsText(all)], ...shown];
}
