import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ReplyKind } from './host-circuit-breaker.js';
import { PerHostScheduler, MAX_IN_FLIGHT_PER_HOST, type HostJob, type Taken } from './per-host.scheduler.js';

interface Job extends HostJob {
  readonly name: string;
}

/** Lanes whose jobs end when the test says so; each is written down at once, unless the test wants to say when. */
function queuesOf(perSecond = 1_000) {
  let nowMs = 0;
  let rooms = 0;
  const running = new Map<string, (taken: Taken) => void>();
  const dropped: string[] = [];
  const queues = new PerHostScheduler<Job>({
    run: ({ name }) => new Promise((resolve) => running.set(name, resolve)),
    onCapacity: () => (rooms += 1),
    onDropped: (jobs) => dropped.push(...jobs.map(({ name }) => name)),
    perSecond,
    nowMs: () => nowMs,
  });
  const end = async (name: string, reply: ReplyKind, written = Promise.resolve()) => {
    running.get(name)?.({ reply, written });
    running.delete(name);
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
  };
  const add = (host: string, count: number, startBeforeMs = 10_000) => {
    for (let at = 0; at < count; at++) queues.add({ host, name: `${host}${at}`, startBeforeMs });
  };
  return { queues, running, dropped, end, add, wait: (ms: number) => (nowMs += ms), rooms: () => rooms };
}

describe('the lanes of hosts', () => {
  it('run five at a time, in the order they came', async () => {
    const { add, running, end } = queuesOf();
    add('a', 7);
    expect([...running.keys()]).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    await end('a2', 'error_response');
    expect([...running.keys()]).toContain('a5');
    expect(running.size).toBe(MAX_IN_FLIGHT_PER_HOST);
  });

  it('do not let a dead host slow the others', () => {
    const { add, running } = queuesOf();
    add('dead', 50);
    add('well', 1);
    expect(running.has('well0')).toBe(true);
  });

  it('offer room for five until a host has answered well, and for two hundred then', async () => {
    const { queues, add, end } = queuesOf();
    expect(queues.room('a')).toBe(5);
    add('a', 5);
    expect(queues.room('a')).toBe(0);
    await end('a0', 'success');
    expect(queues.room('a')).toBe(196);
    await end('a1', 'error_response');
    expect(queues.room('a')).toBe(2);
  });

  it('offer what a host takes in five seconds at the pace of its last answer', async () => {
    const { queues, add, end, wait } = queuesOf();
    add('a', 2);
    wait(250);
    await end('a0', 'success');
    expect(queues.room('a')).toBe(100 - 1);
    wait(200);
    await end('a1', 'success');
    // Nothing is under way, and the pace is known all the same.
    expect(queues.room('a')).toBe(55);
  });

  it('offer nothing ahead once much is claimed, so that others find room', async () => {
    const { queues, add, end } = queuesOf();
    for (let host = 0; host < 400; host += 1) add(`h${host}-`, 5);
    expect(queues.room('h0-')).toBe(0);
    await end('h0-0', 'success');
    expect([queues.room('h0-'), queues.room('new')]).toEqual([196, 5]);
    add('h0-', 1);
    expect([queues.room('h0-'), queues.room('new')]).toEqual([0, 5]);
  });

  it('offer no more to a host that answers slowly', async () => {
    const { queues, add, end, wait } = queuesOf();
    add('a', 2);
    wait(501);
    await end('a0', 'success');
    expect(queues.room('a')).toBe(4);
  });

  it('start the next while what came of the last is written down, but not without end', async () => {
    const { queues, add, end, running } = queuesOf();
    const recorded: (() => void)[] = [];
    const later = (): Promise<void> => new Promise((resolve) => recorded.push(resolve));
    add('a', 31);
    for (let at = 0; at < 25; at += 1) await end(`a${at}`, 'success', later());
    expect([queues.inFlight, running.has('a28'), running.has('a29'), queues.room('a')]).toEqual([4, true, false, 169]);
    for (const written of recorded) written();
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect([running.has('a29'), running.has('a30'), queues.room('a')]).toEqual([true, false, 194]);
    await end('a25', 'success');
    expect([running.has('a30'), queues.room('a')]).toEqual([true, 195]);
  });

  it('give new ones no room while others wait for it', () => {
    const { queues, add } = queuesOf();
    expect(queues.capacityForNew('a')).toBe(5);
    add('a', 1);
    expect(queues.capacityForNew('a')).toBe(4);
    add('a', 4);
    queues.noteLeftOver('a');
    expect([queues.capacityForNew('a'), queues.capacityForNew('b')]).toEqual([0, 5]);
  });

  it('tell when a full host has room again', async () => {
    const { queues, add, end, rooms } = queuesOf();
    add('a', 5);
    add('b', 1);
    expect(queues.fullHosts()).toEqual(['a']);
    for (const name of ['a0', 'a1']) await end(name, 'error_response');
    expect(rooms()).toBe(0);
    await end('a2', 'error_response');
    expect(rooms()).toBe(1);
    await end('a3', 'error_response');
    expect(rooms()).toBe(1);
  });

  it('tell of room for what was left over, at once when they have some by then', async () => {
    const { queues, add, end, rooms } = queuesOf();
    queues.noteLeftOver('idle');
    expect(rooms()).toBe(1);
    add('a', 5);
    queues.noteLeftOver('a');
    await end('a0', 'error_response');
    await end('a1', 'error_response');
    expect(rooms()).toBe(1);
    await end('a2', 'error_response');
    expect(rooms()).toBe(2);
    queues.noteLeftOver('a');
    expect(rooms()).toBe(3);
  });

  it('do not start what waited until its lease would end too early', async () => {
    const { add, dropped, running, end, wait } = queuesOf();
    add('a', 6, 1_000);
    wait(1_000);
    await end('a0', 'success');
    expect(dropped).toEqual(['a5']);
    expect(running.size).toBe(4);
  });

  it('give back what was not started, and are idle once the rest is done', async () => {
    const { queues, add, end } = queuesOf();
    add('a', 6);
    expect(queues.dropWaiting().map(({ name }) => name)).toEqual(['a5']);
    let idle = false;
    const waiting = queues.idle().then(() => (idle = true));
    for (const at of [0, 1, 2, 3]) await end(`a${at}`, 'success');
    expect(idle).toBe(false);
    await end('a4', 'success');
    await waiting;
    expect(queues.inFlight).toBe(0);
    await queues.idle();
  });

  it('give all hosts together no more than they can hold', async () => {
    const { queues, add, end, rooms } = queuesOf();
    for (let host = 0; host < 800; host++) add(`h${host}-`, 5);
    expect([queues.inFlight, queues.room('h0-'), queues.room('new'), queues.capacityForNew('new')]).toEqual([
      4_000, 0, 0, 0,
    ]);
    queues.noteLeftOver('new');
    expect(rooms()).toBe(0);
    for (let host = 0; host < 400; host++) {
      for (let at = 0; at < 5; at++) await end(`h${host}-${at}`, 'error_response');
    }
    expect([rooms(), queues.room('new')]).toEqual([1, 5]);
  });

  it('ask a host that does not answer by one at a time, with growing pauses, and give back what waits', async () => {
    const { queues, add, end, wait, dropped, running, rooms } = queuesOf();
    add('a', 7, 1_000_000);
    for (const at of [0, 1, 2, 3, 4]) await end(`a${at}`, 'no_response');
    // The first two that ended made place for the two that waited; they are under way still.
    expect([queues.room('a'), queues.fullHosts(), dropped, running.size]).toEqual([0, ['a'], [], 2]);
    for (const at of [5, 6]) await end(`a${at}`, 'no_response');
    expect([queues.broken, queues.room('a'), queues.inFlight]).toEqual([1, 0, 0]);
    expect(queues.pausedHosts()).toEqual([{ host: 'a', leftMs: 1_000 }]);
    add('a', 1, 1_000_000);
    expect(dropped).toEqual(['a0']);
    wait(1_000);
    expect(queues.room('a')).toBe(1);
    add('a', 2, 1_000_000);
    expect([running.size, queues.room('a')]).toEqual([1, 0]);
    await end('a0', 'no_response');
    expect([dropped, queues.room('a')]).toEqual([['a0', 'a1'], 0]);
    wait(1_999);
    expect(queues.room('a')).toBe(0);
    wait(1);
    add('a', 1, 1_000_000);
    queues.noteLeftOver('a');
    const before = rooms();
    await end('a0', 'error_response');
    expect([queues.broken, queues.room('a'), rooms()]).toEqual([0, 5, before + 1]);
  });
});

