/** The tabs that choose a view. */

import { VIEWS } from "./settings.js";

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Let people choose a view by click or, while a tab has the focus, by arrow keys. */
export function listenTabs(onChoose) {
  const tabs = VIEWS.map((view) => document.getElementById(`tab-${view}`));
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => onChoose(VIEWS[index]));
    tab.addEventListener("keydown", (event) => {
      // A gateway does not have all views.
      const shown = tabs.filter((each) => each.checkVisibility());
      const ends = { Home: 0, End: shown.length - 1 };
      const step = STEPS[event.key];
      const next = step ? (shown.indexOf(tab) + step + shown.length) % shown.length : ends[event.key];
      if (next === undefined) return;
      event.preventDefault();
      onChoose(VIEWS[tabs.indexOf(shown[next])]);
      shown[next].focus();
    });
  });
}

/** Show the tab of a view as selected, and its panel if there is something to show. */
export function showView(view, shown) {
  for (const other of VIEWS) {
    const tab = document.getElementById(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === view));
    tab.tabIndex = other === view ? 0 : -1;
    document.getElementById(`view-${other}`).hidden = other !== view || !shown;
  }
}
