/** Paints the whole chart: rows, axis, use of the hosts, names of the hosts, blocks, and the line for now. */

import { localTicks, ticks } from "./axis.js";
import { boxOf, paintBlocks, paintSaved } from "./bars.js";
import { zoneAt } from "./format.js";
import { KINDS, conditionOf } from "./model.js";

/** Heights of the axis in UTC, of local time below it, and of the strip that shows the use of the hosts, px. */
export const AXIS = 40;
export const LOCAL = 18;
export const STRIP = 34;

const NAME_HEIGHT = 12;
/** Width of the colour of a site, px. */
const BAND = 6;

/** Paint a frame (see Timeline), and return the number of painted blocks. */
export function paint(context, palette, frame) {
  context.setTransform(frame.ratio, 0, 0, frame.ratio, 0, 0);
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, frame.width, frame.height);
  const lines = ticks(frame.start, frame.end, frame.perPixel);
  context.save();
  context.beginPath();
  context.rect(frame.left, frame.top, frame.width - frame.left, frame.height - frame.top);
  context.clip();
  paintRows(context, palette, frame);
  paintLines(context, palette, frame, lines);
  if (frame.rowHeight < 8) paintSaved(context, palette, frame, frame.saved);
  const painted = paintBlocks(context, palette, frame, frame.blocks);
  if (frame.rowHeight >= 8) paintSaved(context, palette, frame, frame.saved);
  paintSelection(context, palette, frame);
  for (const box of proposedBoxes(frame)) paintProposal(context, palette, box);
  context.restore();
  paintHead(context, palette, frame, lines);
  paintNames(context, palette, frame);
  paintNow(context, palette, frame);
  return painted;
}

function paintRows(context, palette, frame) {
  const bottom = Math.min(frame.y(frame.hosts.length), frame.height);
  if (frame.rowHeight >= 8) {
    context.fillStyle = palette.stripe;
    for (let row = frame.firstRow + (frame.firstRow % 2); row < frame.lastRow; row += 2) {
      context.fillRect(frame.left, frame.y(row), frame.width - frame.left, frame.rowHeight);
    }
  }
  for (let row = frame.firstRow; row < frame.lastRow; row += 1) {
    const host = frame.hosts[row];
    if (!conditionOf(host)) continue;
    context.fillStyle = host.state === "up"
      ? palette.hatch("asleep", palette.muted)
      : palette.hatch("down", host.state === "down" ? palette.muted : palette.line);
    context.globalAlpha = 0.5;
    context.fillRect(frame.left, frame.y(row), frame.width - frame.left, frame.rowHeight);
    context.globalAlpha = 1;
  }
  if (frame.hover !== null) {
    context.fillStyle = palette.grid;
    context.fillRect(frame.left, frame.y(frame.hover), frame.width - frame.left, frame.rowHeight);
  }
  context.fillStyle = palette.line;
  context.fillRect(frame.left, bottom, frame.width - frame.left, 1);
}

function paintLines(context, palette, frame, lines) {
  const bottom = Math.min(frame.y(frame.hosts.length), frame.height);
  for (const [tier, colour] of [[lines.minor, palette.grid], [lines.major, palette.line]]) {
    context.fillStyle = colour;
    for (const { at } of tier) context.fillRect(frame.x(at), frame.top, 1, bottom - frame.top);
  }
}

function paintSelection(context, palette, frame) {
  if (frame.selected === null) return;
  context.lineWidth = 3;
  for (const block of frame.blocks) {
    if (block.lease.id !== frame.selected) continue;
    const box = boxOf(block, frame);
    if (!box) continue;
    context.strokeStyle = palette.surface;
    context.strokeRect(box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 2);
    context.strokeStyle = palette.ink;
    context.lineWidth = 2;
    context.strokeRect(box[0] - 1, box[1] - 1, box[2] + 2, box[3] + 2);
    context.lineWidth = 3;
  }
}

/** Groups of neighbouring rows, as [first, last]. */
function rowGroups(rows) {
  const groups = [];
  for (const row of [...rows].sort((a, b) => a - b)) {
    if (groups.at(-1)?.[1] === row - 1) groups.at(-1)[1] = row;
    else groups.push([row, row]);
  }
  return groups;
}

/** The boxes of what a drag would do. */
function proposedBoxes(frame) {
  const { proposal, blocks, x, y } = frame;
  if (!proposal) return [];
  if (!proposal.lease) {
    const { start, end, rows } = proposal;
    return rowGroups(rows).map(([first, last]) => [x(start), y(first), x(end) - x(start), y(last + 1) - y(first)]);
  }
  const { lease, kind, shift } = proposal;
  return blocks
    .filter((block) => block.lease.id === lease.id)
    .filter((block) => kind === "start" || block.end >= lease.holdings.at(-1).end)
    .map((block) => [kind === "start" ? { ...block, start: block.start + shift } : block, block.end + shift])
    .map(([block, end]) => boxOf({ ...block, end: Math.max(end, block.start) }, frame))
    .filter((box) => box !== null);
}

function paintProposal(context, palette, [x, y, width, height]) {
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.18;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  context.setLineDash([5, 3]);
  context.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), Math.max(height - 2, 1));
  context.setLineDash([]);
}

