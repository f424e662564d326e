import { describe, expect, it } from 'vitest';
import { Backlog } from './backlog.js';
import type { PausedHost } from './per-host.scheduler.js';

const MANY = 20_000;

/** A backlog over a store with `due` deliveries to any host, and the pauses with which it postponed deliveries. */
function backlogOf(due: number, postponed = 0) {
  const postponements: (readonly PausedHost[])[] = [];
  const backlog = new Backlog({
    countDueTo: (_hosts, most) => Promise.resolve(Math.min(due, most)),
    postponeDeliveries: (hosts) => {
      postponements.push(hosts);
      return Promise.resolve(postponed);
    },
  });
  return { backlog, postponements };
}

describe('the backlog', () => {
  it('of a paused host is postponed for the rest of the pause', async () => {
    const { backlog, postponements } = backlogOf(0, 7);
    const paused = [{ host: 'dead', leftMs: 8_000 }];
    expect(await backlog.postpone(paused, [])).toBe(7);
    expect(postponements).toEqual([paused]);
  });

  it('of an overloaded host is not postponed while it is short', async () => {
    const { backlog, postponements } = backlogOf(MANY - 1);
    expect(await backlog.postpone([], ['slow'])).toBe(0);
    expect(postponements).toEqual([]);
  });

  it('of an overloaded host is postponed for longer and longer while it is too long', async () => {
    const { backlog, postponements } = backlogOf(MANY);
    for (let turn = 0; turn < 9; turn++) expect(await backlog.postpone([], ['slow'])).toBe(1_000);
    const pauses = postponements.map(([first]) => first?.leftMs ?? 0);
    expect(pauses[0]).toBe(30_000);
    expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
    expect(pauses.at(-1)).toBe(60 * 60 * 1000);
  });
});
