import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Metrics } from '@countersign/telemetry';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConnectionStanding } from './connection-limits.js';
import { RequestDeadline } from './request-deadline.js';
import { RequestQueue } from './request-queue.js';

const CREATE = ['POST', '/v1/verify'] as const;
const CHECK = ['POST', '/v1/verify/sess_1/check'] as const;
const USAGE = ['GET', '/v1/usage?from=2026-01-01'] as const;
const LIST = ['GET', '/v1/verify'] as const;

interface AddOptions {
  readonly socket?: Socket;
  readonly standing?: ConnectionStanding;
  readonly authorization?: string;
  /** Further requests arrive in the same turn of the event loop. */
  readonly isSameTurn?: boolean;
}

/** Callbacks of setImmediate. */
const immediates: (() => void)[] = [];

/** Ends turns until none follows. */
const endTurns = (): void => {
  for (let next = immediates.shift(); next !== undefined; next = immediates.shift()) next();
};

/** A queue with requests that begin at once, and end when the test ends them. */
function queued() {
  const deadline = new RequestDeadline();
  const metrics = new Metrics({ app: 'test', processMetrics: false });
  const begun: string[] = [];
  const refused: string[] = [];
  const names = new Map<object, string>();
  const refuseUnread = async (request: IncomingMessage): Promise<void> => {
    refused.push(names.get(request) ?? '');
    return Promise.resolve();
  };
  const queue = new RequestQueue(deadline, { refuseUnread }, metrics);
  let count = 0;
  const add = (
    [method, url]: readonly [string, string],
    { socket = new Socket(), standing = 'keyed', authorization, isSameTurn = false }: AddOptions = {},
  ) => {
    const name = `${method} ${url} ${++count}`;
    const request = Object.assign(new IncomingMessage(socket), { method, url, headers: { authorization } });
    const response = new ServerResponse(request);
    names.set(request, name);
    queue.add(request, response, standing, () => {
      begun.push(name);
      deadline.watch(request, () => undefined);
    });
    if (!isSameTurn) endTurns();
    return { name, request, socket };
  };
  const addMany = (number: number, kind: readonly [string, string]) => Array.from({ length: number }, () => add(kind));
  const done = (...requests: readonly { readonly request: IncomingMessage }[]): void => {
    for (const { request } of requests) deadline.done(request);
    endTurns();
  };
  return { add, addMany, begun, done, metrics, queue, refused };
}

