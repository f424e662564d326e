import { createHash } from 'node:crypto';
import { Random } from '../support/random.js';

/** Loads are shares of what one cell can take at its peak. */
export interface Account {
  readonly id: number;
  load: number;
  /** The index of its cell. */
  cell: number;
}

/** Chooses cells for accounts. */
export interface Routing {
  readonly name: string;
  /** Of a new account. */
  place(account: Account, cells: readonly number[]): number;
  /** Moves accounts after a month has grown their loads; returns how many. */
  rebalance(accounts: readonly Account[], cells: number[]): number;
}

/** The state at the end of a month. */
export interface Month {
  readonly cells: number;
  readonly fullest: number;
  readonly mean: number;
  readonly accounts: number;
  /** Accounts that changed their cell in this month. */
  readonly moved: number;
}

/** A new cell is started when the cells are this full on average. */
const FULL_ON_AVERAGE = 0.5;
/** An account leaves a cell that is fuller than this, until the cell is at the second share. */
const MOVE_FROM = 0.8;
const MOVE_UNTIL = 0.7;
const NEW_ACCOUNTS_A_MONTH = 25;
const GROWTH_A_MONTH = 1.03;
/** Pareto: most accounts are small, a few are large. */
const LEAST_LOAD = 0.002;
const TAIL = 1.3;
const LARGEST_LOAD = 0.25;

const loadsOf = (accounts: readonly Account[], cells: number): number[] => {
  const loads = Array.from({ length: cells }, () => 0);
  for (const { cell, load } of accounts) loads[cell] = (loads[cell] ?? 0) + load;
  return loads;
};

const indexOfLeast = (values: readonly number[]): number => values.indexOf(Math.min(...values));
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function weight(account: number, cell: number): number {
  return createHash('sha256').update(`${account}:${cell}`).digest().readUInt32BE(0);
}

/** The cell with the highest hash of account and cell: a new cell takes its share of accounts and no other changes. */
function hashed({ id }: Account, cells: number): number {
  const weights = Array.from({ length: cells }, (_, cell) => weight(id, cell));
  return weights.indexOf(Math.max(...weights));
}

/** Accounts by a hash of their id (rendezvous hashing). */
export const BY_HASH: Routing = {
  name: 'by a hash of the account',
  place: (account, cells) => hashed(account, cells.length),
  rebalance: (accounts, cells) => {
    let moved = 0;
    for (const account of accounts) {
      const cell = hashed(account, cells.length);
      if (cell !== account.cell) moved += 1;
      account.cell = cell;
    }
    return moved;
  },
};

/** A list of accounts: a new one is given to the emptiest cell, and too full cells give the fewest away. */
export const BY_LIST: Routing = {
  name: 'by a list: the emptiest cell',
  place: (_, cells) => indexOfLeast(cells),
  rebalance: (accounts, cells) => {
    let moved = 0;
    for (const [cell, load] of [...cells.entries()]) {
      if (load <= MOVE_FROM) continue;
      const here = accounts.filter((account) => account.cell === cell).sort((one, other) => other.load - one.load);
      for (const account of here) {
        const target = indexOfLeast(cells);
        if ((cells[cell] ?? 0) <= MOVE_UNTIL) break;
        if (target === cell || (cells[target] ?? 0) + account.load > MOVE_UNTIL) continue;
        cells[cell] = (cells[cell] ?? 0) - account.load;
        cells[target] = (cells[target] ?? 0) + account.load;
        account.cell = target;
        moved += 1;
      }
    }
    return moved;
  },
};

function nextLoad(random: Random): number {
  return Math.min(LARGEST_LOAD, LEAST_LOAD / (1 - random.next()) ** (1 / TAIL));
}

/** Months of an installation that begins with one cell; the same seed brings the same accounts to every routing. */
export function growCells(routing: Routing, months: number, seed: number): Month[] {
  const random = new Random(seed);
  const accounts: Account[] = [];
  let cells = 1;
  return Array.from({ length: months }, () => {
    for (const account of accounts) account.load *= GROWTH_A_MONTH;
    for (let nth = 0; nth < NEW_ACCOUNTS_A_MONTH; nth += 1) {
      const account = { id: accounts.length, load: nextLoad(random), cell: 0 };
      account.cell = routing.place(account, loadsOf(accounts, cells));
      accounts.push(account);
    }
    while (mean(loadsOf(accounts, cells)) > FULL_ON_AVERAGE) cells += 1;
    const moved = routing.rebalance(accounts, loadsOf(accounts, cells));
    const loads = loadsOf(accounts, cells);
    return { cells, fullest: Math.max(...loads), mean: mean(loads), accounts: accounts.length, moved };
  });
}

/** The longest that a session may last (specification). */
const LONGEST_SESSION_SECONDS = 300;
/** Each account moves within this time after the create of its session. */
const MOVES_WITHIN_SECONDS = 600;

/**
 * Opens sessions while their accounts move, and counts messages that arrive in another cell than their session. A message arrives in
 * the cell that has the inbound number of its account at that time: the number follows its account `keptSeconds` after the move.
 */
export function lostByMoves(keptSeconds: number, sessions: number, seed: number): number {
  const random = new Random(seed);
  let lost = 0;
  for (let nth = 0; nth < sessions; nth += 1) {
    const arrivesAfter = random.next() * LONGEST_SESSION_SECONDS;
    const movesAfter = random.next() * MOVES_WITHIN_SECONDS;
    if (arrivesAfter >= movesAfter + keptSeconds) lost += 1;
  }
  return lost;
}

/**
 * Messages a second of several nodes, as multiples of one node. A distribution by account finds the session of a token, which
 * names no account, only by asking every node; `lookup` is the share of a message's work that the search is.
 */
export const byAccountOnNodes = (nodes: number, lookup: number): number => nodes / (1 - lookup + lookup * nodes);
