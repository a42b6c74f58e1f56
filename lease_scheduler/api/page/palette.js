/** Colours and hatchings of the chart. They come from the style sheet, so that one place defines light and dark. */

import { KINDS } from "./model.js";
import { BANDS } from "./sites.js";

/** Number of slightly different shades of a kind, which show where one lease ends and its neighbour begins. */
const SHADES = 3;
const SHADE_STEP = 0.09;
/** Share of the surface colour in a fill. */
const STRENGTHS = { past: 0.46, now: 0, ahead: 0.8, small: 0.62 };

/** Red, green and blue of "#rrggbb". */
function channels(colour) {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Mixture of two colours, with the given share of the second one. */
export function mix(from, to, share) {
  const other = channels(to);
  return `#${channels(from)
    .map((channel, index) => Math.round(channel + (other[index] - channel) * share).toString(16).padStart(2, "0"))
    .join("")}`;
}

/** Lines of each hatching, as [x0, y0, x1, y1] on a tile of 8 x 8. */
const HATCHES = {
  resume: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
  suspend: [[0, 0, 8, 8], [6, -2, 10, 2], [-2, 6, 2, 10]],
  offered: [[2, 0, 2, 8], [6, 0, 6, 8]],
  shutdown: [[0, 2, 8, 2], [0, 6, 8, 6]],
  asleep: [[0, 2, 4, 2], [4, 6, 8, 6]],
  down: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6], [0, 0, 8, 8], [6, -2, 10, 2], [-2, 6, 2, 10]],
};

/** Number of the shade of a lease, computed from its id. */
function shadeOf(id) {
  let sum = 0;
  for (let index = 0; index < id.length; index += 1) sum = (sum * 31 + id.charCodeAt(index)) | 0;
  return Math.abs(sum) % SHADES;
}

export class Palette {
  #fills = new Map();
  #hatches = new Map();
  #shades = new Map();
  #context;

  /**
   * @param {HTMLElement} element element whose style has the colours
   * @param {CanvasRenderingContext2D} context context for which patterns are made
   * @param {number} ratio device pixels per CSS pixel
   */
  constructor(element, context, ratio) {
    const style = getComputedStyle(element);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.#context = context;
    this.ratio = ratio;
    for (const name of ["surface", "ink", "muted", "line", "grid", "accent", "now", "ghost", "stripe"]) {
      this[name] = colour(name);
    }
    this.bands = Array.from({ length: BANDS }, (_, index) => colour(`band-${index}`));
    this.font = style.fontFamily;
    this.kinds = Object.fromEntries(
      KINDS.map((kind) => [kind, { fill: colour(`kind-${kind}`), edge: colour(`edge-${kind}`) }]),
    );
  }

  /** Colour of the edge of a kind. */
  edge(kind) {
    return this.#kind(kind).edge;
  }

  /**
   * Colour that fills a piece.
   * @param {object} lease
   * @param {"past"|"now"|"ahead"|"small"} tone small means ahead, without room for an edge
   */
  fill(lease, tone) {
    let shade = this.#shades.get(lease.id);
    if (shade === undefined) this.#shades.set(lease.id, (shade = shadeOf(lease.id)));
    const key = `${lease.kind} ${tone} ${shade}`;
    let fill = this.#fills.get(key);
    if (!fill) {
      const strength = STRENGTHS[tone];
      fill = mix(mix(this.#kind(lease.kind).fill, this.surface, strength), this.surface, SHADE_STEP * shade);
      this.#fills.set(key, fill);
    }
    return fill;
  }

  /** Colour of the letters on a fill: always black on the strong fill of now. */
  letters(tone) {
    return tone === "now" ? "#000000" : this.ink;
  }

  /** Hatching of a phase in a colour, or null if the phase has none. */
  hatch(phase, colour) {
    if (!HATCHES[phase]) return null;
    const key = `${phase} ${colour}`;
    if (!this.#hatches.has(key)) this.#hatches.set(key, this.#tile(HATCHES[phase], colour));
    return this.#hatches.get(key);
  }

  #kind(kind) {
    return this.kinds[kind] ?? this.kinds[KINDS.at(-1)];
  }

  #tile(lines, colour) {
    const size = Math.round(8 * this.ratio);
    const tile = new OffscreenCanvas(size, size);
    const context = tile.getContext("2d");
    context.scale(size / 8, size / 8);
    context.strokeStyle = colour;
    context.lineWidth = 1.4;
    context.beginPath();
    for (const [x0, y0, x1, y1] of lines) {
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
    }
    context.stroke();
    const pattern = this.#context.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().scale(8 / size));
    return pattern;
  }
}