describe('the rate of a host', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is kept though its POSTs are quick, and others wait for nothing', async () => {
    const { queues, add, end, running, wait } = queuesOf(2);
    const pass = (ms: number): void => {
      wait(ms);
      vi.advanceTimersByTime(ms);
    };
    add('a', 4);
    expect([...running.keys()]).toEqual(['a0', 'a1']);
    for (const name of ['a0', 'a1']) await end(name, 'success');
    expect(running.size).toBe(0);
    add('b', 1);
    expect([...running.keys()]).toEqual(['b0']);
    pass(499);
    expect(running.has('a2')).toBe(false);
    pass(1);
    expect(running.has('a2')).toBe(true);
    await end('a2', 'success');
    // It was idle for no moment, so it has saved nothing up.
    expect(running.has('a3')).toBe(false);
    pass(500);
    await end('a3', 'success');
    add('a', 1);
    expect(running.has('a0')).toBe(false);
    expect(queues.dropWaiting().map(({ name }) => name)).toEqual(['a0']);
    pass(10_000);
    expect([...running.keys()]).toEqual(['b0']);
  });

  it('bounds what is claimed ahead', async () => {
    const { queues, add, end } = queuesOf(2);
    add('a', 1);
    await end('a0', 'success');
    add('a', 1);
    await end('a0', 'success');
    add('a', 1);
    expect(queues.room('a')).toBe(9);
  });
});
