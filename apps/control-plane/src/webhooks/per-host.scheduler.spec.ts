import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ShareOwner } from './account-shares.js';
import type { ReplyKind } from './host-circuit-breaker.js';
import {
  PerHostScheduler,
  MAX_IN_FLIGHT,
  MAX_IN_FLIGHT_PER_HOST,
  type HostJob,
  type JobResult,
} from './per-host.scheduler.js';

interface Job extends HostJob {
  readonly name: string;
}

/** A scheduler whose jobs end with `end`; their results are recorded at once unless `recorded` is given. */
function queuesOf(perSecond = 1_000) {
  let nowMs = 0;
  let capacityReports = 0;
  const running = new Map<string, (result: JobResult) => void>();
  const dropped: string[] = [];
  const queues = new PerHostScheduler<Job>({
    run: ({ name }) => new Promise((resolve) => running.set(name, resolve)),
    onCapacity: () => (capacityReports += 1),
    onDropped: (jobs) => dropped.push(...jobs.map(({ name }) => name)),
    perSecond,
    nowMs: () => nowMs,
  });
  const end = async (name: string, reply: ReplyKind, recorded = Promise.resolve()) => {
    running.get(name)?.({ reply, recorded });
    running.delete(name);
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
  };
  const add = (host: string, count: number, startBeforeMs = 10_000, accountId = `account of ${host}`, test = false) => {
    for (let at = 0; at < count; at++) queues.add({ host, accountId, test, name: `${host}${at}`, startBeforeMs });
  };
  return {
    queues,
    running,
    dropped,
    end,
    add,
    wait: (ms: number) => (nowMs += ms),
    capacityReports: () => capacityReports,
  };
}

const jobOf = (host: string, accountId: string, at: number): Job => {
  return { host, accountId, test: false, name: `${host} ${accountId} ${at}`, startBeforeMs: 10_000 };
};

const live = (accountId: string): ShareOwner => ({ accountId, test: false });

