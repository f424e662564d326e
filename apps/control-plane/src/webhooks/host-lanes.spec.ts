import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Reply } from './host-breaker.js';
import { HostLanes, MAX_IN_FLIGHT_PER_HOST, type LaneJob, type Taken } from './host-lanes.js';

interface Job extends LaneJob {
  readonly name: string;
}

/** Lanes whose jobs end when the test says so; each is written down at once, unless the test wants to say when. */
function lanesOf(perSecond = 1_000) {
  let nowMs = 0;
  let rooms = 0;
  const running = new Map<string, (taken: Taken) => void>();
  const dropped: string[] = [];
  const lanes = new HostLanes<Job>({
    run: ({ name }) => new Promise((resolve) => running.set(name, resolve)),
    onRoom: () => (rooms += 1),
    onDropped: (jobs) => dropped.push(...jobs.map(({ name }) => name)),
    perSecond,
    nowMs: () => nowMs,
  });
  const end = async (name: string, reply: Reply, written = Promise.resolve()) => {
    running.get(name)?.({ reply, written });
    running.delete(name);
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
  };
  const add = (host: string, count: number, startBeforeMs = 10_000) => {
    for (let at = 0; at < count; at++) lanes.add({ host, name: `${host}${at}`, startBeforeMs });
  };
  return { lanes, running, dropped, end, add, wait: (ms: number) => (nowMs += ms), rooms: () => rooms };
}

