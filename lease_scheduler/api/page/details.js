/** The panel with everything about one lease. */

import { Actions } from "./actions.js";
import { definitions, make, table } from "./elements.js";
import { duration, instantOf, localInstant, longInstant, number, plural, shortInstant, spell } from "./format.js";
import { instantCell, localTime } from "./localtime.js";
import { interruptionOf, remaining } from "./model.js";
import { Panel } from "./panel.js";
import { getJson, problemOf } from "./rest.js";
import { siteText } from "./sites.js";
import { datesText, reservationTerms, stateText } from "./words.js";

/** Maximum number of hosts that are shown unfolded. */
const OPEN_HOSTS = 12;

const CLOSING = { suspend: "suspended after that", shutdown: "shut down after that", kill: "switched off after that" };

/** An instant in UTC and where the viewer is, or null if there is none. */
const both = (seconds) =>
  Number.isInteger(seconds) ? [`${longInstant(seconds)} UTC`, localInstant(seconds)].filter(Boolean).join(", ") : null;

/** When a lease ends of which nothing is planned after it is interrupted. */
const openEnd = ({ end, deadline }) =>
  deadline === null ? `at the earliest ${both(end)}` : `between ${both(end)} and the deadline`;

/** Name and number of VMs of each host, in the order of the hosts. */
function perHost(hosts, model) {
  const counts = new Map();
  for (const id of hosts) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].map(([id, count]) => [model.hostName(id), number(count)]);
}

/** How many nodes a lease has, and out of which range; only the range while it waits for its turn. */
function nodesOf({ nodes, node_range: range, state }) {
  if (!range) return number(nodes);
  const wanted = `${number(range[0])} to ${number(range[1])}`;
  return state === "queued" ? wanted : `${number(nodes)}, of ${wanted}`;
}

