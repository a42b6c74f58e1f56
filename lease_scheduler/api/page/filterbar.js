/** The filter bar, which all views share. */

import { GROUPS, KINDS } from "./model.js";
import { isFiltered } from "./settings.js";

/** Add a checkbox for each value to a fieldset. */
function boxes(fieldset, name, values, onChange) {
  for (const value of values) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    const text = document.createElement("span");
    box.type = "checkbox";
    box.name = name;
    box.value = value;
    text.textContent = value;
    if (name === "kind") label.className = `kind kind-${value}`;
    label.append(box, text);
    fieldset.append(label);
    box.addEventListener("change", onChange);
  }
}

export class FilterBar {
  #form;
  #projects = [];
  #own = null;
  #clear;

  /**
   * @param {HTMLFormElement} form
   * @param {(filters: object) => void} onChange gets kinds, groups, project, name and site
   */
  constructor(form, onChange) {
    this.#form = form;
    this.#clear = form.elements.namedItem("clear");
    const changed = () => onChange(this.#read());
    boxes(form.querySelector(".kinds"), "kind", KINDS, changed);
    boxes(form.querySelector(".states"), "state", Object.keys(GROUPS), changed);
    form.elements.namedItem("name").addEventListener("input", changed);
    for (const name of ["project", "site"]) form.elements.namedItem(name).addEventListener("change", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#clear.addEventListener("click", () => this.clear(onChange));
  }

  /** Clear the filters. */
  clear(onChange) {
    onChange({ kinds: new Set(KINDS), groups: new Set(Object.keys(GROUPS)), project: null, name: "", site: "" });
    this.#form.elements.namedItem("name").focus();
  }

  /**
   * Show these settings.
   * @param {object} settings
   * @param {string} project id of the project whose leases are shown; empty if all are
   */
  show(settings, project) {
    for (const box of this.#boxes("kind")) box.checked = settings.kinds.has(box.value);
    for (const box of this.#boxes("state")) box.checked = settings.groups.has(box.value);
    const name = this.#form.elements.namedItem("name");
    if (name.value !== settings.name) name.value = settings.name;
    this.#form.elements.namedItem("site").value = settings.site;
    this.#fillProjects(project);
    this.#clear.hidden = !isFiltered(settings);
  }

  /**
   * Set the projects to choose from.
   * @param {{id: string, name: string}[]} projects
   * @param {{id: string, name: string}|null} own that of the user, which comes first
   * @param {string} chosen id, or empty for all
   */
  setProjects(projects, own, chosen) {
    if (JSON.stringify([projects, own]) === JSON.stringify([this.#projects, this.#own])) return;
    this.#projects = projects;
    this.#own = own;
    this.#fillProjects(chosen);
  }

  #boxes(name) {
    return this.#form.querySelectorAll(`input[name=${name}]`);
  }

  #fillProjects(chosen) {
    const select = this.#form.elements.namedItem("project");
    const others = this.#projects.filter(({ id }) => id !== this.#own?.id);
    if (chosen && chosen !== this.#own?.id && !others.some(({ id }) => id === chosen)) others.push({ id: chosen, name: chosen });
    const own = this.#own ? [[`${this.#own.name} (my project)`, this.#own.id]] : [];
    const choices = [...own, ["all", ""], ...others.map(({ id, name }) => [name, id])];
    const shown = [...select.options].map((option) => [option.text, option.value]);
    if (JSON.stringify(choices) !== JSON.stringify(shown)) select.replaceChildren(...choices.map(([text, value]) => new Option(text, value)));
    select.value = chosen;
  }

  #read() {
    const ticked = (name) => new Set([...this.#boxes(name)].filter((box) => box.checked).map((box) => box.value));
    const { value } = this.#form.elements.namedItem("project");
    const project = value === (this.#own?.id ?? "") ? null : value;
    const { value: name } = this.#form.elements.namedItem("name");
    const { value: site } = this.#form.elements.namedItem("site");
    return { kinds: ticked("kind"), groups: ticked("state"), project, name, site };
  }
}
