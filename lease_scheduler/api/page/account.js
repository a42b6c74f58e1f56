/** The account in the head of the page: who has logged in, the project, and the way out. */

import { make } from "./elements.js";

/** Fill a choice of projects. One project is no choice. */
export function fillProjects(select, projects, chosen) {
  const isSame = projects.length === select.options.length && projects.every(({ id }, index) => select.options[index].value === id);
  if (!isSame) select.replaceChildren(...projects.map(({ id, name }) => new Option(name, id)));
  select.value = chosen;
  select.disabled = projects.length < 2;
}

/** The projects of a person, the present one first. */
export function ownFirst(projects, own) {
  return [own, ...projects.filter(({ id }) => id !== own.id)];
}

export class Account {
  #element;
  #select;

  /**
   * @param {HTMLElement} element
   * @param {{onProject: (id: string) => Promise<void>, onLeave: () => void}} parts
   */
  constructor(element, { onProject, onLeave }) {
    this.#element = element;
    this.#select = element.querySelector("select");
    this.#select.addEventListener("change", () => onProject(this.#select.value));
    element.querySelector("button").addEventListener("click", onLeave);
  }

  /** Show a login; null hides the account. */
  show(session) {
    this.#element.hidden = !session;
    this.say("");
    if (!session) return;
    this.#element.querySelector(".who").replaceChildren(make("span", session.user));
    this.#element.querySelector(".who").title = `Domain ${session.domain}`;
    fillProjects(this.#select, session.projects, session.project.id);
  }

  /** Show a problem. */
  say(text) {
    this.#element.querySelector("[role=alert]").textContent = text;
  }
}