describe('the lanes of hosts', () => {
  it('run five at a time, in the order they came', async () => {
    const { add, running, end } = lanesOf();
    add('a', 7);
    expect([...running.keys()]).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    await end('a2', 'badly');
    expect([...running.keys()]).toContain('a5');
    expect(running.size).toBe(MAX_IN_FLIGHT_PER_HOST);
  });

  it('do not let a dead host slow the others', () => {
    const { add, running } = lanesOf();
    add('dead', 50);
    add('well', 1);
    expect(running.has('well0')).toBe(true);
  });

  it('offer room for five until a host has answered well, and for two hundred then', async () => {
    const { lanes, add, end } = lanesOf();
    expect(lanes.room('a')).toBe(5);
    add('a', 5);
    expect(lanes.room('a')).toBe(0);
    await end('a0', 'well');
    expect(lanes.room('a')).toBe(196);
    await end('a1', 'badly');
    expect(lanes.room('a')).toBe(2);
  });

  it('offer what a host takes in five seconds at the pace of its last answer', async () => {
    const { lanes, add, end, wait } = lanesOf();
    add('a', 2);
    wait(250);
    await end('a0', 'well');
    expect(lanes.room('a')).toBe(100 - 1);
    wait(200);
    await end('a1', 'well');
    // Nothing is under way, and the pace is known all the same.
    expect(lanes.room('a')).toBe(55);
  });

  it('offer nothing ahead once much is claimed, so that others find room', async () => {
    const { lanes, add, end } = lanesOf();
    for (let host = 0; host < 400; host += 1) add(`h${host}-`, 5);
    expect(lanes.room('h0-')).toBe(0);
    await end('h0-0', 'well');
    expect([lanes.room('h0-'), lanes.room('new')]).toEqual([196, 5]);
    add('h0-', 1);
    expect([lanes.room('h0-'), lanes.room('new')]).toEqual([0, 5]);
  });

  it('offer no more to a host that answers slowly', async () => {
    const { lanes, add, end, wait } = lanesOf();
    add('a', 2);
    wait(501);
    await end('a0', 'well');
    expect(lanes.room('a')).toBe(4);
  });

  it('start the next while what came of the last is written down, but not without end', async () => {
    const { lanes, add, end, running } = lanesOf();
    const recorded: (() => void)[] = [];
    const later = (): Promise<void> => new Promise((resolve) => recorded.push(resolve));
    add('a', 31);
    for (let at = 0; at < 25; at += 1) await end(`a${at}`, 'well', later());
    expect([lanes.inFlight, running.has('a28'), running.has('a29'), lanes.room('a')]).toEqual([4, true, false, 169]);
    for (const written of recorded) written();
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect([running.has('a29'), running.has('a30'), lanes.room('a')]).toEqual([true, false, 194]);
    await end('a25', 'well');
    expect([running.has('a30'), lanes.room('a')]).toEqual([true, 195]);
  });

  it('give new ones no room while others wait for it', () => {
    const { lanes, add } = lanesOf();
    expect(lanes.roomForNew('a')).toBe(5);
    add('a', 1);
    expect(lanes.roomForNew('a')).toBe(4);
    add('a', 4);
    lanes.noteLeftOver('a');
    expect([lanes.roomForNew('a'), lanes.roomForNew('b')]).toEqual([0, 5]);
  });

  it('tell when a full host has room again', async () => {
    const { lanes, add, end, rooms } = lanesOf();
    add('a', 5);
    add('b', 1);
    expect(lanes.fullHosts()).toEqual(['a']);
    for (const name of ['a0', 'a1']) await end(name, 'badly');
    expect(rooms()).toBe(0);
    await end('a2', 'badly');
    expect(rooms()).toBe(1);
    await end('a3', 'badly');
    expect(rooms()).toBe(1);
  });

  it('tell of room for what was left over, at once when they have some by then', async () => {
    const { lanes, add, end, rooms } = lanesOf();
    lanes.noteLeftOver('idle');
    expect(rooms()).toBe(1);
    add('a', 5);
    lanes.noteLeftOver('a');
    await end('a0', 'badly');
    await end('a1', 'badly');
    expect(rooms()).toBe(1);
    await end('a2', 'badly');
    expect(rooms()).toBe(2);
    lanes.noteLeftOver('a');
    expect(rooms()).toBe(3);
  });

  it('do not start what waited until its lease would end too early', async () => {
    const { add, dropped, running, end, wait } = lanesOf();
    add('a', 6, 1_000);
    wait(1_000);
    await end('a0', 'well');
    expect(dropped).toEqual(['a5']);
    expect(running.size).toBe(4);
  });

  it('give back what was not started, and are idle once the rest is done', async () => {
    const { lanes, add, end } = lanesOf();
    add('a', 6);
    expect(lanes.dropWaiting().map(({ name }) => name)).toEqual(['a5']);
    let idle = false;
    const waiting = lanes.idle().then(() => (idle = true));
    for (const at of [0, 1, 2, 3]) await end(`a${at}`, 'well');
    expect(idle).toBe(false);
    await end('a4', 'well');
    await waiting;
    expect(lanes.inFlight).toBe(0);
    await lanes.idle();
  });

  it('give all hosts together no more than they can hold', async () => {
    const { lanes, add, end, rooms } = lanesOf();
    for (let host = 0; host < 800; host++) add(`h${host}-`, 5);
    expect([lanes.inFlight, lanes.room('h0-'), lanes.room('new'), lanes.roomForNew('new')]).toEqual([4_000, 0, 0, 0]);
    lanes.noteLeftOver('new');
    expect(rooms()).toBe(0);
    for (let host = 0; host < 400; host++) {
      for (let at = 0; at < 5; at++) await end(`h${host}-${at}`, 'badly');
    }
    expect([rooms(), lanes.room('new')]).toEqual([1, 5]);
  });

  it('ask a host that does not answer by one at a time, with growing pauses, and give back what waits', async () => {
    const { lanes, add, end, wait, dropped, running, rooms } = lanesOf();
    add('a', 7, 1_000_000);
    for (const at of [0, 1, 2, 3, 4]) await end(`a${at}`, 'none');
    // The first two that ended made place for the two that waited; they are under way still.
    expect([lanes.room('a'), lanes.fullHosts(), dropped, running.size]).toEqual([0, ['a'], [], 2]);
    for (const at of [5, 6]) await end(`a${at}`, 'none');
    expect([lanes.broken, lanes.room('a'), lanes.inFlight]).toEqual([1, 0, 0]);
    expect(lanes.pausedHosts()).toEqual([{ host: 'a', leftMs: 1_000 }]);
    add('a', 1, 1_000_000);
    expect(dropped).toEqual(['a0']);
    wait(1_000);
    expect(lanes.room('a')).toBe(1);
    add('a', 2, 1_000_000);
    expect([running.size, lanes.room('a')]).toEqual([1, 0]);
    await end('a0', 'none');
    expect([dropped, lanes.room('a')]).toEqual([['a0', 'a1'], 0]);
    wait(1_999);
    expect(lanes.room('a')).toBe(0);
    wait(1);
    add('a', 1, 1_000_000);
    lanes.noteLeftOver('a');
    const before = rooms();
    await end('a0', 'badly');
    expect([lanes.broken, lanes.room('a'), rooms()]).toEqual([0, 5, before + 1]);
  });
});

describe('the rate of a host', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is kept though its POSTs are quick, and others wait for nothing', async () => {
    const { lanes, add, end, running, wait } = lanesOf(2);
    const pass = (ms: number): void => {
      wait(ms);
      vi.advanceTimersByTime(ms);
    };
    add('a', 4);
    expect([...running.keys()]).toEqual(['a0', 'a1']);
    for (const name of ['a0', 'a1']) await end(name, 'well');
    expect(running.size).toBe(0);
    add('b', 1);
    expect([...running.keys()]).toEqual(['b0']);
    pass(499);
    expect(running.has('a2')).toBe(false);
    pass(1);
    expect(running.has('a2')).toBe(true);
    await end('a2', 'well');
    // It was idle for no moment, so it has saved nothing up.
    expect(running.has('a3')).toBe(false);
    pass(500);
    await end('a3', 'well');
    add('a', 1);
    expect(running.has('a0')).toBe(false);
    expect(lanes.dropWaiting().map(({ name }) => name)).toEqual(['a0']);
    pass(10_000);
    expect([...running.keys()]).toEqual(['b0']);
  });

  it('bounds what is claimed ahead', async () => {
    const { lanes, add, end } = lanesOf(2);
    add('a', 1);
    await end('a0', 'well');
    add('a', 1);
    await end('a0', 'well');
    add('a', 1);
    expect(lanes.room('a')).toBe(9);
  });
});
