/**
 * The chart of hosts against time. Has the visible part (time range, row height, scrolling) and paints it. Rows that
 * are out of sight cost only a check of their blocks.
 */

import { boxOf } from "./bars.js";
import { DAY } from "./format.js";
import { arrange } from "./layout.js";
import { Load } from "./load.js";
import { localTime } from "./localtime.js";
import { interruptionOf } from "./model.js";
import { AXIS, LOCAL, STRIP, paint } from "./paint.js";
import { Palette } from "./palette.js";

/** Lengths of the time range to choose from, s. */
export const SPANS = { hour: 3600, day: DAY, week: 7 * DAY, month: 30 * DAY };
/** Row heights, px. The row of a site has all its leases, in lanes, and may be higher if there is room. */
export const ROW = { least: 1, most: 24, mostOfSite: 96 };

const SHORTEST = 120;
const LONGEST = 5 * 365 * DAY;
/** Maximum distance from now that "fit" shows, s, so that leases without end do not stretch it. */
const FARTHEST = 400 * DAY;
/** Place of the line for now in a view that follows it, as a share of the width. */
const ANCHOR = 0.35;
const FOOT = 12;
/** Width of the end of a bar, which can be dragged, px. */
const END_WIDTH = 7;
const KEPT_FRAMES = 240;

export class Timeline {
  #scroller;
  #canvas;
  #context;
  #sizer;
  #palette = null;
  #clock;
  #onMove;
  #requested = false;
  #anchor = ANCHOR;
  #painted = null;
  #widths = new Map();
  #hosts = [];
  #layout = { blocks: [], saved: [], rows: [], start: Infinity, end: -Infinity };
  #load = new Load([]);
  #shows = () => true;
  #proposal = null;
  #ghost = null;
  /** Start and length of the visible time range, s. */
  start = 0;
  span = DAY;
  follow = true;
  /** Row height, px, or "fit": the height at which all hosts are visible. */
  rows = "fit";
  hover = null;
  selected = null;
  /** Milliseconds that painting the last frames took, and number of blocks in the last one. */
  frames = [];
  painted = 0;

