import { WebSocket as UndiciSocket } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { APPROVED, PENDING } from '../test/answers.js';
import { RealtimeServer } from '../test/realtime-server.js';
import { API_KEY } from '../test/scripted-server.js';
import type { Realtime, RealtimeStatus } from './realtime-client.js';
import type { LiveEvent, SessionView } from './realtime-event.js';
import { RealtimeError } from './realtime-retry.js';
import type { ConnectSocket } from './realtime-socket.js';
import { realtime, type RealtimeOptions } from './realtime.js';
import type { Session } from './session.js';

const CHANNEL = `session:${PENDING.id}` as const;
const byWs: ConnectSocket = (url, protocols, headers) => new WebSocket(url, protocols, { headers });
const VIEW = {
  id: PENDING.id,
  status: 'pending',
  channel: 'sms_fallback',
  fallbackUri: PENDING.fallbackUri,
  expiresAt: PENDING.expiresAt,
  createdAt: PENDING.createdAt,
  approvedAt: null,
  latencyMs: null,
} as const;
const APPROVED_VIEW = { ...VIEW, status: 'approved', approvedAt: APPROVED.approvedAt, latencyMs: 4_314 } as const;

let server: RealtimeServer;
let statuses: RealtimeStatus[];
const opened: Realtime<never>[] = [];

beforeEach(async () => {
  server = await RealtimeServer.open();
  statuses = [];
});
afterEach(async () => {
  for (const live of opened.splice(0)) live.close();
  await server.close();
  vi.unstubAllGlobals();
});

const QUICK = { connect: byWs, firstBackoffMs: 1, longestBackoffMs: 5 };
const options = (changes: RealtimeOptions): RealtimeOptions => ({
  ...QUICK,
  onStatus: (status) => statuses.push(status),
  ...changes,
});

function byKey(changes: RealtimeOptions = {}, apiKey = API_KEY): Realtime<Session> {
  const live = realtime({ ...options(changes), url: server.url, apiKey });
  opened.push(live as Realtime<never>);
  return live;
}

function byTicket(
  ticket: () => Promise<{ ticket: string; url: string } | null> = () => Promise.resolve(server.issue()),
  changes: RealtimeOptions = {},
): Realtime {
  const live = realtime({ ...options(changes), ticket });
  opened.push(live as Realtime<never>);
  return live;
}

/** Everything that one listener receives. */
class RecordingListener {
  readonly snapshots: (SessionView | null)[] = [];
  readonly events: LiveEvent[] = [];
  readonly ends: RealtimeError[] = [];
  readonly snapshot = (snapshot: SessionView | null): void => void this.snapshots.push(snapshot);
  readonly event = (event: LiveEvent): void => void this.events.push(event);
  readonly ended = (error: RealtimeError): void => void this.ends.push(error);
}

const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 5_000, interval: 5 });
const received = (listener: RecordingListener, snapshots: number): Promise<void> =>
  soon(() => expect(listener.snapshots).toHaveLength(snapshots));

async function listening(
  live: Realtime<Session> | Realtime,
  channel: `session:${string}` = CHANNEL,
): Promise<RecordingListener> {
  const listener = new RecordingListener();
  live.subscribe(channel, listener);
  await received(listener, 1);
  return listener;
}

