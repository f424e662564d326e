import { describe, expect, it } from 'vitest';
import { HostLanes, MAX_IN_FLIGHT_PER_HOST, type LaneJob } from './host-lanes.js';

interface Job extends LaneJob {
  readonly name: string;
}

/** Lanes whose jobs end when the test says so. */
function lanesOf() {
  let nowMs = 0;
  let rooms = 0;
  const running = new Map<string, (answeredWell: boolean) => void>();
  const dropped: string[] = [];
  const lanes = new HostLanes<Job>({
    run: ({ name }) => new Promise((resolve) => running.set(name, resolve)),
    onRoom: () => (rooms += 1),
    onDropped: ({ name }) => dropped.push(name),
    nowMs: () => nowMs,
  });
  const end = async (name: string, answeredWell: boolean) => {
    running.get(name)?.(answeredWell);
    running.delete(name);
    await Promise.resolve();
    await Promise.resolve();
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
    await end('a2', false);
    expect([...running.keys()]).toContain('a5');
    expect(running.size).toBe(MAX_IN_FLIGHT_PER_HOST);
  });

  it('do not let a dead host slow the others', () => {
    const { add, running } = lanesOf();
    add('dead', 50);
    add('well', 1);
    expect(running.has('well0')).toBe(true);
  });

  it('offer room for five until a host has answered well, and for fifty then', async () => {
    const { lanes, add, end } = lanesOf();
    expect(lanes.room('a')).toBe(5);
    add('a', 5);
    expect(lanes.room('a')).toBe(0);
    await end('a0', true);
    expect(lanes.room('a')).toBe(46);
    await end('a1', false);
    expect(lanes.room('a')).toBe(2);
  });

  it('offer no more to a host that answers slowly', async () => {
    const { lanes, add, end, wait } = lanesOf();
    add('a', 2);
    wait(501);
    await end('a0', true);
    expect(lanes.room('a')).toBe(4);
  });

  it('tell when a full host has room again', async () => {
    const { lanes, add, end, rooms } = lanesOf();
    add('a', 5);
    add('b', 1);
    expect(lanes.fullHosts()).toEqual(['a']);
    for (const name of ['a0', 'a1']) await end(name, false);
    expect(rooms()).toBe(0);
    await end('a2', false);
    expect(rooms()).toBe(1);
    await end('a3', false);
    expect(rooms()).toBe(1);
  });

  it('tell of room for what was left over, at once when they have some by then', async () => {
    const { lanes, add, end, rooms } = lanesOf();
    lanes.noteLeftOver('idle');
    expect(rooms()).toBe(1);
    add('a', 5);
    lanes.noteLeftOver('a');
    await end('a0', false);
    await end('a1', false);
    expect(rooms()).toBe(1);
    await end('a2', false);
    expect(rooms()).toBe(2);
    lanes.noteLeftOver('a');
    expect(rooms()).toBe(3);
  });

  it('do not start what waited until its lease would end too early', async () => {
    const { add, dropped, running, end, wait } = lanesOf();
    add('a', 6, 1_000);
    wait(1_000);
    await end('a0', true);
    expect(dropped).toEqual(['a5']);
    expect(running.size).toBe(4);
  });

  it('give back what was not started, and are idle once the rest is done', async () => {
    const { lanes, add, end } = lanesOf();
    add('a', 6);
    expect(lanes.dropWaiting().map(({ name }) => name)).toEqual(['a5']);
    let idle = false;
    const waiting = lanes.idle().then(() => (idle = true));
    for (const at of [0, 1, 2, 3]) await end(`a${at}`, true);
    expect(idle).toBe(false);
    await end('a4', true);
    await waiting;
    expect(lanes.inFlight).toBe(0);
    await lanes.idle();
  });
});
