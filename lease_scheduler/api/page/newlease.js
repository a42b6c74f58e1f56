/** The panel in which people put together a lease, see what it would come to, and book it. */

import { fillProjects } from "./account.js";
import { PROMISES, TIMES, fieldOf, identified, leaseBody, missing, termsOf } from "./booking.js";
import { make } from "./elements.js";
import { elsewhere, withOthers } from "./elsewhere.js";
import { clearProblems, fill, labelOf, showLocalTimes, showProblem, valuesOf } from "./fields.js";
import { fieldOfInstant, instantOf, instantOfField, localZone } from "./format.js";
import { KINDS } from "./model.js";
import { doubt, refusedText, send } from "./orders.js";
import { Panel } from "./panel.js";
import { Asker, NOT_RIGHT, QuoteView } from "./quotes.js";
import { repeats } from "./repeat.js";
import { ServerError, problemOf } from "./rest.js";

const HOUR = 3600;
/** Real seconds that people have at least to read the form before the start that it proposes. */
const READING = 180;
/** Name in the quote of a lease that has no name yet. */
const UNNAMED = "new lease";

const LABELS = {
  name: "a name", count: "a number of nodes", end_date: "an end", duration: "a duration", deadline: "a deadline",
  server_name: "a name for the servers", server_image: "an image for the servers",
  repeat_count: "how often the lease repeats, or until when",
};

/** Kinds of leases that can be held until they are accepted. */
const MAY_BE_HELD = ["reservation", "deadline"];
/** Fields for the size of the nodes, which a flavor replaces. Whole hosts replace the first ones. */
const SIZES = ["VCPU", "MEMORY_MB", "DISK_GB"];
const SIZES_AND_HOSTS = [...SIZES, "exclusive", "resources", "groups", "traits", "per_host"];