describe('realtime with a key', () => {
  it('sends it with the upgrade, never in the URL, and requests the subprotocol', async () => {
    await listening(byKey());
    expect(server.upgrades.map(({ url }) => url)).toEqual(['/v1/realtime']);
    expect(server.upgrades[0]?.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'sec-websocket-protocol': 'countersign.v1',
    });
    expect(server.messages).toEqual([{ type: 'subscribe', id: '1', channel: CHANNEL }]);
  });

  it('works with the global WebSocket of Node too', async () => {
    vi.stubGlobal('WebSocket', UndiciSocket);
    const live = realtime({ url: server.url, apiKey: API_KEY });
    opened.push(live as Realtime<never>);
    const listener = await listening(live);
    expect(listener.snapshots).toEqual([PENDING]);
    expect(server.upgrades[0]?.headers['sec-websocket-protocol']).toBe('countersign.v1');
  });

  it('delivers the session, then each event once', async () => {
    const listener = await listening(byKey());
    expect(listener.snapshots).toEqual([PENDING]);
    server.publish(CHANNEL, 'evt_1', 'verification.updated', PENDING);
    for (let times = 0; times < 2; times += 1) server.publish(CHANNEL, 'evt_2', 'verification.completed', APPROVED);
    server.publish(CHANNEL, 'evt_3', 'verification.invented', { a: 1 });
    await soon(() => expect(listener.events).toHaveLength(3));
    const timestamp = '2023-11-14T22:13:24.321Z';
    expect(listener.events).toEqual([
      { id: 'evt_1', timestamp, type: 'verification.updated', data: PENDING },
      { id: 'evt_2', timestamp, type: 'verification.completed', data: APPROVED },
      { id: 'evt_3', timestamp, type: 'unknown', originalType: 'verification.invented', data: { a: 1 } },
    ]);
    expect(statuses).toEqual(['connecting', 'live']);
  });

  it('receives events of a whole account, whose snapshot is null', async () => {
    const listener = new RecordingListener();
    const account = `account:${PENDING.accountId}` as const;
    byKey().subscribe(account, listener);
    await received(listener, 1);
    const disabled = { accountId: PENDING.accountId, url: 'https://example.com/', reason: 'failing' };
    server.publish(account, 'evt_1', 'verification.completed', APPROVED);
    server.publish(account, 'evt_2', 'webhook.disabled', disabled);
    await soon(() => expect(listener.events).toHaveLength(2));
    expect(listener.snapshots).toEqual([null]);
    expect(listener.events[1]).toMatchObject({ type: 'webhook.disabled', data: disabled });
  });

  it('ends when the key is refused, or revoked while it is open', async () => {
    const refused = new RecordingListener();
    byKey({}, 'csk_live_other').subscribe(CHANNEL, refused);
    await soon(() => expect(refused.ends[0]).toMatchObject({ name: 'RealtimeError', reason: 'unauthorized' }));
    expect(server.upgrades).toHaveLength(1);

    const live = byKey();
    const revoked = await listening(live);
    server.end(4401);
    await soon(() => expect(revoked.ends).toHaveLength(1));
    expect(() => live.subscribe(CHANNEL, revoked)).toThrow(RealtimeError);
    expect(statuses.at(-1)).toBe('ended');
  });
});

describe('realtime with a ticket', () => {
  it('sends it as the first message, and sees the part of the session that a page may see', async () => {
    server.sessions = new Map([[CHANNEL, VIEW]]);
    const listener = await listening(byTicket());
    expect(listener.snapshots).toEqual([VIEW]);
    expect(server.messages.map(({ type }) => type)).toEqual(['auth', 'subscribe']);
    expect(server.upgrades[0]?.headers.authorization).toBeUndefined();
    server.publish(CHANNEL, 'evt_1', 'verification.completed', APPROVED_VIEW);
    await soon(() => expect(listener.events).toMatchObject([{ type: 'verification.completed', data: APPROVED_VIEW }]));
  });

  it('requests a new one for every connection', async () => {
    let asked = 0;
    const listener = await listening(
      byTicket(() => Promise.resolve({ ...server.issue(), ticket: `rtk_${(asked += 1)}` })),
    );
    server.end();
    await soon(() => expect(asked).toBeGreaterThan(1));
    expect(listener.ends).toEqual([]);
  });

  it('requests another one when one was refused, or when the callback failed', async () => {
    const answers = [
      () => Promise.resolve({ ticket: 'rtk_expired', url: server.url }),
      () => Promise.reject(new Error('the backend is unavailable')),
      () => Promise.resolve({ ticket: 'rtk_1', url: 'ws://example.com/' }),
      () => Promise.resolve(server.issue()),
    ];
    const listener = new RecordingListener();
    byTicket(() => (answers.shift() ?? answers[0] ?? (() => Promise.resolve(null)))()).subscribe(CHANNEL, listener);
    await received(listener, 1);
    expect(answers).toEqual([]);
  });

  it('ends when there is none, and when three were refused in a row', async () => {
    const none = new RecordingListener();
    byTicket(() => Promise.resolve(null)).subscribe(CHANNEL, none);
    await soon(() => expect(none.ends).toMatchObject([{ reason: 'no_ticket' }]));
    const refused = new RecordingListener();
    byTicket(() => Promise.resolve({ ticket: 'rtk_bad', url: server.url })).subscribe(CHANNEL, refused);
    await soon(() => expect(refused.ends).toMatchObject([{ reason: 'unauthorized' }]));
    expect(server.messages.filter(({ type }) => type === 'auth')).toHaveLength(3);
  });
});

