/** A list of what a project has besides leases. Members make and delete its entries: series, feeds, subscriptions. */

import { make, table } from "./elements.js";
import { valuesOf } from "./fields.js";
import { deleteJson, getJson, postJson, problemOf } from "./rest.js";

/** A button. */
const button = (text, onClick) => {
  const made = Object.assign(make("button", text), { type: "button" });
  made.addEventListener("click", onClick);
  return made;
};

/** Copy the text of a field. Pages that come over HTTP have no clipboard, but may still copy what is selected. */
async function copy(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

export class Listing {
  #element;
  #list;
  #form;
  #made;
  #problem;
  #kind;
  #mayChange;
  #asked = 0;

  /**
   * @param {HTMLElement} element with a heading, elements of the classes list, problem and made, and optionally a form
   * @param {object} kind what is listed: path and key of the list; caption, heads and row(entry) of the table; none, the
   *   text of an empty list; remove, a label and a question; with a form, also one, the key of an entry, body(values)
   *   and secret(entry), which returns a label and a text that is shown only once, or null
   * @param {() => boolean} mayChange whether the person may make and delete entries
   */
  constructor(element, kind, mayChange) {
    this.#element = element;
    this.#kind = kind;
    this.#mayChange = mayChange;
    this.#list = element.querySelector(".list");
    this.#made = element.querySelector(".made");
    this.#problem = element.querySelector(".problem");
    this.#form = element.querySelector("form");
    this.#form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make();
    });
  }

  /** Forget what was shown. */
  clear() {
    this.#asked += 1;
    this.#list.replaceChildren();
    this.#made?.replaceChildren();
    this.#problem.textContent = "";
    if (this.#form) this.#form.hidden = true;
  }

  /** Ask for the list and show it, or why it cannot be had. */
  async load() {
    const number = (this.#asked += 1);
    try {
      const { [this.#kind.key]: found } = await getJson(this.#kind.path);
      if (number !== this.#asked) return;
      this.#problem.textContent = "";
      this.#show(found);
    } catch (error) {
      if (number !== this.#asked) return;
      this.clear();
      this.#problem.textContent = problemOf(error);
    }
  }

  #show(found) {
    const { caption, heads, row, none } = this.#kind;
    const may = this.#mayChange();
    if (this.#form) this.#form.hidden = !may;
    const rows = found.map((entry) => [...row(entry), ...(may ? [this.#remover(entry)] : [])]);
    const shown = table(caption, [...heads, ...(may ? ["Change"] : [])], rows);
    this.#list.replaceChildren(found.length ? shown : make("p", none));
  }

  /** A button that deletes an entry once people have confirmed it. */
  #remover(entry) {
    const { label, question } = this.#kind.remove;
    const place = make("span");
    place.className = "buttons";
    const first = button(label, () => {
      const back = button("Keep", () => {
        place.replaceChildren(first);
        first.focus();
      });
      place.replaceChildren(make("span", question), button(label, () => this.#remove(entry)), back);
      back.focus();
    });
    place.append(first);
    return place;
  }

  async #remove(entry) {
    await this.#do(() => deleteJson(`${this.#kind.path}/${encodeURIComponent(entry.id)}`));
    this.#element.querySelector("h2").focus();
  }

  async #make() {
    await this.#do(async () => {
      const { [this.#kind.one]: entry } = await postJson(this.#kind.path, this.#kind.body(valuesOf(this.#form)));
      this.#form.reset();
      this.#tell(this.#kind.secret(entry));
    });
  }

  /** Change something, and show the list as it is then, or what was wrong. */
  async #do(change) {
    if (this.#element.hasAttribute("aria-busy")) return;
    this.#element.setAttribute("aria-busy", "true");
    this.#made?.replaceChildren();
    try {
      await change();
      await this.load();
    } catch (error) {
      this.#problem.textContent = problemOf(error);
    } finally {
      this.#element.removeAttribute("aria-busy");
    }
  }

  /** Show a secret, which nobody can see again. */
  #tell(secret) {
    if (!secret) return;
    const field = Object.assign(make("input"), { type: "text", readOnly: true, value: secret.text });
    const said = make("span");
    const copied = button("Copy", async () => {
      said.textContent = (await copy(field)) ? "Copied." : "Copy it with the keys of your browser.";
    });
    const label = make("label", secret.label, field);
    label.className = "entry";
    this.#made.replaceChildren(label, make("p", "", copied, said), make("p", "It is shown only now."));
    field.focus();
    field.select();
  }
}
