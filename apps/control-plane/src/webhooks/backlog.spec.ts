import { describe, expect, it } from 'vitest';
import { Backlog } from './backlog.js';
import type { PausedHost } from './per-host.scheduler.js';

const MANY = 20_000;

/** A store with so many deliveries due to whoever is asked about, and what it was told to put off. */
function backlogOf(due: number, postponed = 0) {
  const asked: (readonly PausedHost[])[] = [];
  const backlog = new Backlog({
    dueTo: (_hosts, most) => Promise.resolve(Math.min(due, most)),
    postpone: (hosts) => {
      asked.push(hosts);
      return Promise.resolve(postponed);
    },
  });
  return { backlog, asked };
}

describe('the backlog', () => {
  it('is put off for hosts that are left alone, for as long as they are', async () => {
    const { backlog, asked } = backlogOf(0, 7);
    const paused = [{ host: 'dead', leftMs: 8_000 }];
    expect(await backlog.putOff(paused, [])).toBe(7);
    expect(asked).toEqual([paused]);
  });

  it('of a host that answers waits where it is, as long as it is in nobody’s way', async () => {
    const { backlog, asked } = backlogOf(MANY - 1);
    expect(await backlog.putOff([], ['slow'])).toBe(0);
    expect(asked).toEqual([]);
  });

  it('of a host that answers is put off for longer and longer while it is too long', async () => {
    const { backlog, asked } = backlogOf(MANY);
    for (let turn = 0; turn < 9; turn++) expect(await backlog.putOff([], ['slow'])).toBe(1_000);
    const pauses = asked.map(([first]) => first?.leftMs ?? 0);
    expect(pauses[0]).toBe(30_000);
    expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
    expect(pauses.at(-1)).toBe(60 * 60 * 1000);
  });
});