describe('a connection that is lost', () => {
  it.each([undefined, 1_001, 1_011, 4_408, 4_503])(
    'is reopened, subscribes again and delivers the present state: code %s',
    async (code) => {
      const listener = await listening(byKey());
      server.sessions.set(CHANNEL, APPROVED);
      server.end(code);
      await received(listener, 2);
      expect(listener.snapshots.map((session) => session?.status)).toEqual(['pending', 'approved']);
      expect(listener.ends).toEqual([]);
    },
  );

  it('loses no event, whenever it breaks', async () => {
    const live = byKey();
    const channels = Array.from({ length: 8 }, (_, at) => `session:sess_${at}` as const);
    for (const [at, channel] of channels.entries()) server.sessions.set(channel, { ...PENDING, id: `sess_${at}` });
    const ends = channels.map((channel) => live.untilEnded(channel.slice('session:'.length)));
    for (const [at, channel] of channels.entries()) {
      await soon(() => expect(server.openCount).toBe(1));
      const session = { ...APPROVED, id: `sess_${at}` };
      server.sessions.set(channel, session);
      // Sent as an event, or only visible in a snapshot, while the connection breaks.
      if (at % 2 === 0) server.publish(channel, `evt_${at}`, 'verification.completed', session);
      server.end(at % 3 === 0 ? undefined : 4_503);
    }
    expect((await Promise.all(ends)).map(({ id, status }) => [id, status])).toEqual(
      channels.map((_, at) => [`sess_${at}`, 'approved']),
    );
  });

  it('resumes the channel of an account after its last stored event, and anew when the service cannot', async () => {
    const account = `account:${PENDING.accountId}` as const;
    let missed = 0;
    const listener = Object.assign(new RecordingListener(), { missed: () => (missed += 1) });
    byKey().subscribe(account, listener);
    await received(listener, 1);
    for (const id of ['evt_2', 'evt_1']) server.publish(account, id, 'verification.completed', APPROVED);
    server.publish(account, 'evt_3', 'verification.updated', PENDING);
    await soon(() => expect(listener.events).toHaveLength(3));
    server.answer = () => null;
    server.end();
    await soon(() => expect(server.messages).toHaveLength(2));
    const { id } = server.messages[1] ?? {};
    server.say({ type: 'error', id, error: { code: 'RESUME_TOO_OLD', message: 'Too old.' } });
    server.say({ type: 'subscribed', id, channel: account, snapshot: null });
    await received(listener, 2);
    server.end();
    await soon(() => expect(server.messages).toHaveLength(3));
    expect(server.messages.map(({ resumeAfter }) => resumeAfter)).toEqual([undefined, 'evt_1', undefined]);
    expect([missed, listener.ends]).toEqual([1, []]);
  });

  it('is detected when the other side is silent', async () => {
    server.heartbeatMs = 20;
    server.answersPings = false;
    const listener = await listening(byKey());
    await received(listener, 3);
    expect(server.messages.some(({ type }) => type === 'ping')).toBe(true);
  });

  it('is not assumed while pings are answered', async () => {
    // A busy machine answers a ping within this time.
    server.heartbeatMs = 250;
    await listening(byKey());
    await soon(() => expect(server.messages.filter(({ type }) => type === 'ping').length).toBeGreaterThan(3));
    expect(server.upgrades).toHaveLength(1);
  });

  it('waits for the delay that the service requested before closing', async () => {
    const listener = await listening(byKey({ firstBackoffMs: 1_000_000, longestBackoffMs: 1_000_000 }));
    server.say({ type: 'closing', reconnectAfterMs: 5 });
    server.end(1_001);
    await received(listener, 2);
    expect(statuses).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live']);
  });

  it('is retried when it breaks before the welcome', async () => {
    server.greetings.push(
      (socket) => socket.terminate(),
      (socket) => socket.close(4_429),
    );
    const listener = await listening(byKey());
    expect([listener.snapshots.length, server.upgrades.length]).toEqual([1, 3]);
  });

  it.each([
    [4_400, 'protocol'],
    [4_403, 'forbidden'],
  ])('with %i does not come back: %s', async (code, reason) => {
    const listener = await listening(byKey());
    server.end(code);
    await soon(() => expect(listener.ends).toMatchObject([{ reason }]));
    expect(server.upgrades).toHaveLength(1);
  });
});

