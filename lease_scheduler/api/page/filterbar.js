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
  #clear;

  /**
   * @param {HTMLFormElement} form
   * @param {(filters: object) => void} onChange gets kinds, groups, project and name
   */
  constructor(form, onChange) {
    this.#form = form;
    this.#clear = form.elements.namedItem("clear");
    const changed = () => onChange(this.#read());
    boxes(form.querySelector(".kinds"), "kind", KINDS, changed);
    boxes(form.querySelector(".states"), "state", Object.keys(GROUPS), changed);
    form.elements.namedItem("name").addEventListener("input", changed);
    form.elements.namedItem("project").addEventListener("change", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#clear.addEventListener("click", () => this.clear(onChange));
  }

  /** Clear the filters. */
  clear(onChange) {
    onChange({ kinds: new Set(KINDS), groups: new Set(Object.keys(GROUPS)), project: "", name: "" });
    this.#form.elements.namedItem("name").focus();
  }

  /** Show these settings. */
  show(settings) {
    for (const box of this.#boxes("kind")) box.checked = settings.kinds.has(box.value);
    for (const box of this.#boxes("state")) box.checked = settings.groups.has(box.value);
    const name = this.#form.elements.namedItem("name");
    if (name.value !== settings.name) name.value = settings.name;
    this.#fillProjects(settings.project);
    this.#clear.hidden = !isFiltered(settings);
  }

  /** Set the projects to choose from. */
  setProjects(projects, chosen) {
    if (projects.join() === this.#projects.join()) return;
    this.#projects = projects;
    this.#fillProjects(chosen);
  }

  #boxes(name) {
    return this.#form.querySelectorAll(`input[name=${name}]`);
  }

  #fillProjects(chosen) {
    const select = this.#form.elements.namedItem("project");
    const names = chosen && !this.#projects.includes(chosen) ? [...this.#projects, chosen] : this.#projects;
    if (select.options.length !== names.length + 1 || names.some((name, index) => select.options[index + 1].value !== name)) {
      select.replaceChildren(new Option("all", ""), ...names.map((name) => new Option(name, name)));
    }
    select.value = chosen;
  }

  #read() {
    const ticked = (name) => new Set([...this.#boxes(name)].filter((box) => box.checked).map((box) => box.value));
    const { value: project } = this.#form.elements.namedItem("project");
    const { value: name } = this.#form.elements.namedItem("name");
    return { kinds: ticked("kind"), groups: ticked("state"), project, name };
  }
}