describe('the queue of requests', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.stubGlobal('setImmediate', (call: () => void) => immediates.push(call));
  });
  afterEach(() => {
    endTurns();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('lets 256 creates begin at once, and the next one when one of them is done', () => {
    const { add, addMany, begun, done, refused } = queued();
    const [first] = addMany(256, CREATE);
    const next = add(CREATE);
    expect(begun).toHaveLength(256);
    if (first !== undefined) done(first);
    expect(begun.slice(256)).toEqual([next.name]);
    expect(refused).toEqual([]);
  });

  it('lets 16 requests begin in a turn of the event loop, and the others in the turns after it', () => {
    const { add, begun } = queued();
    const names = Array.from({ length: 40 }, () => add(CHECK, { isSameTurn: true }).name);
    expect(begun).toEqual(names.slice(0, 16));
    immediates.shift()?.();
    expect(begun).toEqual(names.slice(0, 32));
    endTurns();
    expect(begun).toEqual(names);
  });

  it('does not begin a report beside 128 requests, nor a create beside 256, while calls of a session still begin', () => {
    const { add, addMany, begun } = queued();
    addMany(128, USAGE);
    expect(begun).toHaveLength(128);
    const waits = add(LIST);
    addMany(128, CREATE);
    expect(begun).not.toContain(waits.name);
    expect(begun).toHaveLength(256);
    add(CREATE);
    expect(begun).toHaveLength(256);
    addMany(128, CHECK);
    expect(begun).toHaveLength(384);
    add(CHECK);
    expect(begun).toHaveLength(384);
  });

  it('begins calls of a session before creates, and creates before reports', () => {
    const { add, addMany, begun, done } = queued();
    const busy = addMany(384, CHECK);
    const [report, create, check] = [add(USAGE), add(CREATE), add(CHECK)];
    done(...busy);
    expect(begun.slice(384)).toEqual([check.name, create.name, report.name]);
  });

  it('refuses a request that has waited for a second, and says how long another one has waited', () => {
    const { add, addMany, begun, done, queue, refused } = queued();
    const [first, ...busy] = addMany(256, CREATE);
    const [late, later] = [add(CREATE), add(CREATE)];
    vi.advanceTimersByTime(900);
    if (first !== undefined) done(first);
    expect(begun.at(-1)).toBe(late.name);
    expect(queue.waitedMs(late.request)).toBe(900);
    vi.advanceTimersByTime(120);
    expect(refused).toEqual([later.name]);
    done(...busy);
    expect(begun).toHaveLength(257);
  });

  it('refuses at once when 1,024 wait, and counts it', async () => {
    const { add, addMany, metrics, refused } = queued();
    addMany(256 + 1_024, CREATE);
    expect(refused).toEqual([]);
    const beyond = add(CREATE);
    expect(refused).toEqual([beyond.name]);
    vi.useRealTimers();
    const { text } = await metrics.render();
    expect(text).toContain('countersign_http_requests_shed_total{class="create",app="test"} 1');
    expect(text).toContain('countersign_requests_waiting{app="test"} 1024');
    expect(text).toContain('countersign_requests_open{app="test"} 256');
  });

  it('takes further requests of a connection without a valid key for reports, whatever their path', () => {
    const { add, addMany, begun, done } = queued();
    const busy = addMany(384, CHECK);
    const socket = new Socket();
    const [first, second] = [add(CHECK, { socket, standing: 'unknown' }), add(CHECK, { socket, standing: 'unknown' })];
    const create = add(CREATE);
    const keyed = add(CHECK, { socket });
    done(...busy);
    expect(begun.slice(384)).toEqual([first.name, keyed.name, create.name, second.name]);
  });

  it('lets a connection without a valid key rest for five seconds while 32 requests are in progress, also if none waits', () => {
    const { add, addMany, begun, done, queue } = queued();
    const socket = new Socket();
    const busy = addMany(31, CREATE);
    const atOnce = add(USAGE, { socket, standing: 'unknown' });
    queue.noteQuotaExceeded(atOnce.request, 'unknown');
    expect(begun).toContain(atOnce.name);
    const rests = add(USAGE, { socket, standing: 'unknown' });
    const other = add(USAGE);
    done(...busy);
    vi.advanceTimersByTime(4_900);
    expect([begun.includes(rests.name), begun.includes(other.name)]).toEqual([false, true]);
    vi.advanceTimersByTime(150);
    expect(begun).toContain(rests.name);
  });

  it('takes requests for reports whose key was answered 429 in the last five seconds, over any connection', () => {
    const { add, addMany, begun, done, queue } = queued();
    const authorization = 'Bearer one';
    queue.noteQuotaExceeded(add(USAGE, { authorization, standing: 'shared' }).request, 'shared');
    const busy = addMany(384, CHECK);
    const beyond = add(CHECK, { authorization, standing: 'shared' });
    const other = add(CREATE, { authorization: 'Bearer other', standing: 'shared' });
    done(...busy.slice(0, 200));
    expect([begun.includes(other.name), begun.includes(beyond.name)]).toEqual([true, false]);
    vi.advanceTimersByTime(5_000);
    const later = add(CHECK, { authorization, standing: 'shared' });
    expect(begun).toContain(later.name);
  });

  it('lets no connection of a proxy rest: its next request is of somebody else', () => {
    const { add, addMany, begun, done, refused } = queued();
    const busy = addMany(256, CREATE);
    addMany(1_024, CREATE);
    const { socket } = add(CREATE, { standing: 'shared' });
    expect(refused).toHaveLength(1);
    done(...busy);
    const again = add(CREATE, { socket, standing: 'shared' });
    vi.advanceTimersByTime(500);
    const rest = begun.length;
    expect(begun).not.toContain(again.name);
    vi.advanceTimersByTime(520);
    expect([rest, refused.includes(again.name)]).toEqual([512, true]);
  });

  it('lets the next request of a refused connection rest for two seconds while others wait', () => {
    const { add, addMany, begun, done, refused } = queued();
    const busy = addMany(256, CREATE);
    const waiting = addMany(1_024, CREATE);
    const { socket } = add(CREATE);
    const again = add(CREATE, { socket });
    expect(refused).toHaveLength(1);
    vi.advanceTimersByTime(990);
    done(...busy);
    expect(begun).not.toContain(again.name);
    // One waits, in place of those that have begun.
    vi.advanceTimersByTime(1_020);
    done(...waiting.slice(0, 256));
    expect(begun).toContain(again.name);
    expect(refused).not.toContain(again.name);
  });

  it('begins a resting request early when no other one waits', () => {
    const { add, addMany, begun, done } = queued();
    const busy = addMany(256, CREATE);
    const waiting = addMany(1_024, CREATE);
    const { socket } = add(CREATE);
    const again = add(CREATE, { socket });
    done(...busy);
    for (let at = 0; at < 1_024; at += 256) done(...waiting.slice(at, at + 256));
    expect(begun.at(-1)).toBe(again.name);
    expect(begun).toHaveLength(256 + 1_024 + 1);
  });

  it('does not begin or refuse a request whose caller has gone', () => {
    const { add, addMany, begun, done, refused } = queued();
    const busy = addMany(256, CREATE);
    add(CREATE).socket.destroy();
    done(...busy);
    addMany(256, CREATE);
    add(CREATE).socket.destroy();
    vi.advanceTimersByTime(2_000);
    expect(begun).toHaveLength(512);
    expect(refused).toEqual([]);
  });
});
