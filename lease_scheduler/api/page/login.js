/** The dialog in which people log in or give a token. It stays open until the server accepts one of them. */

import { ServerError, getLogin, postLogin, problemOf } from "./rest.js";
import { begin, lastProject, session, takeNote } from "./session.js";

const NAMES = { password: "Password", credential: "Application credential", token: "Token" };

/** The values of a form that are not empty. Only passwords and secrets may begin or end with a space. */
function filled(form) {
  const values = {};
  for (const field of form.querySelectorAll("input")) {
    const value = field.type === "password" ? field.value : field.value.trim();
    if (value && !field.closest("[hidden]")) values[field.name] = value;
  }
  return values;
}

export class Login {
  #dialog;
  #method;
  #message;
  #forms;
  #onToken;
  #onSession;
  #onLeave;
  #offer = null;
  #isWanted = false;
  #busy = false;

  /**
   * @param {HTMLDialogElement} dialog
   * @param {{onToken: (token: string) => void, onSession: (session: object) => void, onLeave: () => void}} parts
   *   onLeave is called before the page goes to another site
   */
  constructor(dialog, { onToken, onSession, onLeave }) {
    this.#dialog = dialog;
    this.#method = dialog.querySelector("select");
    this.#message = dialog.querySelector("[role=alert]");
    this.#forms = Object.fromEntries([...dialog.querySelectorAll("form")].map((form) => [form.dataset.method, form]));
    this.#onToken = onToken;
    this.#onSession = onSession;
    this.#onLeave = onLeave;
    // Browsers that do not know closedby="none" ask at the first Escape, and close the dialog at the second one.
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      if (this.#isWanted) dialog.showModal();
    });
    this.#method.addEventListener("change", () => {
      this.#message.textContent = "";
      this.#choose(this.#method.value);
    });
    for (const form of Object.values(this.#forms)) {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.#submit(form);
      });
    }
  }

  /** Open the dialog, unless it is open, and show a text. */
  async ask(text) {
    this.#message.textContent = text;
    if (this.#isWanted) {
      this.#busy = false;
      return;
    }
    this.#isWanted = true;
    const note = takeNote();
    if (note) this.#message.textContent = note;
    // What it offers does not change while the service runs.
    this.#offer ??= await getLogin().catch(() => null);
    if (!this.#isWanted) return;
    this.#fillMethods();
    this.#dialog.showModal();
    this.#choose(this.#method.value);
  }

  /** Close the dialog. */
  close() {
    this.#isWanted = false;
    this.#busy = false;
    if (this.#dialog.open) this.#dialog.close();
  }

  #fillMethods() {
    const offer = this.#offer?.login ? this.#offer : null;
    const websso = (offer?.websso ?? []).map(({ label }, index) => new Option(label, `websso ${index}`));
    const own = (offer ? ["password", "credential"] : []).map((name) => new Option(NAMES[name], name));
    this.#method.replaceChildren(...own, ...websso, new Option(NAMES.token, "token"));
    this.#method.closest("label").hidden = offer === null;
    this.#dialog.querySelector("h2").textContent = offer ? "Log in" : "This server requires a token";
    const { user = "", domain = offer?.default_domain ?? "" } = session() ?? {};
    for (const form of [this.#forms.password, this.#forms.credential]) {
      form.elements.namedItem("domain").value ||= domain;
      form.elements.namedItem("user").value ||= user;
    }
  }

  /** Show the form of a method, and move the focus to its first empty field. */
  #choose(method) {
    const [name, index] = method.split(" ");
    for (const [each, form] of Object.entries(this.#forms)) form.hidden = each !== name;
    const form = this.#forms[name];
    if (name === "websso") form.querySelector("button").textContent = `Go to ${this.#offer.websso[index].label}`;
    const shown = [...form.elements].filter((element) => element.checkVisibility());
    (shown.find((field) => field.matches("input") && !field.value) ?? shown.at(-1)).focus();
  }

  async #submit(form) {
    if (this.#busy) return;
    this.#message.textContent = "";
    const values = filled(form);
    const { method } = form.dataset;
    if (method === "websso") {
      this.#leave();
      return;
    }
    if (method === "token") {
      this.#busy = true;
      this.#clear(form);
      this.#onToken(values.token);
      return;
    }
    this.#busy = true;
    const button = form.querySelector("[type=submit]");
    button.textContent = "Logging in…";
    try {
      const found =
        method === "password"
          ? await postLogin("password", { ...values, project_id: lastProject() })
          : await postLogin("application-credential", values.id ? { id: values.id, secret: values.secret } : values);
      this.#clear(form);
      this.#onSession(found);
    } catch (error) {
      this.#busy = false;
      this.#failed(form, error);
    } finally {
      button.textContent = "Log in";
    }
  }

  #failed(form, error) {
    const passcode = form.elements.namedItem("passcode");
    const isMissing = error instanceof ServerError && error.field === "passcode";
    if (isMissing) passcode.closest("label").hidden = false;
    this.#message.textContent = problemOf(error);
    const field = isMissing || (passcode && !passcode.closest("[hidden]")) ? passcode : form.querySelector("[type=password]");
    field.focus();
    field.select();
  }

  /** Forget secrets that were typed. */
  #clear(form) {
    for (const field of form.querySelectorAll("[type=password], [name=passcode]")) field.value = "";
    const passcode = form.querySelector("[data-passcode]");
    if (passcode) passcode.hidden = true;
  }

  #leave() {
    const [, index] = this.#method.value.split(" ");
    this.#onLeave();
    begin(location.hash);
    location.assign(this.#offer.websso[index].url);
  }
}
