/**
 * Paints blocks. The colour shows the kind, and the filling shows the state:
 * - pale without edge: past
 * - full: now
 * - nearly empty with an edge: planned; with a dashed edge, the return of a suspended lease
 * - hatched: resuming, suspending or shutting down; with upright lines, an offer that is not accepted yet
 * - dotted line: a suspended lease whose state is kept on that host
 */

import { groupOf, isOffered } from "./model.js";

/** Smallest width and height of a box with an edge and hatching, px. */
const EDGED = 4;
const LETTER_HEIGHT = 13;
const LEAST_LETTERS = 26;

/** Whether a piece is past, now or ahead. */
export function toneOf(lease, piece, now) {
  const group = groupOf(lease);
  if (piece.end <= now || group === "past") return "past";
  if (piece.start > now) return "ahead";
  return group === "active" ? "now" : "ahead";
}

/**
 * Paint a piece.
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @param {{lease: object, phase: string, tone: string}} what
 * @param {number[]} box x, y, width, height
 */
export function paintPiece(context, palette, { lease, phase, tone }, [x, y, width, height]) {
  // Without an edge, the colour has to be stronger.
  const small = height < EDGED || width < EDGED;
  context.fillStyle = palette.fill(lease, small && tone === "ahead" ? "small" : tone);
  context.fillRect(x, y, width, height);
  const hatching = phase === "run" && isOffered(lease) ? "offered" : phase;
  if (hatching === "run") return;
  const edge = palette.edge(lease.kind);
  // Where there is no room for hatching, a dark colour shows that an operation is in progress.
  context.fillStyle = small ? edge : palette.hatch(hatching, edge);
  context.globalAlpha = tone === "now" ? 1 : small ? 0.35 : 0.6;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

/** Paint the edge of a block that is not past. */
export function paintEdge(context, palette, lease, [x, y, width, height], tone) {
  if (tone === "past" || width < EDGED || height < EDGED) return;
  const line = 1 / palette.ratio;
  const thick = Math.max(line, Math.round(palette.ratio) * line);
  context.strokeStyle = palette.edge(lease.kind);
  context.lineWidth = thick;
  const dashed = tone === "ahead" && groupOf(lease) === "suspended";
  if (dashed) context.setLineDash([4, 3]);
  context.strokeRect(x + thick / 2, y + thick / 2, width - thick, height - thick);
  if (dashed) context.setLineDash([]);
}

/** Paint the name of a lease into its box if there is room, shortened if necessary. */
function paintName(context, palette, widths, lease, [x, y, width, height], tone) {
  const room = width - 10;
  if (height < LETTER_HEIGHT || room < LEAST_LETTERS) return;
  let wide = widths.get(lease.name);
  if (wide === undefined) widths.set(lease.name, (wide = context.measureText(lease.name).width));
  const letters = Math.floor((lease.name.length * room) / wide) - 1;
  const text = wide <= room ? lease.name : `${lease.name.slice(0, Math.max(1, letters))}…`;
  context.fillStyle = palette.letters(tone);
  context.fillText(text, x + 5, y + height / 2 + 0.5);
}

/** Top and height of the area for the name: the middle row if rows are high enough for letters, else everything. */
function middle(frame, top, bottom) {
  if (frame.rowHeight < LETTER_HEIGHT || bottom - top < 2 * frame.rowHeight) return [top, bottom - top];
  const row = frame.firstRow + Math.floor(((top + bottom) / 2 - frame.y(frame.firstRow)) / frame.rowHeight);
  return [frame.y(row), frame.rowHeight];
}

/** Paint the lines between the rows of a block. */
function paintRowLines(context, palette, frame, block, left, right) {
  context.fillStyle = palette.surface;
  context.globalAlpha = 0.25;
  const end = Math.min(block.row + block.rows, frame.lastRow);
  for (let row = Math.max(block.row + 1, frame.firstRow); row < end; row += 1) {
    context.fillRect(left, frame.y(row) - 1, right - left, 1);
  }
  context.globalAlpha = 1;
}

/** Paint where the state of suspended leases is kept, as dotted lines at the foot of the rows. */
export function paintSaved(context, palette, frame, saved) {
  const thick = frame.rowHeight >= 14 ? 3 : frame.rowHeight >= 8 ? 2 : 1;
  context.lineWidth = thick;
  context.setLineDash([thick, thick]);
  for (const { lease, rows, start, end } of saved) {
    if (!frame.shows(lease)) continue;
    const from = Math.max(frame.x(start), frame.left);
    const until = Math.min(frame.x(end ?? frame.now), frame.width);
    if (from >= until) continue;
    context.strokeStyle = palette.edge(lease.kind);
    context.beginPath();
    for (const row of rows) {
      const y = frame.y(row + 1) - thick / 2 - (frame.rowHeight >= 4 ? 1 : 0);
      if (y < frame.top || y > frame.height) continue;
      context.moveTo(from, y);
      context.lineTo(until, y);
    }
    context.stroke();
  }
  context.setLineDash([]);
}

/**
 * Rectangle of a block on the canvas, or null if it is out of sight.
 * @returns {number[]|null} x, y, width, height; not clipped at the left and right
 */
export function boxOf(block, frame) {
  const x = frame.x(block.start);
  const right = frame.x(block.end);
  if (right < frame.left || x > frame.width) return null;
  const top = frame.y(block.row);
  const bottom = frame.y(block.row + block.rows);
  if (bottom < frame.top || top > frame.height) return null;
  const gap = frame.rowHeight >= 10 ? 2 : frame.rowHeight >= 4 ? 1 : 0;
  const height = bottom - top - gap;
  const lane = height / block.lanes;
  const y = frame.snap(top + block.lane * lane);
  const below = frame.snap(top + (block.lane + 1) * lane) - (block.lanes > 1 && lane >= 4 ? 1 : 0);
  // Leave a gap to the next lease on the same hosts if there is room for one.
  const width = right - x > 6 ? right - x - 1 : Math.max(right - x, 1);
  return [x, y, width, Math.max(below - y, 1)];
}

/**
 * Paint all blocks that are in sight.
 * @returns {number} number of painted blocks
 */
export function paintBlocks(context, palette, frame, blocks) {
  const widths = frame.widths;
  context.font = `11px ${palette.font}`;
  context.textBaseline = "middle";
  let painted = 0;
  for (const block of blocks) {
    const box = boxOf(block, frame);
    if (!box) continue;
    painted += 1;
    const { lease } = block;
    const [, y, , height] = box;
    const left = Math.max(box[0], frame.left - 4);
    const right = Math.min(box[0] + box[2], frame.width + 4);
    if (!frame.shows(lease)) {
      context.fillStyle = palette.ghost;
      context.fillRect(left, y, Math.max(right - left, 1), height);
      continue;
    }
    let first = null;
    let last = null;
    for (const piece of block.pieces) {
      const from = Math.max(frame.x(piece.start), left);
      const until = Math.min(Math.max(frame.x(piece.end), from + 1), right);
      if (until <= from) continue;
      const tone = toneOf(lease, piece, frame.now);
      paintPiece(context, palette, { lease, phase: piece.phase, tone }, [from, y, until - from, height]);
      // Consecutive pieces with the same tone share one edge, and the longest run has the name.
      if (last && last.tone === tone) last.until = until;
      else {
        if (last) paintEdge(context, palette, lease, [last.from, y, last.until - last.from, height], last.tone);
        last = { from, until, tone };
      }
      if (piece.phase === "run" && (!first || until - from > first.until - first.from)) first = { from, until, tone };
    }
    if (last) paintEdge(context, palette, lease, [last.from, y, last.until - last.from, height], last.tone);
    if (block.rows > 1 && frame.rowHeight >= 10) paintRowLines(context, palette, frame, block, left, right);
    if (first) {
      // The name is in the middle of the visible part.
      const from = Math.max(first.from, frame.left);
      const [top, high] = middle(frame, Math.max(y, frame.top), Math.min(y + height, frame.height));
      const seen = [from, top, Math.min(first.until, frame.width) - from, high];
      paintName(context, palette, widths, lease, seen, first.tone);
    }
  }
  return painted;
}