export class NewLease {
  #form;
  #panel;
  #quote;
  #asker;
  #hold;
  #clock;
  #onBooked;
  #onProject;
  #onProposal;
  /** Rows of the timeline that were chosen for the lease; none if it was not dragged. */
  #rows = [];
  #request = null;
  #busy = false;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {Clock} clock the server's clock
   * @param {(lease: object|null, text: string) => void} onBooked gets the lease to show, if there is one, and what has been
   *   done
   * @param {(id: string) => Promise<void>} onProject works for another project from now on
   * @param {(proposal: {start: number, end: number, hosts: string[], rows: number[]}|null) => void} onProposal shows on
   *   the timeline where the lease would be: on hosts by their ids, or as the rows that were chosen; null for nowhere
   */
  constructor(dialog, { clock, onBooked, onProject, onProposal }) {
    this.#form = dialog.querySelector("form");
    this.#clock = clock;
    this.#onBooked = onBooked;
    this.#onProject = onProject;
    this.#onProposal = onProposal;
    this.#panel = new Panel(dialog, () => {
      this.#asker.stop();
      this.#rows = [];
      this.#onProposal(null);
    });
    this.#quote = new QuoteView(dialog.querySelector(".quote"), (alternative) => {
      this.#fill(termsOf(valuesOf(this.#form), alternative));
      this.#form.querySelector("[type=submit]").focus();
    });
    this.#asker = new Asker((quote) => this.#quoted(quote), (error) => this.#failed(error), withOthers);
    this.#addKinds(dialog.querySelector(".promises"));
    this.#form.addEventListener("input", () => this.#changed());
    this.#form.elements.namedItem("project").addEventListener("change", () => this.#choose());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(false);
    });
    this.#hold = dialog.querySelector(".hold");
    this.#hold.addEventListener("click", () => this.#send(true));
  }

  /**
   * Open the panel.
   * @param {{start: number, end: number, rows: number[]|undefined, site: string|null|undefined,
   *   values: object|undefined}|null} chosen instants, and either rows that were chosen on the timeline or values of fields;
   *   site is that of the rows behind a gateway, empty for several; null continues with what was filled in last
   */
  open(chosen = null) {
    this.#rows = chosen?.rows ?? [];
    if (chosen) {
      const now = Math.floor(this.#clock.now());
      const isNow = chosen.start <= now;
      // What begins now keeps its length; on the timeline, the end was chosen.
      const end = isNow && chosen.values ? now + chosen.end - chosen.start : chosen.end;
      fill(this.#form, {
        kind: "reservation",
        ...(chosen.values ?? this.#ofRows(chosen)),
        start_date: isNow ? "" : fieldOfInstant(chosen.start),
        end_date: fieldOfInstant(end),
      });
    } else {
      this.#proposeTimes();
    }
    this.#panel.open(this.#form.elements.namedItem("name"));
    this.#changed();
  }

  /** Values of fields for rows: as many whole hosts or, behind a gateway, one at the site. */
  #ofRows({ rows, site = null }) {
    const count = site === null ? String(rows.length) : "1";
    return { count, exclusive: true, flavor: "", ...(site === null ? {} : { site }) };
  }

  /** Fill in a start at a full hour, and an end, if there are none or their time has passed. */
  #proposeTimes() {
    const { start_date: start, end_date: end } = valuesOf(this.#form);
    const isOver = (text) => text !== "" && instantOfField(text) <= this.#clock.now();
    if ((start || end) && !isOver(start) && !isOver(end)) return;
    const reading = READING * Math.max(this.#clock.rate, 1);
    const next = Math.ceil((this.#clock.now() + reading) / HOUR) * HOUR;
    fill(this.#form, { start_date: fieldOfInstant(next), end_date: fieldOfInstant(next + HOUR) });
  }

  /** The site has changed, so what the lease would come to may have changed as well. */
  news() {
    if (this.#panel.isOpen && !this.#busy) this.#asker.again();
  }

  /** Close the panel. */
  close() {
    this.#panel.close();
  }

  /** What is filled in, and whether the panel is open. */
  get draft() {
    return { values: valuesOf(this.#form), open: this.#panel.isOpen };
  }

  /** Fill in what was filled in before the page was loaded again. */
  restore({ values, open }) {
    const { project, ...others } = values;
    fill(this.#form, others);
    if (open) this.open();
  }

  /**
   * Show the projects for which people can book.
   * @param {{id: string, name: string}[]} projects the one that is used now is the first one
   */
  setProjects(projects) {
    const select = this.#form.elements.namedItem("project");
    select.closest("label").hidden = !projects.length;
    if (projects.length) fillProjects(select, projects, projects[0].id);
  }

  /** Work for another project, and ask what the lease would come to there. */
  async #choose() {
    this.#busy = true;
    try {
      await this.#onProject(this.#form.elements.namedItem("project").value);
    } finally {
      this.#busy = false;
    }
    this.#changed();
  }

  #addKinds(fieldset) {
    for (const kind of KINDS) {
      const field = Object.assign(make("input"), { type: "radio", name: "kind", value: kind, checked: kind === KINDS[0] });
      const label = make("label", "", field, Object.assign(make("span", kind), { className: `kind kind-${kind}` }));
      const promise = Object.assign(make("small", PROMISES[kind]), { id: `promise-${kind}` });
      field.setAttribute("aria-describedby", promise.id);
      promise.setAttribute("aria-hidden", "true");
      label.append(promise);
      fieldset.append(label);
    }
  }

  #fill(values) {
    fill(this.#form, values);
    this.#changed();
  }

  /** Show the fields that the kind has, and ask for a quote. */
  #changed() {
    const values = valuesOf(this.#form);
    const times = TIMES[values.kind];
    for (const label of this.#form.querySelectorAll("[data-time]")) label.hidden = !(label.dataset.time in times);
    const start = values.kind === "deadline" ? "Earliest start, UTC; empty: now" : "Start, UTC; empty: now";
    this.#form.querySelector("[data-time=start_date] span").textContent = start;
    this.#restrict(values);
    showLocalTimes(this.#form);
    clearProblems(this.#form);
    this.#asker.stop();
    if (values.kind === "reservation") {
      const hosts = values.site ? [values.site] : [];
      this.#propose(instantOfField(values.start_date) ?? this.#clock.now(), instantOfField(values.end_date), hosts);
    } else this.#onProposal(null);
    const needed = missing(values).filter((name) => name !== "name");
    if (needed.length) {
      this.#quote.say(`Give ${needed.map((name) => LABELS[name]).join(" and ")} to see what the lease would come to.`);
      return;
    }
    this.#quote.wait();
    this.#asker.ask("v1/quotes", leaseBody({ ...values, name: values.name.trim() || UNNAMED }));
  }

  /** Let people use the fields that have a meaning beside the others. */
  #restrict(values) {
    const field = (name) => this.#form.elements.namedItem(name);
    const hasFlavor = values.flavor.trim() !== "";
    for (const name of SIZES_AND_HOSTS) field(name).disabled = hasFlavor || (values.exclusive && SIZES.includes(name));
    field("repeat").closest("details").hidden = values.kind !== "reservation";
    // A zone whose clocks are those of UTC is no choice.
    const zone = field("repeat_local").closest("label");
    zone.querySelector("span").textContent = `By the clocks of ${localZone()}`;
    zone.hidden = localZone() === "UTC";
    for (const name of ["repeat_count", "repeat_until", "repeat_local"]) field(name).disabled = values.repeat === "";
    // A series ends after a number of leases or on a day.
    if (values.repeat_until) field("repeat_count").disabled = true;
    else if (values.repeat_count.trim()) field("repeat_until").disabled = true;
    this.#hold.hidden = !MAY_BE_HELD.includes(values.kind) || repeats(values);
  }

  #quoted(quote) {
    // A price in a quote shows that leases have prices here.
    if (Number.isFinite(quote.price)) this.#form.querySelector("[data-price]").hidden = false;
    this.#quote.show(quote);
    if (quote.granted) this.#propose(instantOf(quote.start), instantOf(quote.end), quote.site ? [quote.site] : quote.hosts);
  }

  /** Show on the timeline where the lease would be. Without the ids of its hosts, it is as many of the chosen rows. */
  #propose(start, end, hosts = []) {
    const rows = this.#rows.slice(0, Number(valuesOf(this.#form).count));
    const isKnown = start !== null && end !== null && start < end;
    this.#onProposal(isKnown && (rows.length || hosts.length) ? { start, end, hosts, rows } : null);
  }

  /** Show an error of the server: at the field that it names, if the form has it. */
  #failed(error, hint = "") {
    const field = fieldOf(error.field);
    if (error.status === 400 && showProblem(this.#form, field, problemOf(error, ""))) {
      this.#quote.say(NOT_RIGHT);
      return;
    }
    this.#quote.refuse(error, hint, labelOf(this.#form, field));
  }

  /** Book what the form says, or hold it. */
  async #send(isHold) {
    if (this.#busy) return;
    const values = valuesOf(this.#form);
    clearProblems(this.#form);
    const [first] = missing(values);
    if (first) {
      showProblem(this.#form, first, `Give ${LABELS[first]}.`);
      this.#form.elements.namedItem(first).focus();
      return;
    }
    const body = leaseBody(values);
    this.#request = identified(this.#request, body);
    this.#asker.stop();
    this.#busy = true;
    this.#quote.say(isHold ? "Asking…" : "Booking…");
    try {
      const found = await send(values, body, { id: this.#request.id, isHold });
      this.#request = null;
      this.#show(found);
    } catch (error) {
      if (error.status === 409) error.alternatives.push(...(await elsewhere(body)));
      const isUnsure = !(error instanceof ServerError) || error.status >= 500;
      this.#failed(error, isUnsure ? doubt(values, isHold) : "");
      this.#form.querySelector("[aria-invalid]")?.focus();
    } finally {
      this.#busy = false;
    }
  }

  /** Show what has come of an order. What was refused stays in sight. */
  #show({ lease, text, quote, refused }) {
    if (quote) {
      this.#quote.show(quote);
      return;
    }
    // Without a name, nobody books the same again by mistake.
    fill(this.#form, { name: "", repeat: "", description: "" });
    if (refused.length) this.#quote.say(`${text}.`, refusedText(refused), ...refused);
    else this.close();
    this.#onBooked(lease, text);
  }
}