describe('a subscription', () => {
  it('that is refused ends alone, with the service’s code', async () => {
    server.answer = (channel) =>
      channel === CHANNEL ? { snapshot: PENDING } : { error: { code: 'SESSION_NOT_FOUND', message: 'No.' } };
    const live = byKey();
    const listener = await listening(live);
    const refused = new RecordingListener();
    live.subscribe('session:sess_other', refused);
    await soon(() => expect(refused.ends).toMatchObject([{ reason: 'refused', code: 'SESSION_NOT_FOUND' }]));
    expect(listener.ends).toEqual([]);
  });

  it('that is refused temporarily is repeated', async () => {
    server.answer = (channel, count) =>
      count < 3
        ? { error: { code: 'SERVICE_UNAVAILABLE', message: 'Later.' } }
        : { snapshot: server.sessions.get(channel) ?? null };
    const listener = await listening(byKey());
    expect([listener.snapshots, listener.ends]).toEqual([[PENDING], []]);
  });

  it('gives a later listener the latest state, without another request', async () => {
    const live = byKey();
    const listener = await listening(live);
    server.publish(CHANNEL, 'evt_1', 'verification.completed', APPROVED);
    server.publish(CHANNEL, 'evt_2', 'verification.updated', PENDING);
    await soon(() => expect(listener.events).toHaveLength(2));
    expect((await listening(live)).snapshots).toEqual([APPROVED]);
    expect(server.messages).toHaveLength(1);
  });

  it('ends with its last listener, and is repeated for a new one', async () => {
    const live = byKey();
    const [one, two] = [new RecordingListener(), new RecordingListener()];
    const subscriptions = [live.subscribe(CHANNEL, one), live.subscribe(CHANNEL, two)];
    await received(two, 1);
    for (const subscription of subscriptions) subscription.close();
    const back = await listening(live);
    server.publish(CHANNEL, 'evt_1', 'verification.completed', APPROVED);
    await soon(() => expect(back.events).toHaveLength(1));
    expect([one.events, two.events]).toEqual([[], []]);
    expect(server.messages.map(({ type }) => type)).toEqual(['subscribe', 'unsubscribe', 'subscribe']);
  });

  it('that the service ends is over', async () => {
    const listener = await listening(byKey());
    server.say({ type: 'unsubscribed', channel: CHANNEL });
    await soon(() => expect(listener.ends).toMatchObject([{ reason: 'refused' }]));
  });

  it('with an invalid snapshot ends all: data that is not understood is never delivered', async () => {
    server.answer = () => ({ snapshot: { id: 'sess_1', status: 'approved' } });
    const listener = new RecordingListener();
    byKey().subscribe(CHANNEL, listener);
    await soon(() => expect(listener.ends).toMatchObject([{ reason: 'protocol' }]));
    expect(listener.snapshots).toEqual([]);
  });

  it('is one of at most a hundred, sent within the rate limit of the service', async () => {
    const live = byKey();
    const listeners = Array.from({ length: 100 }, (_, at) => {
      const listener = new RecordingListener();
      live.subscribe(`session:sess_${at}`, listener);
      return listener;
    });
    expect(() => live.subscribe('session:sess_100', new RecordingListener())).toThrow(RangeError);
    await soon(() => expect(listeners.filter(({ snapshots }) => snapshots.length === 1).length).toBeGreaterThan(20));
    const fastest = Math.min(...server.arrivals.slice(20).map((at, index) => at - (server.arrivals[index] ?? 0)));
    expect(fastest).toBeGreaterThan(1_000);
  });
});

