/** The legend: samples painted by the same functions as the chart. */

import { paintEdge, paintPiece, toneOf } from "./bars.js";
import { KINDS } from "./model.js";
import { Palette } from "./palette.js";

const WIDTH = 30;
const HEIGHT = 14;
const NOW = 10;

/** A piece of an invented lease in the given state. */
const sample = (state, phase, start, kind = "best-effort") => ({
  lease: { id: "", name: "", kind, state }, phase, start, end: start + 10,
});

const SAMPLES = [
  ...KINDS.map((kind) => [kind, sample("active", "run", 5, kind)]),
  ["past", sample("active", "run", 0)],
  ["active", sample("active", "run", 5)],
  ["planned", sample("scheduled", "run", 20)],
  ["offered", { ...sample("ready", "run", 20), lease: { ...sample("ready", "run", 20).lease, offered_until: 15 } }],
  ["resuming", sample("resuming", "resume", 5)],
  ["suspending", sample("suspending", "suspend", 5)],
  ["shutting down", sample("active", "shutdown", 5)],
  ["suspended: planned to return", sample("suspended-scheduled", "run", 20)],
  ["suspended: state kept here", "saved"],
  ["hidden by filters, or of other projects", "ghost"],
  ["host asleep, or not awake yet", "asleep"],
  ["host down or disabled", "down"],
];

function paintSample(canvas, what) {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(WIDTH * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext("2d");
  const palette = new Palette(canvas, context, ratio);
  const box = [0, 0, WIDTH, HEIGHT];
  context.scale(ratio, ratio);
  if (what === "saved") {
    context.strokeStyle = palette.edge("best-effort");
    context.lineWidth = 3;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(0, HEIGHT - 4);
    context.lineTo(WIDTH, HEIGHT - 4);
    context.stroke();
  } else if (what === "ghost" || what === "asleep" || what === "down") {
    context.fillStyle = what === "ghost" ? palette.ghost : palette.hatch(what, palette.muted);
    context.fillRect(...box);
  } else {
    const tone = toneOf(what.lease, what, NOW);
    paintPiece(context, palette, { lease: what.lease, phase: what.phase, tone }, box);
    paintEdge(context, palette, what.lease, box, tone);
  }
}

/** Fill a list with the legend, and repaint the legend when the colours change. */
export function fillLegend(list) {
  const canvases = SAMPLES.map(([label, what]) => {
    const item = document.createElement("li");
    if (typeof what === "string") item.id = `legend-${what}`;
    if (what === "asleep") item.className = "of-site";
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    item.append(canvas, label);
    list.append(item);
    return [canvas, what];
  });
  const repaint = () => canvases.forEach(([canvas, what]) => paintSample(canvas, what));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  repaint();
}
