/**
 * From leases to blocks: the place of each lease in the chart, in rows and seconds rather than pixels.
 *
 * A *piece* is one phase of a lease (resume, run, suspend, shutdown). A *chain* is a sequence of pieces of one lease on
 * the same hosts without gaps. A *block* is a chain on one host, or on neighbouring hosts that it has to itself. Leases
 * that share a host at the same time have lanes within its row.
 */

const CLOSING = { shutdown: "shutdown", suspend: "suspend", kill: "shutdown" };

/** The pieces of a holding. Phases that take no time are left out. */
function piecesOf(holding) {
  return [
    { phase: "resume", start: holding.start, end: holding.run_start },
    { phase: "run", start: holding.run_start, end: holding.run_end },
    { phase: CLOSING[holding.closing] ?? "shutdown", start: holding.run_end, end: holding.end },
  ].filter((piece) => piece.start < piece.end);
}

/** The chains of a lease, earliest first. */
function chainsOf(lease, rowOf) {
  const byHosts = new Map();
  const put = (hosts, pieces) => {
    const rows = [...new Set(hosts.map((id) => rowOf.get(id)).filter((row) => row !== undefined))].sort((a, b) => a - b);
    if (!rows.length) return;
    const key = rows.join();
    if (!byHosts.has(key)) byHosts.set(key, { rows, pieces: [] });
    byHosts.get(key).pieces.push(...pieces);
  };
  for (const past of lease.past) put(past.hosts, [{ phase: past.phase, start: past.start, end: past.end }]);
  for (const holding of lease.holdings) {
    const over = (piece) =>
      lease.past.some((past) => past.phase === piece.phase && past.start <= piece.start && piece.end <= past.end);
    put(holding.hosts, piecesOf(holding).filter((piece) => !over(piece)));
  }
  const chains = [];
  for (const { rows, pieces } of byHosts.values()) {
    pieces.sort((a, b) => a.start - b.start);
    let chain = null;
    for (const piece of pieces) {
      if (!chain || piece.start > chain.end) {
        chain = { lease, rows, pieces: [], start: piece.start, end: piece.end };
        chains.push(chain);
      }
      chain.pieces.push(piece);
      chain.end = Math.max(chain.end, piece.end);
    }
  }
  return chains.sort((a, b) => a.start - b.start);
}

/** Where the state of a suspended lease is kept until it resumes; the end is null if that is not planned. */
function savedOf(lease, rowOf) {
  if (!lease.state.startsWith("suspended") && lease.state !== "migrating") return null;
  const last = lease.past.findLast((past) => past.phase === "suspend") ?? lease.past.at(-1);
  if (!last) return null;
  const next = lease.holdings.find((holding) => holding.start >= last.end);
  const rows = [...new Set(last.hosts.map((id) => rowOf.get(id)).filter((row) => row !== undefined))];
  return { lease, rows, start: last.end, end: next?.start ?? null };
}

/** Give each chain of a row the first free lane. Chains that overlap, even indirectly, share the height of the row. */
function lanesOf(chains) {
  const blocks = [];
  let group = [];
  let lanes = [];
  let until = -Infinity;
  const close = () => {
    for (const block of group) block.lanes = lanes.length;
    group = [];
    lanes = [];
  };
  for (const chain of chains) {
    if (chain.start >= until) close();
    let lane = lanes.findIndex((end) => end <= chain.start);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = chain.end;
    until = group.length ? Math.max(until, chain.end) : chain.end;
    const block = { chain, lane, lanes: 1 };
    group.push(block);
    blocks.push(block);
  }
  close();
  return blocks;
}

/**
 * Arrange all leases.
 * @param {Iterable<object>} leases
 * @param {Map<string, number>} rowOf row of a host by its id
 * @returns {{blocks: object[], saved: object[], rows: object[][], start: number, end: number}} blocks as {lease, row,
 *   rows (number), lane, lanes, start, end, pieces}; saved as {lease, rows, start, end}; the chains of each row; and
 *   the time range of all chains
 */
export function arrange(leases, rowOf) {
  const rows = Array.from({ length: rowOf.size }, () => []);
  const saved = [];
  let start = Infinity;
  let end = -Infinity;
  for (const lease of leases) {
    for (const chain of chainsOf(lease, rowOf)) {
      for (const row of chain.rows) rows[row].push(chain);
      start = Math.min(start, chain.start);
      end = Math.max(end, chain.end);
    }
    const kept = savedOf(lease, rowOf);
    if (kept) saved.push(kept);
  }
  const blocks = [];
  let above = new Map();
  rows.forEach((chains, row) => {
    chains.sort((a, b) => a.start - b.start || a.lease.submitted - b.lease.submitted);
    const here = new Map();
    for (const { chain, lane, lanes } of lanesOf(chains)) {
      const upper = above.get(chain);
      if (lanes === 1 && upper) {
        upper.rows += 1;
        here.set(chain, upper);
        continue;
      }
      const { lease, pieces } = chain;
      const block = { lease, row, rows: 1, lane, lanes, start: chain.start, end: chain.end, pieces };
      blocks.push(block);
      if (lanes === 1) here.set(chain, block);
    }
    above = here;
  });
  return { blocks, saved, rows, start, end };
}
