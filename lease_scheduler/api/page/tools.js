/** The tools of the timeline: zoom, following the current time, and the height of the rows. */

import { ZOOM_STEP } from "./gestures.js";
import { SPANS } from "./timeline.js";

const element = (id) => document.getElementById(id);
const spans = () => document.querySelectorAll("[data-span]");

/** Let people move the timeline with its tools, and read which keys do that. */
export function listenTools(timeline) {
  for (const button of spans()) {
    button.addEventListener("click", () => {
      if (button.dataset.span === "fit") timeline.fit();
      else timeline.zoomTo(SPANS[button.dataset.span]);
    });
  }
  element("zoom-in").addEventListener("click", () => timeline.zoomTo(timeline.span / ZOOM_STEP));
  element("zoom-out").addEventListener("click", () => timeline.zoomTo(timeline.span * ZOOM_STEP));
  element("follow").addEventListener("change", () => timeline.setFollow(element("follow").checked));
  element("rows").addEventListener("input", () => timeline.setRows(Number(element("rows").value)));
  element("help-open").addEventListener("click", () => element("help").showModal());
  element("rows-fit").addEventListener("click", () => timeline.setRows("fit"));
}

/** Show the state of the timeline in its tools. */
export function showTools(timeline) {
  element("follow").checked = timeline.follow;
  element("rows").value = Math.round(timeline.rowHeight);
  element("rows-value").textContent = `${Math.round(timeline.rowHeight)} px`;
  element("rows-fit").setAttribute("aria-pressed", String(timeline.rows === "fit"));
  for (const button of spans()) {
    button.setAttribute("aria-pressed", String(Math.round(timeline.span) === SPANS[button.dataset.span]));
  }
}