describe('the per-host scheduler', () => {
  it('runs five jobs of a host at a time, in the order they were added', async () => {
    const { add, running, end } = queuesOf();
    add('a', 7);
    expect([...running.keys()]).toEqual(['a0', 'a1', 'a2', 'a3', 'a4']);
    await end('a2', 'error_response');
    expect([...running.keys()]).toContain('a5');
    expect(running.size).toBe(MAX_IN_FLIGHT_PER_HOST);
  });

  it('does not let a dead host delay other hosts', () => {
    const { add, running } = queuesOf();
    add('dead', 50);
    add('healthy', 1);
    expect(running.has('healthy0')).toBe(true);
  });

  it('has capacity for five jobs of a host until one succeeds, and for two hundred from then on', async () => {
    const { queues, add, end } = queuesOf();
    expect(queues.capacityFor('a')).toBe(5);
    add('a', 5);
    expect(queues.capacityFor('a')).toBe(0);
    await end('a0', 'success');
    expect(queues.capacityFor('a')).toBe(196);
    await end('a1', 'error_response');
    expect(queues.capacityFor('a')).toBe(2);
  });

  it('has capacity for the jobs that a host processes in five seconds, by its last latency', async () => {
    const { queues, add, end, wait } = queuesOf();
    add('a', 2);
    wait(250);
    await end('a0', 'success');
    expect(queues.capacityFor('a')).toBe(100 - 1);
    wait(200);
    await end('a1', 'success');
    // The latency is remembered while nothing is in flight.
    expect(queues.capacityFor('a')).toBe(55);
  });

  it('claims nothing ahead once much is claimed, so that new hosts have capacity', async () => {
    const { queues, add, end } = queuesOf();
    for (let host = 0; host < 400; host += 1) add(`h${host}-`, 5);
    expect(queues.capacityFor('h0-')).toBe(0);
    await end('h0-0', 'success');
    expect([queues.capacityFor('h0-'), queues.capacityFor('new')]).toEqual([196, 5]);
    add('h0-', 1);
    expect([queues.capacityFor('h0-'), queues.capacityFor('new')]).toEqual([0, 5]);
  });

  it('claims nothing ahead for a slow host', async () => {
    const { queues, add, end, wait } = queuesOf();
    add('a', 2);
    wait(501);
    await end('a0', 'success');
    expect(queues.capacityFor('a')).toBe(4);
  });

  it('starts the next jobs while results are recorded, up to a bound of unrecorded ones', async () => {
    const { queues, add, end, running } = queuesOf();
    const recorded: (() => void)[] = [];
    const recordLater = (): Promise<void> => new Promise((resolve) => recorded.push(resolve));
    add('a', 31);
    for (let at = 0; at < 25; at += 1) await end(`a${at}`, 'success', recordLater());
    expect([queues.inFlight, running.has('a28'), running.has('a29'), queues.capacityFor('a')]).toEqual([
      4,
      true,
      false,
      169,
    ]);
    for (const resolve of recorded) resolve();
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect([running.has('a29'), running.has('a30'), queues.capacityFor('a')]).toEqual([true, false, 194]);
    await end('a25', 'success');
    expect([running.has('a30'), queues.capacityFor('a')]).toEqual([true, 195]);
  });

  it('has no capacity for new jobs while older ones wait for it', () => {
    const { queues, add } = queuesOf();
    expect(queues.capacityForNew('a')).toBe(5);
    add('a', 1);
    expect(queues.capacityForNew('a')).toBe(4);
    add('a', 4);
    queues.noteLeftOver('a');
    expect([queues.capacityForNew('a'), queues.capacityForNew('b')]).toEqual([0, 5]);
  });

  it('reports when a full host has capacity again', async () => {
    const { queues, add, end, capacityReports } = queuesOf();
    add('a', 5);
    add('b', 1);
    expect(queues.fullHosts()).toEqual(['a']);
    for (const name of ['a0', 'a1']) await end(name, 'error_response');
    expect(capacityReports()).toBe(0);
    await end('a2', 'error_response');
    expect(capacityReports()).toBe(1);
    await end('a3', 'error_response');
    expect(capacityReports()).toBe(1);
  });

  it('reports capacity for deliveries left over, at once if there is some already', async () => {
    const { queues, add, end, capacityReports } = queuesOf();
    queues.noteLeftOver('idle');
    expect(capacityReports()).toBe(1);
    add('a', 5);
    queues.noteLeftOver('a');
    await end('a0', 'error_response');
    await end('a1', 'error_response');
    expect(capacityReports()).toBe(1);
    await end('a2', 'error_response');
    expect(capacityReports()).toBe(2);
    queues.noteLeftOver('a');
    expect(capacityReports()).toBe(3);
  });

  it('drops jobs that waited until their lease would end too early', async () => {
    const { add, dropped, running, end, wait } = queuesOf();
    add('a', 6, 1_000);
    wait(1_000);
    await end('a0', 'success');
    expect(dropped).toEqual(['a5']);
    expect(running.size).toBe(4);
  });

  it('returns jobs that were not started, and is idle once the others are done', async () => {
    const { queues, add, end } = queuesOf();
    add('a', 6);
    expect(queues.removeWaiting().map(({ name }) => name)).toEqual(['a5']);
    let idle = false;
    const waiting = queues.idle().then(() => (idle = true));
    for (const at of [0, 1, 2, 3]) await end(`a${at}`, 'success');
    expect(idle).toBe(false);
    await end('a4', 'success');
    await waiting;
    expect(queues.inFlight).toBe(0);
    await queues.idle();
  });

  it('bounds the jobs of all hosts together, and those in flight', async () => {
    const { queues, running, add, end, capacityReports } = queuesOf();
    for (let host = 0; host < 800; host++) add(`h${host}-`, 5);
    expect([
      queues.inFlight,
      queues.capacityFor('h0-'),
      queues.capacityFor('new'),
      queues.capacityForNew('new'),
    ]).toEqual([MAX_IN_FLIGHT, 0, 0, 0]);
    queues.noteLeftOver('new');
    let most = 0;
    for (let ended = 0; ended < 2_000; ended += 1) {
      await end([...running.keys()][0] ?? '', 'error_response');
      most = Math.max(most, queues.inFlight);
    }
    expect([most, queues.capacityFor('new'), capacityReports() > 0]).toEqual([MAX_IN_FLIGHT, 5, true]);
  });

  it('starts the jobs that wait for the end of others account by account', async () => {
    const { queues, add, end, running } = queuesOf();
    for (let at = 0; at < 9; at += 1) queues.add(jobOf('first', `account ${at}`, at));
    for (let host = 0; host < MAX_IN_FLIGHT - 5; host += 1) add(`h${host}-`, 1);
    for (let at = 0; at < 2; at += 1) queues.add(jobOf('second', `other ${at}`, at));
    const started = (): string[] =>
      ['second other 0 0', 'second other 1 1', 'first account 5 5'].filter((name) => running.has(name));
    expect(started()).toEqual([]);
    await end('first account 0 0', 'success');
    expect(started()).toEqual(['second other 0 0']);
    await end('first account 1 1', 'success');
    expect(started()).toEqual(['second other 0 0', 'second other 1 1']);
    await end('h0-0', 'success');
    expect(started()).toHaveLength(3);
  });

  it('gives each account as many POSTs in flight as are free, and starts the next one as another ends', async () => {
    const { queues, running, add, end } = queuesOf();
    const most = MAX_IN_FLIGHT / 2;
    for (let host = 0; host <= most; host += 1) add(`h${host}-`, 1, 10_000, 'flooder');
    expect([queues.inFlight, running.has(`h${most}-0`)]).toEqual([most, false]);
    for (let host = 0; host <= most / 2; host += 1) add(`o${host}-`, 1, 10_000, 'other');
    expect([queues.inFlight, running.has(`o${most / 2}-0`)]).toEqual([1.5 * most, false]);
    await end('h0-0', 'error_response');
    // A place more is free for both; it is the turn of the account that has waited longest.
    expect([queues.inFlight, running.has(`h${most}-0`)]).toEqual([1.5 * most - 1, false]);
    for (let host = 1; host < most / 2; host += 1) await end(`h${host}-0`, 'error_response');
    expect([running.has(`h${most}-0`), running.has(`o${most / 2}-0`)]).toEqual([true, true]);
  });

  it('claims ahead for the hosts of an account that has its share of the POSTs in flight', async () => {
    const { queues, running, add, end } = queuesOf();
    for (let host = 0; host < 60; host += 1) add(`h${host}-`, 5, 10_000, 'one');
    expect([queues.inFlight, queues.capacityForAccount(live('one'))]).toEqual([MAX_IN_FLIGHT / 2, 700]);
    let ended = 0;
    for (; running.size > 0; ended += 1) {
      await end([...running.keys()][0] ?? '', 'success');
      expect(queues.inFlight).toBe(Math.min(MAX_IN_FLIGHT / 2, 300 - ended - 1));
    }
    expect(ended).toBe(300);
  });

  it('lets accounts take turns at one host', async () => {
    const { queues, running, add, end } = queuesOf();
    for (let at = 0; at < 8; at += 1) queues.add(jobOf('shared', 'first', at));
    queues.add(jobOf('shared', 'second', 0));
    await end('shared first 0', 'success');
    expect([running.has('shared first 5'), running.has('shared second 0')]).toEqual([true, false]);
    await end('shared first 1', 'success');
    expect(running.has('shared second 0')).toBe(true);
    // Hosts of its own use up the share of the first account; the second one does not wait behind it.
    for (let host = 0; host < MAX_IN_FLIGHT / 2; host += 1) add(`h${host}-`, 1, 10_000, 'first');
    add('last', 1, 10_000, 'first');
    expect(running.has('last0')).toBe(false);
    queues.add(jobOf('shared', 'second', 1));
    await end('shared second 0', 'success');
    expect(running.has('shared second 1')).toBe(true);
  });

  it('starts a job of another account as the next one ends, however many have their share', async () => {
    const { queues, running, add, end } = queuesOf();
    for (let account = 0; account < 50; account += 1) {
      for (let host = 0; host < 70; host += 1) add(`h${account}-${host}-`, 1, 10_000, `account ${account}`);
    }
    expect(queues.inFlight).toBe(MAX_IN_FLIGHT);
    add('newcomer', 1);
    await end('h0-0-0', 'error_response');
    for (let at = 1; !running.has('newcomer0'); at += 1) await end(`h0-${at}-0`, 'error_response');
    expect(queues.inFlight).toBeGreaterThan(MAX_IN_FLIGHT - 50);
  });

  it('gives test deliveries of an account a quarter of the share of its live ones, which stays free', () => {
    const { queues, add } = queuesOf();
    for (let host = 0; host < 100; host += 1) add(`t${host}-`, 1, 10_000, 'one', true);
    // A quarter of the 308 that are free.
    expect(queues.inFlight).toBe(76);
    for (let host = 0; host < 200; host += 1) add(`h${host}-`, 1, 10_000, 'one');
    expect(queues.inFlight).toBe(76 + (MAX_IN_FLIGHT - 76) / 2);
  });

  it('counts dropped and removed jobs of an account no longer', async () => {
    const { queues, add, end, wait } = queuesOf();
    add('a', 990, 1_000, 'one');
    expect(queues.capacityForAccount(live('one'))).toBe(10);
    queues.removeWaiting();
    add('a', 1, 1_000, 'one');
    wait(1_000);
    for (const at of [1, 2, 3, 4]) await end(`a${at}`, 'error_response');
    for (let host = 0; host < 100; host += 1) add(`h${host}-`, 8, 0, 'one');
    expect([queues.inFlight, queues.capacityForAccount(live('one'))]).toEqual([1, 999]);
  });

  it('probes a host that does not respond with one job at a time, with growing pauses, and drops the others', async () => {
    const { queues, add, end, wait, dropped, running, capacityReports } = queuesOf();
    add('a', 7, 1_000_000);
    for (const at of [0, 1, 2, 3, 4]) await end(`a${at}`, 'no_response');
    // The two waiting jobs started after the first two had ended, and still run.
    expect([queues.capacityFor('a'), queues.fullHosts(), dropped, running.size]).toEqual([0, ['a'], [], 2]);
    for (const at of [5, 6]) await end(`a${at}`, 'no_response');
    expect([queues.brokenHosts, queues.capacityFor('a'), queues.inFlight]).toEqual([1, 0, 0]);
    expect(queues.pausedHosts()).toEqual([{ host: 'a', leftMs: 1_000 }]);
    add('a', 1, 1_000_000);
    expect(dropped).toEqual(['a0']);
    wait(1_000);
    expect(queues.capacityFor('a')).toBe(1);
    add('a', 2, 1_000_000);
    expect([running.size, queues.capacityFor('a')]).toEqual([1, 0]);
    await end('a0', 'no_response');
    expect([dropped, queues.capacityFor('a')]).toEqual([['a0', 'a1'], 0]);
    wait(1_999);
    expect(queues.capacityFor('a')).toBe(0);
    wait(1);
    add('a', 1, 1_000_000);
    queues.noteLeftOver('a');
    const before = capacityReports();
    await end('a0', 'error_response');
    expect([queues.brokenHosts, queues.capacityFor('a'), capacityReports()]).toEqual([0, 5, before + 1]);
  });
});

