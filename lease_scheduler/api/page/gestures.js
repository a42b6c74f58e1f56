/** Mouse, touch and keys on the chart. */

import { chosenBy, dragFrom, dragText } from "./drags.js";
import { ROW, SPANS } from "./timeline.js";

/** Factor by which one zoom step changes the time range. */
export const ZOOM_STEP = 1.5;
/** Maximum movement of a click, px. */
const STILL = 5;

/** Pixels per unit of a turn of the mouse wheel. */
const wheelPixels = (event) => (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1);

/**
 * Let people move and zoom the chart, choose leases, and drag out new ones and other times.
 * @param {HTMLElement} scroller
 * @param {Timeline} timeline
 * @param {{open: (lease: object) => void, point: (lease: object|null, row: number|null, event: PointerEvent|null) => void,
 *   select: (lease: object) => void, mayBook: () => boolean, drag: (texts: string[]|null, event: PointerEvent|null) => void,
 *   choose: (drag: object, chosen: object) => void, create: () => void}} actions open: show a lease's details; point: the
 *   pointer is over a lease and a row, or null; select: a lease was chosen by key; drag: say what a drag would do, or
 *   null; choose: a drag has ended (see drags.js); create: a new lease is wanted
 */
export function listen(scroller, timeline, actions) {
  const pointers = new Map();
  let moved = 0;
  /** The drag that goes on (of kind "none" if it was given up), and what it has chosen. */
  let drag = null;
  let chosen = null;
  const stop = () => {
    drag = null;
    chosen = null;
    timeline.setProposal(null);
    actions.drag(null, null);
    scroller.classList.remove("dragged");
  };
  const place = (event) => {
    const box = scroller.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  scroller.addEventListener("pointerdown", (event) => {
    const inside = event.offsetX < scroller.clientWidth && event.button === 0;
    if (!inside) return;
    pointers.set(event.pointerId, place(event));
    moved = 0;
    const isMouse = event.pointerType === "mouse";
    drag = dragFrom(timeline.at(...place(event)), { mayBook: actions.mayBook(), only: !isMouse || event.shiftKey });
    if (isMouse) scroller.setPointerCapture(event.pointerId);
  });

  scroller.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const last = pointers.get(event.pointerId);
    if (!last) {
      const under = timeline.at(x, y);
      scroller.dataset.drag = dragFrom(under, { mayBook: actions.mayBook(), only: event.pointerType !== "mouse" }).kind;
      actions.point(under.lease, under.row, event);
      return;
    }
    actions.point(null, null, null);
    moved += Math.hypot(x - last[0], y - last[1]);
    if (pointers.size === 2) pinch(event.pointerId, [x, y]);
    else if (moved > STILL && drag && drag.kind !== "pan" && drag.kind !== "none") {
      chosen = chosenBy(drag, timeline.at(x, y), timeline);
      timeline.setProposal({ ...chosen, kind: drag.kind, lease: drag.from.lease });
      actions.drag(dragText(drag, chosen), event);
    } else if (moved > STILL && drag?.kind !== "none") {
      if (x !== last[0]) timeline.pan((last[0] - x) * timeline.perPixel);
      if (event.pointerType === "mouse") scroller.scrollTop += last[1] - y;
      scroller.classList.add("dragged");
    }
    if (moved > STILL || pointers.size === 2) pointers.set(event.pointerId, [x, y]);
  });

  function pinch(id, [x]) {
    const [other] = [...pointers.entries()].filter(([key]) => key !== id).map(([, at]) => at[0]);
    const before = Math.abs(pointers.get(id)[0] - other);
    const after = Math.abs(x - other);
    if (before > 8 && after > 8) timeline.zoomTo((timeline.span * before) / after, timeline.instantAt((x + other) / 2));
  }

  const release = (event) => {
    if (!pointers.delete(event.pointerId)) return;
    const [done, result] = [drag, chosen];
    stop();
    if (event.type === "pointerup" && result) {
      if (result.isNew) actions.choose(done, result);
      return;
    }
    if (event.type !== "pointerup" || moved > STILL) return;
    const { lease } = timeline.at(...place(event));
    if (lease) actions.open(lease);
  };
  scroller.addEventListener("pointerup", release);
  scroller.addEventListener("pointercancel", release);
  scroller.addEventListener("pointerleave", () => actions.point(null, null, null));

  scroller.addEventListener("wheel", (event) => {
    const unit = wheelPixels(event);
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const turn = Math.min(Math.max(event.deltaY * unit, -60), 60);
      const around = timeline.follow ? null : timeline.instantAt(place(event)[0]);
      timeline.zoomTo(timeline.span * ZOOM_STEP ** (turn / 60), around);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      timeline.pan((event.deltaX || event.deltaY) * unit * timeline.perPixel);
    } else return;
  }, { passive: false });

  const next = (step) => {
    const leases = timeline.inSight();
    if (!leases.length) return;
    const at = leases.findIndex((lease) => lease.id === timeline.selected);
    const first = step > 0 ? 0 : leases.length - 1;
    actions.select(leases[at < 0 ? first : (at + step + leases.length) % leases.length]);
  };
  const rows = (step) => {
    const high = Math.round(timeline.rowHeight);
    timeline.setRows(Math.min(Math.max(high + step * (high >= 12 ? 2 : 1), ROW.least), ROW.most));
  };
  const keys = {
    ArrowLeft: () => timeline.pan(-timeline.span / 10),
    ArrowRight: () => timeline.pan(timeline.span / 10),
    ArrowUp: () => timeline.scrollRows(-3),
    ArrowDown: () => timeline.scrollRows(3),
    PageUp: () => timeline.scrollPages(-1),
    PageDown: () => timeline.scrollPages(1),
    Home: () => (scroller.scrollTop = 0),
    End: () => (scroller.scrollTop = scroller.scrollHeight),
    "+": () => timeline.zoomTo(timeline.span / ZOOM_STEP),
    "=": () => timeline.zoomTo(timeline.span / ZOOM_STEP),
    "-": () => timeline.zoomTo(timeline.span * ZOOM_STEP),
    h: () => timeline.zoomTo(SPANS.hour),
    d: () => timeline.zoomTo(SPANS.day),
    w: () => timeline.zoomTo(SPANS.week),
    m: () => timeline.zoomTo(SPANS.month),
    f: () => timeline.fit(),
    t: () => timeline.setFollow(!timeline.follow),
    "[": () => rows(-1),
    "]": () => rows(1),
    a: () => timeline.setRows("fit"),
    c: () => actions.create(),
    n: () => next(1),
    p: () => next(-1),
  };
  scroller.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen) {
      stop();
      drag = { kind: "none" };
      event.stopPropagation();
    } else if (event.key === "Enter" || event.key === " ") {
      const lease = timeline.inSight().find(({ id }) => id === timeline.selected);
      if (lease) actions.open(lease);
    } else if (keys[event.key]) {
      keys[event.key]();
    } else return;
    event.preventDefault();
  });
}
