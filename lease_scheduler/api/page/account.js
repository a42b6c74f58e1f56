/** The account in the head of the page: who has logged in, the project, and the way out. */

import { make } from "./elements.js";
import { postLogin, problemOf, token } from "./rest.js";
import { forgetSession, keepNote, session } from "./session.js";

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

/** Revoke the tokens, and forget the login. If they cannot be revoked, the next login says so. */
export async function endSession() {
  const { unscoped, expires_at: end } = session();
  try {
    await postLogin("end", { tokens: [token(), unscoped].filter(Boolean) });
    forgetSession();
  } catch (error) {
    forgetSession();
    keepNote(`You are logged out here, but your token stays valid until ${end}: ${problemOf(error)}`);
  }
}

/** Load the page again, without what somebody has typed into it or chosen. */
export function loadAgain() {
  for (const form of document.forms) form.reset();
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  location.reload();
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
