import { type EventType, showsSession, type StoredEvent } from '@countersign/events';
import type { Session } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { RenderedEvent, EventLoader, EventRenderer } from './rendered-event.js';
import type { SessionView } from './session-view.js';

const broadcast: BroadcastEvent & { readonly sessionId: string } = {
  id: '018f3c1e-6b00-7000-8000-000000000001',
  type: 'verification.completed',
  sessionId: '018f3c1e-6b00-7000-8000-000000000002',
  accountId: '018f3c1e-6b00-7000-8000-000000000003',
  test: false,
  at: '2026-11-21T12:00:00.000Z',
};

/** A rendered event whose data names its view, and the views that were rendered. */
function renderedEventOf(
  event: BroadcastEvent,
  dataIn = (view: SessionView): string | null => `{"view":"${view}"}`,
): { renderedEvent: RenderedEvent; rendered: SessionView[] } {
  const rendered: SessionView[] = [];
  const renderedEvent = new RenderedEvent(event, { accountId: event.accountId, mode: 'live' }, (view) => {
    rendered.push(view);
    return dataIn(view);
  });
  return { renderedEvent, rendered };
}

describe('an event with many subscribers', () => {
  it('is rendered once for the account, and the same octets are sent to all', () => {
    const { renderedEvent, rendered } = renderedEventOf(broadcast);
    const first = renderedEvent.onAccount.inView('full');
    for (let listener = 0; listener < 100; listener += 1) expect(renderedEvent.onAccount.inView('full')).toBe(first);
    expect(rendered).toEqual(['full']);
    expect(String(first)).toContain('"channel":"account:acct_');
  });

  it('is rendered again for subscribers of the account with a smaller view', () => {
    const { renderedEvent } = renderedEventOf(broadcast);
    expect(String(renderedEvent.onAccount.inView('full'))).toContain('"view":"full"');
    expect(String(renderedEvent.onAccount.inView('reduced_key'))).toContain('"view":"reduced_key"');
  });

  it('is rendered once for each view of its session', () => {
    const { renderedEvent, rendered } = renderedEventOf(broadcast);
    for (const view of ['full', 'reduced', 'full', 'reduced'] as const) {
      expect(String(renderedEvent.inView(view))).toContain(`"data":{"view":"${view}"}`);
    }
    expect(rendered).toEqual(['full', 'reduced']);
  });

  it('is not rendered again when rendering returned null', () => {
    const { renderedEvent, rendered } = renderedEventOf(broadcast, () => null);
    for (let listener = 0; listener < 3; listener += 1) {
      expect(renderedEvent.inView('reduced')).toBeNull();
      expect(renderedEvent.onAccount.inView('full')).toBeNull();
    }
    expect(rendered).toEqual(['reduced', 'full']);
  });

  it('is not sent to sessions when it concerns the account alone', () => {
    const { renderedEvent, rendered } = renderedEventOf({ ...broadcast, type: 'webhook.disabled', sessionId: null });
    expect(renderedEvent.inView('full')).toBeNull();
    expect(rendered).toEqual([]);
  });
});

const NOW_MS = Date.parse('2026-11-21T12:00:05.000Z');
const STRANGER = '018f3c1e-6b00-7000-8000-0000000000ff';
const OTHER_SESSION = '018f3c1e-6b00-7000-8000-0000000000fe';

const session = {
  id: broadcast.sessionId,
  accountId: broadcast.accountId,
  test: false,
  status: 'approved',
  createdAt: new Date('2026-11-21T11:59:00.000Z'),
} as Session;

const rowOf = ({ id, type, sessionId, accountId, test, at }: BroadcastEvent): StoredEvent => {
  const data = showsSession(type) ? null : '{"of":"the row"}';
  return { id, type: type as EventType, sessionId, accountId, test: test === true, occurredAt: new Date(at), data };
};

interface Rows {
  readonly sessions?: readonly Session[];
  readonly events?: readonly StoredEvent[];
}

/** The events that are rendered from the messages and these rows, and the number of statements. */
async function loaded(
  messages: readonly BroadcastEvent[],
  { sessions = [session], events = [rowOf(broadcast)] }: Rows = {},
) {
  let statements = 0;
  const byIds = <T extends { readonly id: string }>(rows: readonly T[], ids: readonly string[]): T[] => {
    statements += 1;
    return rows.filter(({ id }) => ids.includes(id));
  };
  const loader = new EventLoader(
    { query: () => Promise.reject(new Error('not asked')) },
    { nowMs: () => NOW_MS },
    { findMany: (_database, ids) => Promise.resolve(byIds(sessions, ids)) },
    { findMany: (_database, ids) => Promise.resolve(new Map(byIds(events, ids).map((row) => [row.id, row]))) },
    new EventRenderer(
      { full: () => '{}', reduced: () => '{}', listed: () => '{}', masked: () => '{}' },
      { about: () => () => undefined },
    ),
  );
  const read = await loader.read(messages);
  return { events: read, broadcast: read.map((each) => each.broadcast), statements };
}

