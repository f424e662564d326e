import { describe, expect, it } from 'vitest';
import { EventBroadcast, parseBroadcastEvent, type BroadcastEvent } from './event-broadcast.js';

const TOLD: BroadcastEvent = {
  id: '0190a1b2-c3d4-7000-8000-000000000001',
  type: 'verification.completed',
  sessionId: '0190a1b2-c3d4-7000-8000-000000000002',
  accountId: '0190a1b2-c3d4-7000-8000-000000000003',
  test: false,
  at: '2026-05-04T10:00:00.000Z',
};

describe('events that are told', () => {
  it('are heard as they were told, a set at a time', () => {
    const sent: { topic: string; payload: unknown }[] = [];
    const told = new EventBroadcast({
      publish: (topic, payload) => sent.push({ topic, payload }),
      subscribe: () => ({ ready: Promise.resolve(), close: () => undefined }),
    });
    const events = [TOLD, { ...TOLD, type: 'webhook.disabled', sessionId: null } as const];
    told.publish(events);
    told.publish([]);
    expect(sent).toEqual([{ topic: 'events', payload: events }]);
    expect(parseBroadcastEvent(JSON.parse(JSON.stringify(sent[0]?.payload)))).toEqual(events);
  });

  it('are of a mode that is not known where an earlier release sent them', () => {
    const { test: _, ...sent } = TOLD;
    expect(parseBroadcastEvent([sent])).toEqual([{ ...TOLD, test: null }]);
  });

  it.each([
    ['nothing', undefined],
    ['no list', TOLD],
    ['an event that nobody knows', [{ ...TOLD, type: 'verification.unheard' }]],
    ['an id that is none', [{ ...TOLD, id: 'evt_1' }]],
    ['no account', [{ ...TOLD, accountId: null }]],
    ['a mode that is none', [{ ...TOLD, test: 'false' }]],
    ['no time', [{ ...TOLD, at: 'soon' }]],
    ['a member that is missing', [{ id: TOLD.id, type: TOLD.type }]],
  ])('are left out where they are %s', (_what, value) => {
    expect(parseBroadcastEvent(value)).toEqual([]);
  });
});