describe('the rate of a host', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is kept although its POSTs are quick, and does not delay other hosts', async () => {
    const { queues, add, end, running, wait } = queuesOf(2);
    const advance = (ms: number): void => {
      wait(ms);
      vi.advanceTimersByTime(ms);
    };
    add('a', 4);
    expect([...running.keys()]).toEqual(['a0', 'a1']);
    for (const name of ['a0', 'a1']) await end(name, 'success');
    expect(running.size).toBe(0);
    add('b', 1);
    expect([...running.keys()]).toEqual(['b0']);
    advance(499);
    expect(running.has('a2')).toBe(false);
    advance(1);
    expect(running.has('a2')).toBe(true);
    await end('a2', 'success');
    // The host was never idle, so it has saved up nothing.
    expect(running.has('a3')).toBe(false);
    advance(500);
    await end('a3', 'success');
    add('a', 1);
    expect(running.has('a0')).toBe(false);
    expect(queues.removeWaiting().map(({ name }) => name)).toEqual(['a0']);
    advance(10_000);
    expect([...running.keys()]).toEqual(['b0']);
  });

  it('bounds the jobs claimed ahead', async () => {
    const { queues, add, end } = queuesOf(2);
    add('a', 1);
    await end('a0', 'success');
    add('a', 1);
    await end('a0', 'success');
    add('a', 1);
    expect(queues.capacityFor('a')).toBe(9);
  });
});