describe('untilEnded', () => {
  it('resolves with the session when it ends, and at once when it has ended', async () => {
    const live = byKey();
    const ended = live.untilEnded(PENDING.id);
    await soon(() => expect(server.messages).toHaveLength(1));
    server.publish(CHANNEL, 'evt_1', 'verification.updated', PENDING);
    server.publish(CHANNEL, 'evt_2', 'verification.completed', APPROVED);
    expect(await ended).toEqual(APPROVED);
    server.sessions.set(CHANNEL, { ...PENDING, status: 'expired' });
    expect(await live.untilEnded(PENDING.id)).toMatchObject({ status: 'expired' });
  });

  it('ends with the signal, and with the channel', async () => {
    const live = byKey();
    const stopper = new AbortController();
    const aborted = live.untilEnded(PENDING.id, { signal: stopper.signal });
    stopper.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await expect(live.untilEnded(PENDING.id, { signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow(
      'never',
    );
    const pending = live.untilEnded(PENDING.id);
    live.close();
    await expect(pending).rejects.toMatchObject({ reason: 'closed' });
    await expect(live.untilEnded(PENDING.id)).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe('closing', () => {
  it('is sent to the service and reported to all listeners, once', async () => {
    const live = byKey();
    const listener = await listening(live);
    live.close();
    live.close();
    expect(listener.ends).toMatchObject([{ reason: 'closed' }]);
    await soon(() => expect(server.openCount).toBe(0));
    expect(statuses).toEqual(['connecting', 'live', 'ended']);
  });

  it('stops a connection that is being opened', async () => {
    const [socket, asked] = [vi.fn(byWs), vi.fn(() => Promise.resolve(server.issue()))];
    const live = byTicket(asked, { connect: socket });
    live.subscribe(CHANNEL, new RecordingListener());
    live.close();
    await asked.mock.results[0]?.value;
    await Promise.resolve();
    expect(socket).not.toHaveBeenCalled();
  });
});

describe('arguments that realtime rejects', () => {
  it.each([
    'http://localhost/',
    'ws://example.com/v1/realtime',
    'wss://user@example.com/',
    'wss://example.com/?key=x',
    'x',
  ])('the URL %s', (url) => {
    expect(() => realtime({ url, apiKey: API_KEY, connect: byWs })).toThrow(TypeError);
  });

  it('an environment without a WebSocket, and a key in a page', () => {
    vi.stubGlobal('WebSocket', undefined);
    expect(() => realtime({ ticket: () => Promise.resolve(null) })).toThrow(/`connect`/);
    vi.stubGlobal('document', {});
    expect(() => realtime({ url: server.url, apiKey: API_KEY, connect: byWs })).toThrow(/page/);
  });
});
