/** Names of other projects, for operators: the server knows them, or asks the identity service. */

import { getJson } from "./rest.js";

/** Milliseconds between two questions. */
const PAUSE_MS = 300_000;
/** Answers that will not change. */
const NEVER = new Set([403, 404, 406]);

export class ProjectNames {
  #model;
  #onNames;
  #asked = -Infinity;

  /**
   * @param {Model} model
   * @param {() => void} onNames names have come
   */
  constructor(model, onNames) {
    this.#model = model;
    this.#onNames = onNames;
  }

  /** Ask for names if a project on the calendar has none. */
  async learn() {
    const names = this.#model.projectNames;
    const hasUnknown = this.#model.projects().some((id) => id && !names.has(id));
    if (!hasUnknown || performance.now() < this.#asked + PAUSE_MS) return;
    this.#asked = performance.now();
    try {
      const { projects } = await getJson("v1/projects");
      const unknown = projects.filter(({ id }) => !names.has(id));
      for (const { id, name } of unknown) names.set(id, name);
      if (unknown.length) this.#onNames();
    } catch (error) {
      // Only operators are told; for others, the ids stay.
      if (NEVER.has(error.status)) this.#asked = Infinity;
    }
  }
}
