import { describe, expect, it } from 'vitest';
import { EventBroadcast, parseBroadcastEvents, type BroadcastEvent } from './event-broadcast.js';

const EVENT: BroadcastEvent = {
  id: '0190a1b2-c3d4-7000-8000-000000000001',
  type: 'verification.completed',
  sessionId: '0190a1b2-c3d4-7000-8000-000000000002',
  accountId: '0190a1b2-c3d4-7000-8000-000000000003',
  test: false,
  at: '2026-05-04T10:00:00.000Z',
};

describe('broadcast events', () => {
  it('are received as they were published, one message per set', () => {
    const sent: { topic: string; payload: unknown }[] = [];
    const broadcast = new EventBroadcast({
      publish: (topic, payload) => sent.push({ topic, payload }),
      subscribe: () => ({ ready: Promise.resolve(), close: () => undefined }),
    });
    const events = [EVENT, { ...EVENT, type: 'webhook.disabled', sessionId: null } as const];
    broadcast.publish(events);
    broadcast.publish([]);
    expect(sent).toEqual([{ topic: 'events', payload: events }]);
    expect(parseBroadcastEvents(JSON.parse(JSON.stringify(sent[0]?.payload)))).toEqual(events);
  });

  it('of an earlier release have no mode', () => {
    const { test: _, ...sent } = EVENT;
    expect(parseBroadcastEvents([sent])).toEqual([{ ...EVENT, test: null }]);
  });

  it.each([
    ['nothing', undefined],
    ['no list', EVENT],
    ['an event of an unknown type', [{ ...EVENT, type: 'verification.unheard' }]],
    ['a malformed id', [{ ...EVENT, id: 'evt_1' }]],
    ['no account', [{ ...EVENT, accountId: null }]],
    ['a malformed mode', [{ ...EVENT, test: 'false' }]],
    ['a malformed time', [{ ...EVENT, at: 'soon' }]],
    ['a missing member', [{ id: EVENT.id, type: EVENT.type }]],
  ])('are left out of a message that holds %s', (_what, value) => {
    expect(parseBroadcastEvents(value)).toEqual([]);
  });
});