export class Details {
  #panel;
  #actions;
  #title;
  #body;
  #history;
  #terms;
  #show;
  #model;
  #now;
  #revision = null;
  id = null;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {{model: Model, now: () => number, onShow: (id: string) => void, onClose: () => void,
   *   onChange: (text: string) => void}} parts onShow scrolls the timeline to a lease; onChange says what has been done
   */
  constructor(dialog, { model, now, onShow, onClose, onChange }) {
    this.#title = dialog.querySelector("h2");
    this.#body = dialog.querySelector(".lease");
    this.#terms = dialog.querySelector(".terms");
    this.#history = dialog.querySelector(".history");
    this.#show = dialog.querySelector(".show");
    this.#actions = new Actions(dialog.querySelector(".changes"), onChange);
    this.#model = model;
    this.#now = now;
    this.#panel = new Panel(dialog, () => {
      this.id = null;
      onClose();
    });
    localTime.addEventListener("change", () => {
      const lease = this.#model.leases.get(this.id);
      if (lease) this.#body.replaceChildren(...this.#facts(lease));
    });
    this.#show.addEventListener("click", () => {
      const { id } = this;
      if (this.#panel.covers) this.#panel.close();
      onShow(id);
    });
  }

  /** Open the panel for a lease, and move the focus to it, or to a change that is proposed (see changes.js). */
  open(lease, proposal = null) {
    this.#revision = null;
    this.id = lease.id;
    this.#terms.replaceChildren();
    this.#history.replaceChildren(make("p", "Loading…"));
    this.refresh();
    this.#panel.open();
    if (proposal) this.#actions.propose(proposal.name, proposal.value);
  }

  /** The change that is being filled in (see changes.js), or null. */
  get proposal() {
    return this.#actions.proposal;
  }

  /** Show the lease as it is now. */
  refresh() {
    if (this.id === null) return;
    const lease = this.#model.leases.get(this.id);
    this.#show.hidden = !lease || !(lease.holdings.length || lease.past.length);
    if (!lease) {
      this.#actions.show(null);
      this.#body.replaceChildren(make("p", "This lease is no longer on the calendar."));
      return;
    }
    const revision = `${lease.id} ${lease.revision}`;
    if (revision === this.#revision) {
      this.#actions.news();
      return;
    }
    this.#revision = revision;
    const focused = document.activeElement;
    this.#title.textContent = lease.name;
    this.#actions.show(lease, this.#model.mayApprove);
    this.#body.replaceChildren(...this.#facts(lease));
    if (!focused.checkVisibility()) this.#title.focus();
    this.#load(lease);
  }

  #facts(lease) {
    const kind = make("span", lease.kind);
    kind.className = `kind kind-${lease.kind}`;
    const state = make("span", stateText(lease.state));
    state.className = "state";
    const head = make("p", "", kind, state);
    head.className = "badges";
    const cut = interruptionOf(lease);
    const terms = definitions([
      ["Why", datesText(lease.reason)],
      ["Project", this.#model.projectName(lease.project_id)],
      ["Site", siteText(lease)],
      ["Pool", lease.pool ?? null],
      ["Nodes", nodesOf(lease)],
      ["Submitted", both(lease.submitted)],
      ["Start", both(lease.start)],
      ["Runs until", cut ? `${both(cut.at)}, then ${cut.how}` : null],
      ["End", cut?.isOpen ? openEnd(lease) : both(lease.end)],
      ["Deadline", both(lease.deadline)],
      ["Held until", both(lease.offered_until)],
      ["Duration", lease.duration ? duration(lease.duration) : null],
      ["Remaining", remaining(lease, this.#now()) === null ? null : duration(remaining(lease, this.#now()))],
      ["Position in the queue", Number.isInteger(lease.queue_position) ? number(lease.queue_position) : null],
      ["May be preempted", lease.preemptible ? "yes" : "no"],
      ["Id", lease.id],
    ]);
    const holdings = lease.holdings.map((holding) => this.#holding(holding, lease));
    const past = lease.past.toReversed().map((stretch) => [
      stretch.phase, instantCell(stretch.start), duration(stretch.end - stretch.start),
      plural(new Set(stretch.hosts).size, "host"),
    ]);
    return [
      head,
      terms,
      make("h3", lease.site ? "Runs" : "Holds hosts"),
      ...(holdings.length ? holdings : [make("p", "None, now or planned.")]),
      ...(past.length ? [make("h3", "So far"), table("What the lease has occupied", ["Phase", "From", "For", "On"], past)] : []),
    ];
  }

  #holding(holding, { site }) {
    const rows = perHost(holding.hosts, this.#model);
    const parts = [
      holding.run_start > holding.start ? `resumes for ${duration(holding.run_start - holding.start)}` : null,
      `runs ${spell(holding.run_end - holding.run_start)}`,
      holding.end > holding.run_end || holding.closing === "suspend" ? CLOSING[holding.closing] : null,
    ].filter(Boolean);
    const folded = make("details", "", make("summary", `${plural(rows.length, "host")}, ${plural(holding.hosts.length, "VM")}`));
    folded.open = rows.length <= OPEN_HOSTS;
    folded.append(table("Hosts during this time", ["Host", "VMs"], rows));
    const when = make("p", `${shortInstant(holding.start)} to ${shortInstant(holding.end)}`);
    when.className = "when";
    // A gateway does not know the hosts.
    const stretch = make("section", "", when, make("p", parts.join(", ")), ...(site ? [] : [folded]));
    stretch.className = "holding";
    const local = localTime.range(holding.start, holding.end);
    if (local) when.after(Object.assign(make("p", local), { className: "hint" }));
    return stretch;
  }

  /** Fetch what the calendar does not include. An older answer never replaces a newer one. */
  async #load(lease) {
    const revision = this.#revision;
    const path = `v1/leases/${encodeURIComponent(lease.id)}`;
    const [terms, history] = await Promise.allSettled([getJson(path), getJson(`${path}/history`)]);
    if (revision !== this.#revision || this.id !== lease.id) return;
    const fill = (users) => {
      this.#terms.replaceChildren(...(terms.status === "fulfilled" ? termsOf(terms.value.lease, users) : []));
      this.#history.replaceChildren(...(history.status === "fulfilled" ? [steps(history.value.history, users)] : []));
    };
    fill({});
    const [first, second] = [{ name: "terms", of: terms }, { name: "history", of: history }].filter(
      ({ of }) => of.status === "rejected",
    );
    if (!first) {
      this.#loadNames(path, lease, fill);
      return;
    }
    const names = second ? `${first.name} and the ${second.name}` : first.name;
    (history.status === "rejected" ? this.#history : this.#terms).append(this.#failed(names, first.of.reason, lease));
  }

  /** Show names in place of ids, as soon as the server knows them; it may have to ask the identity service. */
  async #loadNames(path, lease, fill) {
    const revision = this.#revision;
    try {
      const { names } = await getJson(`${path}/names`);
      if (revision !== this.#revision || this.id !== lease.id) return;
      if (Object.keys(names.users).length) fill(names.users);
      if (!names.project || names.project === this.#model.projectName(lease.project_id)) return;
      this.#model.projectNames.set(lease.project_id, names.project);
      this.#body.replaceChildren(...this.#facts(lease));
    } catch {
      // The ids stay.
    }
  }

  /** What could not be loaded and why, with a button that loads it again. */
  #failed(names, error, lease) {
    const again = make("button", "Try again");
    again.type = "button";
    again.addEventListener("click", () => {
      again.disabled = true;
      this.#title.focus();
      this.#load(lease);
    });
    return make("div", "", make("p", `The ${names} could not be loaded: ${problemOf(error)}`), again);
  }
}

const money = (amount) => (Number.isFinite(amount) ? number(amount) : null);

const percent = (part) => (Number.isFinite(part) ? `${number(100 * part)} %` : null);

/** A server template in words. Without a number, it is for as many as there is room for. */
const serverText = ({ name, image_id: image, count }) =>
  [name, image && `from image ${image}`, count && plural(count, "server")].filter(Boolean).join(", ");

/** What the calendar does not say of a lease: description, servers, the user, idleness, expected start, promised lifetime, share of CPU, prices, and the terms of its reservations. */
function termsOf({ description, servers = [], user_id: user, idle_since: idle, expectation, promise, yield: part, stretch, price, max_price: most, reservations = [] }, users) {
  const about = definitions([
    ["Description", description], ["Servers", servers.map(serverText).join("; ")],
    ["Booked by", users[user] ?? user], ["Idle since", both(instantOf(idle))], ["Expected start", expectation && datesText(expectation)],
    ["Lifetime", promise && datesText(promise)],
    ["Part of the CPU", percent(part)], ["Stretch", money(stretch)], ["Price", money(price)], ["Maximum price", money(most)],
  ]);
  const list = reservations.flatMap((reservation) => [
    make("h3", `Reservation: ${reservation.resource_type}`), definitions(reservationTerms(reservation)),
  ]);
  return about.children.length ? [about, ...list] : list;
}

/** What has happened to a lease, latest first. */
function steps(history, users) {
  const list = make("ol");
  for (const step of history.toReversed()) {
    const when = make("time", both(instantOf(step.time)));
    when.dateTime = step.time;
    const [from, to] = [step.from && stateText(step.from), stateText(step.to)];
    const item = make("li", "", make("span", from && from !== to ? `${from} → ${to}` : to), when);
    const by = step.by_operator ? "an operator" : step.user_id ? (users[step.user_id] ?? `user ${step.user_id}`) : "";
    if (step.reason || by) item.append(make("p", [step.reason && datesText(step.reason), by && `(by ${by})`].filter(Boolean).join(" ")));
    list.append(item);
  }
  return history.length ? list : make("p", "Nothing has happened yet.");
}
