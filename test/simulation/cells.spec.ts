import { describe, expect, it } from 'vitest';
import { BY_HASH, BY_LIST, byAccountOnNodes, growCells, lostByMoves } from './cells.js';
import { renderCellsPage, renderCellsPicture } from './cells-page.js';

const PAGES = '../../apps/control-plane/src/docs/pages';
const MONTHS = 36;
const SEED = 5;
const SESSIONS = 100_000;
const LOOKUPS = [0.1, 0.25, 0.5];

const runs = [BY_HASH, BY_LIST].map((routing) => ({
  name: routing.name,
  months: growCells(routing, MONTHS, SEED),
}));
const lost = [0, 60, 180, 300].map((keptSeconds) => ({
  keptSeconds,
  messages: lostByMoves(keptSeconds, SESSIONS, SEED),
}));
const nodes = [1, 2, 4, 8, 16].map((count) => ({
  nodes: count,
  cells: count,
  byAccount: LOOKUPS.map((lookup) => byAccountOnNodes(count, lookup)),
}));

describe('accounts that are given to cells', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('never fill a cell if a list chooses it (seed %i)', (seed) => {
    for (const month of growCells(BY_LIST, MONTHS, seed)) expect(month.fullest).toBeLessThan(1);
  });

  it('are moved less often by a list than by a hash', () => {
    const [byHash, byList] = runs.map(({ months }) => months.reduce((sum, { moved }) => sum + moved, 0));
    expect(byHash).toBeGreaterThan(byList ?? Infinity);
  });

  it.each([0, 60, 180, 290])('lose messages if their inbound number follows %i seconds after a move', (seconds) => {
    expect(lostByMoves(seconds, SESSIONS, SEED)).toBeGreaterThan(0);
  });

  it.each([1, 2, 3, 4, 5])('lose none if it stays for as long as a session may last (seed %i)', (seed) => {
    expect(lostByMoves(300, SESSIONS, seed)).toBe(0);
  });
});

describe('the page of the simulation', () => {
  it('has the figures of this simulation', async () => {
    await expect(renderCellsPage({ runs, sessions: SESSIONS, lost, nodes, lookups: LOOKUPS })).toMatchFileSnapshot(
      `${PAGES}/cells.md`,
    );
  });

  it('has the picture of this simulation', async () => {
    await expect(renderCellsPicture(runs)).toMatchFileSnapshot(`${PAGES}/cells.svg`);
  });
});