  /**
   * @param {HTMLElement} scroller element that scrolls the rows, and contains a sizer with a canvas
   * @param {() => number|null} clock returns the server's instant, s
   * @param {() => void} onMove called when the visible part has changed
   */
  constructor(scroller, clock, onMove) {
    this.#scroller = scroller;
    this.#sizer = scroller.firstElementChild;
    this.#canvas = scroller.querySelector("canvas");
    this.#context = this.#canvas.getContext("2d", { alpha: false });
    this.#clock = clock;
    this.#onMove = onMove;
    new ResizeObserver(() => this.#resize()).observe(scroller);
    scroller.addEventListener("scroll", () => this.draw());
    // Local time makes the axis higher.
    localTime.addEventListener("change", () => this.#resize());
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.#recolour());
    }
  }

  /** Show these leases on these hosts. */
  setData(model) {
    this.#hosts = model.rows;
    this.#layout = arrange(model.leases.values(), model.rowOf);
    // How much of a site its leases use is not known to a gateway.
    this.#load = new Load(model.sites.length ? [] : this.#layout.rows);
    this.#measure();
    this.draw();
  }

  /** Show the leases for which a function is true. The others become shadows, since their hosts are not free. */
  setFilter(shows) {
    this.#shows = shows;
    this.draw();
  }

  /** Move with the clock; must be called often. */
  tick() {
    const now = this.#clock();
    if (now === null) return;
    if (this.follow) {
      const start = now - this.#anchor * this.span;
      if (Math.abs(start - this.start) >= this.#perPixel / 2) this.#move(start, this.span);
    } else if (this.#painted !== null && Math.abs(now - this.#painted) >= this.#perPixel / 2) this.draw();
  }

  /** Follow the line for now, or stop following it. */
  setFollow(follow) {
    this.follow = follow;
    const now = this.#clock();
    if (follow && now !== null) {
      const place = (now - this.start) / this.span;
      this.#anchor = place > 0.05 && place < 0.95 ? place : ANCHOR;
      this.#move(now - this.#anchor * this.span, this.span);
    }
    this.#onMove();
  }

  /** Move by seconds, and stop following the line for now. */
  pan(seconds) {
    this.follow = false;
    this.#move(this.start + seconds, this.span);
  }

  /** Change the length of the time range around an instant: by default now if it is followed, else the middle. */
  zoomTo(span, around = null) {
    const wanted = Math.min(Math.max(span, SHORTEST), LONGEST);
    const now = this.#clock();
    const at = around ?? (this.follow && now !== null ? now : this.start + this.span / 2);
    const place = (at - this.start) / this.span;
    this.#move(at - place * wanted, wanted);
    if (this.follow && now !== null) this.#anchor = (now - this.start) / wanted;
  }

  /** Show exactly this time range. */
  show(start, span) {
    this.follow = false;
    this.#move(start, span);
  }

  /** Show all leases that are near enough to now. */
  fit() {
    const now = this.#clock() ?? 0;
    const start = Math.max(Math.min(this.#layout.start, now), now - FARTHEST);
    const end = Math.min(Math.max(this.#layout.end, now), now + FARTHEST);
    const margin = Math.max((end - start) * 0.02, 60);
    this.#move(start - margin, end - start + 2 * margin);
    this.#anchor = (now - this.start) / this.span;
    this.#scroller.scrollTop = 0;
  }

  /** Set the height of a row, px or "fit". */
  setRows(rows) {
    const middle = (this.#scroller.scrollTop + this.#plotHeight / 2) / this.rowHeight;
    this.rows = rows === "fit" ? rows : Math.min(Math.max(rows, ROW.least), ROW.most);
    this.#measure();
    this.#scroller.scrollTop = middle * this.rowHeight - this.#plotHeight / 2;
    this.draw();
    this.#onMove();
  }

  /** Height of a row in px. */
  get rowHeight() {
    if (this.rows !== "fit") return this.rows;
    const high = (this.#plotHeight - FOOT) / Math.max(this.#hosts.length, 1);
    return Math.min(Math.max(high, ROW.least), this.#hosts[0]?.stands_for === "site" ? ROW.mostOfSite : ROW.most);
  }

  /** Scroll by rows. */
  scrollRows(rows) {
    this.#scroller.scrollTop += rows * Math.max(this.rowHeight, 12);
  }

  /** Scroll by screens. */
  scrollPages(pages) {
    this.#scroller.scrollTop += pages * this.#plotHeight * 0.9;
  }

  /** Rows from a first to a last one that are, or stand for, hosts. */
  hostRows(first, last) {
    const rows = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    return rows.filter((row) => this.#hosts[row].stands_for !== "projects");
  }

  /**
   * What is under a point of the canvas: lease, whether that is the end of its bar, row, instant, and whether in the plot
   * of a host.
   */
  at(x, y) {
    const frame = this.#frame();
    const instant = this.instantAt(x);
    const nothing = { lease: null, isEnd: false, row: null, instant, isPlot: false };
    if (x < 0 || y < frame.top) return nothing;
    const row = Math.floor((y - frame.top + this.#scroller.scrollTop) / frame.rowHeight);
    if (row < 0 || row >= this.#hosts.length) return nothing;
    if (x < frame.left) return { ...nothing, row };
    let box = null;
    const hit = this.#layout.blocks.findLast((block) => {
      box = frame.shows(block.lease) ? boxOf(block, frame) : null;
      return box && x >= box[0] - 1 && x <= box[0] + box[2] + 1 && y >= box[1] && y <= box[1] + box[3];
    });
    if (!hit) return { ...nothing, row, isPlot: this.hostRows(row, row).length > 0 };
    const { lease, end } = hit;
    const [left, , width] = box;
    const isLast = lease.holdings.length > 0 && !interruptionOf(lease)?.isOpen && end >= lease.holdings.at(-1).end;
    const isEnd = isLast && x >= left + width - Math.min(END_WIDTH, width / 3);
    return { lease, isEnd, row, instant, isPlot: true };
  }

  /** Show what a drag would do, or null for nothing: a new lease, or a shift of a lease's start or end. */
  setProposal(proposal) {
    this.#proposal = proposal;
    this.draw();
  }

  /** Show where a lease would be that is being filled in, as {start, end, rows}, or null for nowhere. */
  setGhost(ghost) {
    this.#ghost = ghost;
    this.draw();
  }

  /** Where a lease would be that is being filled in, or null. */
  get ghost() {
    return this.#ghost;
  }

  /** Instant at a horizontal position of the canvas, s. */
  instantAt(x) {
    return this.start + (x - this.#left) * this.#perPixel;
  }

  /** Seconds per pixel. */
  get perPixel() {
    return this.#perPixel;
  }

  /** Visible leases, in the order of their starts. */
  inSight() {
    const frame = this.#frame();
    const seen = new Map();
    for (const block of this.#layout.blocks) {
      if (!frame.shows(block.lease) || !boxOf(block, frame)) continue;
      const first = seen.get(block.lease.id);
      if (!first || block.start < first.start) seen.set(block.lease.id, block);
    }
    return [...seen.values()].sort((a, b) => a.start - b.start || a.row - b.row).map((block) => block.lease);
  }

  /** Rectangles of the visible blocks of a lease on the canvas, as [x, y, width, height] in px. */
  boxes(id) {
    const frame = this.#frame();
    return this.#layout.blocks
      .filter((block) => block.lease.id === id)
      .map((block) => boxOf(block, frame))
      .filter((box) => box !== null);
  }

  /** Make a lease visible: the block that is nearest to now. Return false if it has none. */
  reveal(id) {
    const blocks = this.#layout.blocks.filter((block) => block.lease.id === id);
    if (!blocks.length) return false;
    const now = this.#clock() ?? 0;
    const away = (block) => Math.max(block.start - now, now - block.end, 0);
    const block = blocks.reduce((best, other) => (away(other) < away(best) ? other : best));
    const end = Math.min(block.end, block.start + FARTHEST);
    if (block.start < this.start || end > this.start + this.span) {
      const span = Math.min(Math.max(this.span, (end - block.start) * 1.5), LONGEST);
      this.show((block.start + end) / 2 - span / 2, span);
    }
    const top = block.row * this.rowHeight;
    const bottom = (block.row + block.rows) * this.rowHeight;
    const { scrollTop } = this.#scroller;
    if (bottom < scrollTop + 20 || top > scrollTop + this.#plotHeight - 20) {
      this.#scroller.scrollTop = top - this.#plotHeight / 3;
    }
    this.draw();
    return true;
  }

  /** Paint with the next frame of the browser. */
  draw() {
    if (this.#requested) return;
    this.#requested = true;
    requestAnimationFrame(() => {
      this.#requested = false;
      if (!this.#canvas.width || !this.#canvas.clientWidth) return;
      const began = performance.now();
      const frame = this.#frame();
      this.painted = paint(this.#context, this.#colours(), frame);
      this.#painted = frame.now;
      this.frames.push(performance.now() - began);
      if (this.frames.length > KEPT_FRAMES) this.frames.shift();
    });
  }

  get #plotHeight() {
    return Math.max(this.#scroller.clientHeight - this.#axis - STRIP, 1);
  }

  get #axis() {
    return localTime.isShown ? AXIS + LOCAL : AXIS;
  }

  get #left() {
    const longest = this.#hosts.reduce((most, host) => Math.max(most, host.name.length), 8);
    const most = this.#scroller.clientWidth < 600 ? 84 : 180;
    return Math.round(Math.min(Math.max(longest * 6.6 + 24, 76), most));
  }

  get #perPixel() {
    return this.span / Math.max(this.#scroller.clientWidth - this.#left, 1);
  }

  #move(start, span) {
    this.start = start;
    this.span = span;
    this.draw();
    this.#onMove();
  }

  #colours() {
    this.#palette ??= new Palette(this.#scroller, this.#context, devicePixelRatio);
    return this.#palette;
  }

  #recolour() {
    this.#palette = null;
    this.draw();
  }

  #resize() {
    const { clientWidth, clientHeight } = this.#scroller;
    const ratio = devicePixelRatio;
    this.#canvas.width = Math.round(clientWidth * ratio);
    this.#canvas.height = Math.round(clientHeight * ratio);
    this.#canvas.style.width = `${clientWidth}px`;
    this.#canvas.style.height = `${clientHeight}px`;
    this.#palette = null;
    this.#measure();
    this.draw();
    this.#onMove();
  }

  /** Give the sizer the height of all rows, so that the browser can scroll them. */
  #measure() {
    const high = this.#axis + STRIP + this.#hosts.length * this.rowHeight + FOOT;
    this.#sizer.style.height = `${Math.max(high, this.#scroller.clientHeight)}px`;
  }

  /** A frame: everything that painting the chart needs. */
  #frame() {
    const ratio = devicePixelRatio;
    const snap = (value) => Math.round(value * ratio) / ratio;
    const [left, perPixel, rowHeight, axis] = [this.#left, this.#perPixel, this.rowHeight, this.#axis];
    const top = axis + STRIP;
    const { scrollTop, clientWidth: width, clientHeight: height } = this.#scroller;
    const now = this.#clock() ?? 0;
    const x = (instant) => snap(left + (instant - this.start) / perPixel);
    return {
      ratio, snap, left, axis, top, width, height, perPixel, rowHeight, now, x,
      y: (row) => snap(top + row * rowHeight - scrollTop),
      start: this.start,
      end: this.start + this.span,
      firstRow: Math.max(0, Math.floor(scrollTop / rowHeight)),
      lastRow: Math.min(this.#hosts.length, Math.ceil((scrollTop + height - top) / rowHeight)),
      hosts: this.#hosts,
      blocks: this.#layout.blocks,
      saved: this.#layout.saved,
      load: this.#load,
      shows: this.#shows,
      hover: this.hover,
      selected: this.selected,
      // What is being dragged takes the place of what was dragged before.
      proposal: this.#proposal ?? this.#ghost,
      widths: this.#widths,
      /** Columns of the strip before and after now, as [tone, first, end (exclusive)]. */
      split: (columns, step) => {
        const middle = Math.min(Math.max(Math.round((x(now) - left) / step), 0), columns);
        return [["past", 0, middle], ["ahead", middle, columns]];
      },
    };
  }
}