const mismatch = { ...broadcast, type: 'verification.sender_mismatch' } as const;
const ofAccount = { ...broadcast, type: 'webhook.disabled', sessionId: null } as const;
const updated = { ...broadcast, type: 'verification.updated' } as const;

describe('a broadcast event', () => {
  it('is loaded with one statement for all rows of events and one for all sessions', async () => {
    const messages = Array.from({ length: 200 }, () => broadcast);
    expect(await loaded(messages)).toMatchObject({ broadcast: messages, statements: 2 });
  });

  it('has the type, session, account, mode and time of its row, whatever the message says', async () => {
    const message = { ...broadcast, accountId: STRANGER, test: true, at: '2020-01-01T00:00:00.000Z' };
    expect((await loaded([message])).broadcast).toEqual([broadcast]);
    const own = { ...mismatch, accountId: STRANGER, test: true, at: '2020-01-01T00:00:00.000Z' };
    const { events } = await loaded([own], { events: [rowOf(mismatch)] });
    expect(events.map((each) => [each.broadcast, each.tenant])).toEqual([
      [mismatch, { accountId: broadcast.accountId, mode: 'live' }],
    ]);
    expect(String(events[0]?.onAccount.inView('full'))).toContain('"data":{"of":"the row"}}');
  });

  it.each<[string, BroadcastEvent, Rows]>([
    ['it has no row', broadcast, { events: [] }],
    ['its row has another type', { ...broadcast, type: 'verification.denied' }, {}],
    ['its row has another session', { ...broadcast, sessionId: OTHER_SESSION }, {}],
    ['its row has a session and the message none', { ...mismatch, sessionId: null }, { events: [rowOf(mismatch)] }],
    ['its session does not exist', broadcast, { sessions: [] }],
    ['its session is of another account', broadcast, { sessions: [{ ...session, accountId: STRANGER }] }],
    ['its session does not exist and its data is its own', mismatch, { sessions: [], events: [rowOf(mismatch)] }],
    ['its session is pending', broadcast, { sessions: [{ ...session, status: 'pending' }] }],
    ['its session ended in another status', broadcast, { sessions: [{ ...session, status: 'denied' }] }],
  ])('is left out when %s', async (_what, message, rows) => {
    expect((await loaded([message], rows)).broadcast).toEqual([]);
  });

  it('without a row has the account and mode of its session', async () => {
    const { events } = await loaded([{ ...updated, accountId: STRANGER, test: true }], { events: [] });
    expect(events.map((each) => [each.broadcast, each.tenant, each.ends])).toEqual([
      [updated, { accountId: broadcast.accountId, mode: 'live' }, null],
    ]);
  });

  it.each<[string, BroadcastEvent, Rows]>([
    ['its session does not exist', updated, { sessions: [], events: [] }],
    ['it has the id of a stored event', updated, {}],
    ['it is older than its session', { ...updated, at: '2026-11-21T11:57:59.999Z' }, { events: [] }],
    ['its time is in the future', { ...updated, at: '2026-11-21T12:01:05.001Z' }, { events: [] }],
  ])('without a row is left out when %s', async (_what, message, rows) => {
    expect((await loaded([message], rows)).broadcast).toEqual([]);
  });
});

describe('an event of the account alone', () => {
  const data = '{"accountId":"acct_1","url":"https://hooks.example/in?token=secret","reason":"Failed for 5 days."}';
  const shownIn = async (view: SessionView, row = data): Promise<string> => {
    const stored = { ...rowOf(ofAccount), data: row };
    const { events } = await loaded([ofAccount], { sessions: [], events: [stored] });
    return String(events[0]?.onAccount.inView(view));
  };

  it('has its URL without values of the query for viewers, and as it is for others', async () => {
    const masked = data.replace('secret', '***');
    expect(await shownIn('masked')).toContain(`"data":${masked}}`);
    for (const view of ['full', 'listed', 'reduced_key'] as const)
      expect(await shownIn(view)).toContain(`"data":${data}}`);
  });

  it('is not sent to viewers where its data cannot be masked', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(await shownIn('masked', deep)).toBe('null');
    expect(await shownIn('full', deep)).toContain(deep);
  });
});

describe('the mode of an event', () => {
  const modeOf = async (message: BroadcastEvent, rows: Rows): Promise<string | undefined> =>
    (await loaded([message], rows)).events[0]?.tenant.mode;

  it.each([
    ['an event that shows the session', broadcast],
    ['an event that does not show the session', mismatch],
  ])('is that of the session when an earlier release sent the message and wrote the row: %s', async (_name, event) => {
    for (const [test, mode] of [
      [true, 'test'],
      [false, 'live'],
    ] as const) {
      const rows = { sessions: [{ ...session, test }], events: [rowOf({ ...event, test: false })] };
      expect(await modeOf({ ...event, test: null }, rows)).toBe(mode);
    }
  });

  it('is that of the row when it has no session', async () => {
    const rows = { sessions: [], events: [rowOf({ ...ofAccount, test: true })] };
    expect(await modeOf({ ...ofAccount, test: false }, rows)).toBe('test');
    expect(await modeOf({ ...ofAccount, test: null }, rows)).toBe('test');
  });
});