function paintHead(context, palette, frame, lines) {
  const wide = frame.width - frame.left;
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, frame.width, frame.top);
  context.save();
  context.beginPath();
  context.rect(frame.left, 0, wide, frame.top);
  context.clip();
  context.textBaseline = "middle";
  context.font = `600 12px ${palette.font}`;
  lines.major.forEach(({ at, label }, index) => {
    const next = index + 1 < lines.major.length ? frame.x(lines.major[index + 1].at) : Infinity;
    const length = context.measureText(label).width;
    // The label stays visible while any part of its interval is, and gives way to the next one.
    const x = Math.min(Math.max(frame.x(at) + 6, frame.left + 6), next - length - 12);
    context.fillStyle = palette.ink;
    if (x + length > frame.left) context.fillText(label, x, 12);
    context.fillStyle = palette.line;
    context.fillRect(frame.x(at), 0, 1, frame.top);
  });
  context.font = `11px ${palette.font}`;
  for (const { at, label } of lines.minor) {
    context.fillStyle = palette.line;
    context.fillRect(frame.x(at), AXIS - 18, 1, 18);
    context.fillStyle = palette.muted;
    context.fillText(label, frame.x(at) + 5, AXIS - 9);
  }
  if (frame.axis > AXIS) paintLocal(context, palette, frame);
  paintUse(context, palette, frame);
  context.restore();
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS, frame.width, 1);
  context.fillRect(0, frame.axis, frame.width, 1);
  context.fillRect(0, frame.top - 1, frame.width, 1);
}

function paintLocal(context, palette, frame) {
  let free = -Infinity;
  for (const { at, label, isDay } of localTicks(frame.start, frame.end, frame.perPixel)) {
    const x = frame.x(at) + 5;
    // A label with the name of a zone may need the room of the next one.
    if (x < free) continue;
    context.fillStyle = palette.line;
    context.fillRect(x - 5, AXIS, 1, LOCAL);
    context.font = `${isDay ? "600 " : ""}11px ${palette.font}`;
    context.fillStyle = isDay ? palette.ink : palette.muted;
    context.fillText(label, x, AXIS + LOCAL / 2);
    free = x + context.measureText(label).width + 4;
  }
}

function paintUse(context, palette, frame) {
  const step = 2;
  const columns = Math.ceil((frame.width - frame.left) / step);
  const shares = frame.load.averages(frame.start, frame.perPixel * step, columns);
  const all = Math.max(frame.hosts.length, 1);
  const foot = frame.top - 4;
  const high = STRIP - 8;
  context.fillStyle = palette.line;
  context.fillRect(frame.left, foot, frame.width - frame.left, 1);
  KINDS.forEach((kind, index) => {
    for (const [tone, from, until] of frame.split(columns, step)) {
      context.fillStyle = palette.fill({ id: "", kind }, tone);
      for (let column = from; column < until; column += 1) {
        const below = shares[column].slice(0, index).reduce((sum, value) => sum + value, 0);
        const value = shares[column][index];
        if (value <= 0) continue;
        const y = foot - ((below + value) / all) * high;
        context.fillRect(frame.left + column * step, y, step, (value / all) * high);
      }
    }
  });
}

/** Paint the colours of sites before their names. */
function paintBands(context, palette, frame) {
  for (let row = frame.firstRow; row < frame.lastRow; row += 1) {
    const { band } = frame.hosts[row];
    if (band === undefined) continue;
    context.fillStyle = palette.bands[band];
    context.fillRect(0, frame.y(row) + 1, BAND, Math.max(frame.rowHeight - 2, 1));
  }
}

function paintNames(context, palette, frame) {
  context.fillStyle = palette.surface;
  context.fillRect(0, frame.top, frame.left, frame.height - frame.top);
  context.save();
  context.beginPath();
  context.rect(0, frame.top, frame.left - 1, frame.height - frame.top);
  context.clip();
  context.textBaseline = "middle";
  const every = Math.max(1, Math.ceil((NAME_HEIGHT + 3) / frame.rowHeight));
  const size = Math.min(11, Math.max(9, frame.rowHeight - 2));
  paintBands(context, palette, frame);
  for (let row = frame.firstRow - (frame.firstRow % every); row < frame.lastRow; row += 1) {
    const host = frame.hosts[row];
    const hovered = row === frame.hover;
    if (row % every && !hovered) continue;
    const y = frame.y(row) + (every === 1 ? frame.rowHeight / 2 : NAME_HEIGHT / 2);
    if (hovered) {
      context.fillStyle = palette.grid;
      context.fillRect(0, y - NAME_HEIGHT / 2 - 1, frame.left, NAME_HEIGHT + 2);
    }
    context.font = `${hovered ? "600 " : ""}${every === 1 ? size : 11}px ${palette.font}`;
    const mark = !conditionOf(host) ? "" : host.state === "up" ? "☾ " : "✕ ";
    context.fillStyle = mark ? palette.muted : palette.ink;
    context.fillText(mark + host.name, 10, y);
  }
  context.restore();
  context.fillStyle = palette.line;
  context.fillRect(frame.left - 1, 0, 1, frame.height);
  context.fillStyle = palette.muted;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  context.fillText("UTC", 10, AXIS - 9);
  if (frame.axis > AXIS) context.fillText(zoneAt(frame.start), 10, AXIS + LOCAL / 2, frame.left - 14);
  if (frame.hosts[0]?.stands_for !== "site") context.fillText("Hosts used", 10, frame.axis + STRIP / 2, frame.left - 14);
}

function paintNow(context, palette, frame) {
  const x = frame.x(frame.now);
  if (x < frame.left || x > frame.width) return;
  context.fillStyle = palette.now;
  context.fillRect(x - 0.75, AXIS - 18, 1.5, frame.height - AXIS + 18);
  const label = "now";
  context.font = `600 11px ${palette.font}`;
  const length = context.measureText(label).width + 10;
  const left = Math.min(Math.max(x - length / 2, frame.left), frame.width - length);
  context.beginPath();
  context.roundRect(left, AXIS - 17, length, 15, 4);
  context.fill();
  context.fillStyle = palette.surface;
  context.textBaseline = "middle";
  context.fillText(label, left + 5, AXIS - 9);
}
