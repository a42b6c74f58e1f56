/** Fields of forms: their values, what is wrong with them, and the viewer's time beside times in UTC. */

import { make } from "./elements.js";
import { instantOfField, localInstant } from "./format.js";

/** The values of a form by the names of the fields: texts, and whether boxes are ticked. */
export function valuesOf(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.type === "checkbox") values[field.name] = field.checked;
    else if (field.type !== "radio" || field.checked) values[field.name] = field.value;
  }
  return values;
}

/** Set fields of a form. */
export function fill(form, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value;
    else field.value = value;
  }
}

/** The paragraph of some class below a field. It is made if it is not there. */
function below(form, name, kind) {
  const id = `${form.id}-${name}-${kind}`;
  const found = document.getElementById(id);
  if (found) return found;
  const note = Object.assign(make("p"), { id, className: kind });
  const field = form.elements.namedItem(name);
  const fields = field instanceof RadioNodeList ? [...field] : [field];
  if (fields.length > 1) fields[0].closest("fieldset").append(note);
  else {
    field.closest("label").append(note);
    // It describes the field, and is no part of its name.
    note.setAttribute("aria-hidden", "true");
  }
  for (const each of fields) {
    each.setAttribute("aria-describedby", [each.getAttribute("aria-describedby"), id].filter(Boolean).join(" "));
  }
  return note;
}

/** Show what is wrong with a field, below it. Return false if the form has no such field, or does not show it. */
export function showProblem(form, name, text) {
  const field = name && form.elements.namedItem(name);
  const first = field instanceof RadioNodeList ? field[0] : field;
  if (!first?.closest) return false;
  const folded = first.closest("details");
  if (folded) folded.open = true;
  if (!first.checkVisibility()) return false;
  below(form, name, "problem").textContent = text;
  first.setAttribute("aria-invalid", "true");
  return true;
}

/** What a form calls one of its fields, or null if it has no such field. */
export function labelOf(form, name) {
  const label = name && form.elements.namedItem(name)?.closest?.("label");
  return label ? (label.querySelector("span") ?? label.firstChild).textContent.trim() : null;
}

/** Forget what was wrong. */
export function clearProblems(form) {
  for (const note of form.querySelectorAll(".problem")) note.textContent = "";
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

/** Forget everything below the fields. */
export function clearNotes(form) {
  clearProblems(form);
  for (const note of form.querySelectorAll(".local")) note.textContent = "";
}

/** Show the viewer's time below each field with an instant in UTC. */
export function showLocalTimes(form) {
  for (const field of form.querySelectorAll("input[type=datetime-local]")) {
    const instant = instantOfField(field.value);
    const text = instant === null ? "" : localInstant(instant);
    if (text || field.hasAttribute("aria-describedby")) {
      below(form, field.name, "local").textContent = text && `${text} where you are`;
    }
  }
}
