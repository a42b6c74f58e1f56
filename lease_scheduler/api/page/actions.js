/** The part of the details in which people change a lease: a button for each action, then its form with a quote. */

import { ACTIONS, actionsOf, requestsOf, valueOf, valueOfAlternative } from "./changes.js";
import { make } from "./elements.js";
import { clearNotes, clearProblems, showLocalTimes, showProblem } from "./fields.js";
import { Asker, NOT_RIGHT, QuoteView } from "./quotes.js";
import { postJson, problemOf } from "./rest.js";

export class Actions {
  #element;
  #buttons;
  #form;
  #label;
  #field;
  #text;
  #send;
  #quote;
  #asker;
  #onDone;
  #lease = null;
  #name = null;
  #busy = false;

  /**
   * @param {HTMLElement} element with a place for buttons and a form
   * @param {(text: string) => void} onDone called when the server has done something; says what
   */
  constructor(element, onDone) {
    this.#element = element;
    this.#buttons = element.querySelector(".buttons");
    this.#form = element.querySelector("form");
    this.#text = this.#form.querySelector(".text");
    this.#label = this.#form.querySelector(".entry span");
    this.#field = this.#form.elements.namedItem("value");
    this.#send = this.#form.querySelector("[type=submit]");
    this.#onDone = onDone;
    this.#quote = new QuoteView(
      this.#form.querySelector(".quote"),
      (alternative) => this.#enter(valueOfAlternative(this.#name, alternative)),
      (alternative) => valueOfAlternative(this.#name, alternative) !== null,
    );
    this.#asker = new Asker((quote) => this.#quote.show(quote), (error) => this.#failed(error));
    this.#form.addEventListener("input", () => this.#changed());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#act();
    });
    this.#form.querySelector(".back").addEventListener("click", () => this.#leave());
    this.#form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      // The first Escape leaves the form, and the next one closes the details.
      event.preventDefault();
      event.stopPropagation();
      this.#leave();
    });
  }

  /** Show the actions of a lease. A form that is open stays open while the lease has its action. */
  show(lease, mayApprove = false) {
    const isSame = this.#lease?.id === lease?.id;
    this.#lease = lease;
    const names = lease ? actionsOf(lease, mayApprove) : [];
    this.#element.hidden = !names.length;
    const shown = [...this.#buttons.children].map((button) => button.dataset.action);
    if (names.join() !== shown.join()) this.#buttons.replaceChildren(...names.map((name) => this.#button(name)));
    if (!isSame || !names.includes(this.#name)) this.#close();
    else if (!this.#busy) this.#changed();
  }

  /** The site has changed, so what the change would come to may have changed as well. */
  news() {
    if (this.#name && !this.#busy) this.#asker.again();
  }

  /** Open the form of an action with a value for its field. */
  propose(name, value) {
    this.#open(name);
    this.#enter(value);
  }

  /** The action whose form is open, and what its field holds; null if none is open. */
  get proposal() {
    return this.#name && ACTIONS[this.#name].field ? { name: this.#name, value: this.#field.value } : null;
  }

  #button(name) {
    const button = Object.assign(make("button", ACTIONS[name].label), { type: "button" });
    button.dataset.action = name;
    button.addEventListener("click", () => this.#open(name));
    return button;
  }

  #open(name) {
    this.#close();
    this.#name = name;
    const { field, text, type } = ACTIONS[name];
    this.#form.hidden = false;
    this.#buttons.hidden = true;
    this.#text.textContent = text ?? "";
    this.#label.parentElement.hidden = !field;
    this.#label.textContent = name === "move" && this.#lease.kind === "deadline" ? "New earliest start, UTC" : field ?? "";
    if (field) {
      this.#field.type = type;
      this.#field.value = valueOf(this.#lease, name);
    }
    this.#changed();
    (field ? this.#field : this.#send).focus();
  }

  /** Close the form, without moving the focus. */
  #close() {
    this.#asker.stop();
    this.#name = null;
    this.#form.hidden = true;
    this.#buttons.hidden = false;
    this.#quote.say("");
    clearNotes(this.#form);
  }

  /** Close the form, and move the focus to the button that opened it. */
  #leave() {
    const name = this.#name;
    this.#close();
    this.#buttons.querySelector(`[data-action=${name}]`)?.focus();
  }

  #enter(value) {
    this.#field.value = value;
    this.#changed();
    this.#field.focus();
  }

  #requests() {
    return requestsOf(this.#lease, this.#name, ACTIONS[this.#name].field ? this.#field.value : "");
  }

  /** Ask for a quote of what the form says now. */
  #changed() {
    const requests = this.#requests();
    this.#asker.stop();
    this.#send.disabled = requests === null;
    this.#send.textContent = requests?.label ?? ACTIONS[this.#name].label;
    clearProblems(this.#form);
    if (this.#field.type === "datetime-local") showLocalTimes(this.#form);
    // A gateway has no quotes of changes.
    if (requests?.quote && !this.#lease.site) {
      this.#quote.wait();
      this.#asker.ask(`${this.#path}/quote`, requests.quote);
    } else {
      this.#quote.say("");
    }
  }

  get #path() {
    return `v1/leases/${encodeURIComponent(this.#lease.id)}`;
  }

  #failed(error) {
    const shown = error.status === 400 && ACTIONS[this.#name].field && showProblem(this.#form, "value", problemOf(error, ""));
    if (shown) this.#quote.say(NOT_RIGHT);
    else this.#quote.refuse(error);
  }

  async #act() {
    const requests = this.#requests();
    if (this.#busy || requests === null) return;
    const lease = this.#lease;
    const isStillOpen = () => this.#lease?.id === lease.id && this.#name !== null;
    this.#asker.stop();
    this.#busy = true;
    this.#quote.say("Sending…");
    try {
      await postJson(`${this.#path}/action`, requests.action);
      if (isStillOpen()) this.#leave();
      this.#onDone(`${lease.name}: ${requests.label}, done`);
    } catch (error) {
      if (isStillOpen()) this.#failed(error);
    } finally {
      this.#busy = false;
    }
  }
}
