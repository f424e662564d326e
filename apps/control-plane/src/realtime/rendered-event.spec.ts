import type { Session } from '@countersign/session/rules';
import { describe, expect, it } from 'vitest';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { RenderedEvent, EventLoader } from './rendered-event.js';
import type { SessionView } from './session-view.js';

const told: BroadcastEvent = {
  id: '018f3c1e-6b00-7000-8000-000000000001',
  type: 'verification.completed',
  sessionId: '018f3c1e-6b00-7000-8000-000000000002',
  accountId: '018f3c1e-6b00-7000-8000-000000000003',
  test: false,
  at: '2026-11-21T12:00:00.000Z',
};

/** Tidings whose data says the view it is of, and the views that were asked for. */
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

describe('an event that many listen to', () => {
  it('is rendered once for the account, and the same octets go to each', () => {
    const { renderedEvent, rendered } = renderedEventOf(told);
    const first = renderedEvent.onAccount.inView('full');
    for (let listener = 0; listener < 100; listener += 1) expect(renderedEvent.onAccount.inView('full')).toBe(first);
    expect(rendered).toEqual(['full']);
    expect(String(first)).toContain('"channel":"account:acct_');
  });

  it('is rendered anew for listeners of the account that see less', () => {
    const { renderedEvent } = renderedEventOf(told);
    expect(String(renderedEvent.onAccount.inView('full'))).toContain('"view":"full"');
    expect(String(renderedEvent.onAccount.inView('reduced_key'))).toContain('"view":"reduced_key"');
  });

  it('is rendered once for each view of its session', () => {
    const { renderedEvent, rendered } = renderedEventOf(told);
    for (const view of ['full', 'reduced', 'full', 'reduced'] as const) {
      expect(String(renderedEvent.inView(view))).toContain(`"data":{"view":"${view}"}`);
    }
    expect(rendered).toEqual(['full', 'reduced']);
  });

  it('is not tried again where it gave nothing', () => {
    const { renderedEvent, rendered } = renderedEventOf(told, () => null);
    for (let listener = 0; listener < 3; listener += 1) {
      expect(renderedEvent.inView('reduced')).toBeNull();
      expect(renderedEvent.onAccount.inView('full')).toBeNull();
    }
    expect(rendered).toEqual(['reduced', 'full']);
  });

  it('tells nothing to sessions when it is of an account alone', () => {
    const { renderedEvent, rendered } = renderedEventOf({ ...told, type: 'webhook.disabled', sessionId: null });
    expect(renderedEvent.inView('full')).toBeNull();
    expect(rendered).toEqual([]);
  });
});

describe('the mode of an event', () => {
  /** Reads one event of a session of this mode; `test` is what the event's message says. */
  async function tenantOf(event: BroadcastEvent, session: { readonly test: boolean } | null): Promise<object | null> {
    const { sessionId: id, accountId } = event;
    const found = session === null ? [] : [{ id, accountId, test: session.test } as Session];
    const reader = new EventLoader({
      database: { query: () => Promise.reject(new Error('not asked')) },
      sessions: { findMany: (_database, ids) => Promise.resolve(found.filter((each) => ids.includes(each.id))) },
      events: { dataOf: (_database, ids) => Promise.resolve(new Map(ids.map((each) => [each, '{}']))) },
      renderer: { full: () => '{}', reduced: () => '{}' },
      onError: () => undefined,
    });
    const [renderedEvent] = await reader.read([event]);
    return renderedEvent?.tenant ?? null;
  }
  const { accountId } = told;
  const mismatch = { ...told, type: 'verification.sender_mismatch' } as const;

  it.each([
    ['an event that shows the session', told],
    ['an event that does not', mismatch],
  ])('is that of the session where an earlier release did not send it: %s', async (_name, event) => {
    for (const [test, mode] of [
      [true, 'test'],
      [false, 'live'],
    ] as const) {
      expect(await tenantOf({ ...event, test: null }, { test })).toEqual({ accountId, mode });
    }
  });

  it('is that of the session whatever the message says', async () => {
    expect(await tenantOf({ ...told, test: false }, { test: true })).toEqual({ accountId, mode: 'test' });
  });

  it('is what the message says where no session is read', async () => {
    expect(await tenantOf({ ...mismatch, test: true }, null)).toEqual({ accountId, mode: 'test' });
    const ofAccount = { ...told, type: 'webhook.disabled', sessionId: null } as const;
    expect(await tenantOf({ ...ofAccount, test: false }, null)).toEqual({ accountId, mode: 'live' });
  });

  it('is not known where neither says it: no account channel carries the event', async () => {
    const ofAccount = { ...told, type: 'webhook.test', sessionId: null } as const;
    expect(await tenantOf({ ...ofAccount, test: null }, null)).toBeNull();
  });
});
