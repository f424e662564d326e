import { EVENT_TYPES } from '@countersign/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { broadcastsOf, EventBroadcast, parseBroadcastEvents, UPDATED, type BroadcastEvent } from './event-broadcast.js';

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
      publish: (topic, ...[payload]) => void sent.push({ topic, payload }),
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
    ['a time with text in it', [{ ...EVENT, at: '1 Jan 2000 (","type":"subscribed","x":"' }]],
    ['a time in another format', [{ ...EVENT, at: '2026-05-04T10:00:00Z' }]],
    ['a date that does not exist', [{ ...EVENT, at: '2026-02-30T10:00:00.000Z' }]],
    ['a time with a line break', [{ ...EVENT, at: `${EVENT.at}\n` }]],
    ['an id with a line break', [{ ...EVENT, id: `${EVENT.id}\n` }]],
    ['a missing member', [{ id: EVENT.id, type: EVENT.type }]],
  ])('are left out of a message that holds %s', (_what, value) => {
    expect(parseBroadcastEvents(value)).toEqual([]);
  });

  it('have the known members and no others', () => {
    expect(parseBroadcastEvents([{ ...EVENT, data: { status: 'approved' } }])).toEqual([EVENT]);
  });

  it('of rows leave out those that no process writes', () => {
    const { at, ...rest } = EVENT;
    const row = { ...rest, type: 'verification.completed', test: false, occurredAt: new Date(at) } as const;
    const rows = [row, { ...row, type: 'unheard' as 'webhook.test' }, { ...row, occurredAt: new Date(Infinity) }];
    expect(broadcastsOf(rows)).toEqual([EVENT]);
  });

  it('are 1,000 per message at most', () => {
    expect(parseBroadcastEvents(Array.from({ length: 1_001 }, () => EVENT))).toHaveLength(1_000);
  });

  it('always have this format, whatever the message is', () => {
    const isEvent = ({ id, type, sessionId, accountId, test, at }: BroadcastEvent): boolean =>
      [id, accountId, sessionId ?? id].every((each) => /^[\da-f-]{36}$/.test(each)) &&
      /^[a-z._]+$/.test(type) &&
      [null, true, false].includes(test) &&
      new Date(at).toISOString() === at;
    const other = fc.oneof(
      fc.json(),
      fc.anything(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    );
    const changed = fc
      .dictionary(fc.constantFrom(...Object.keys(EVENT)), other, { maxKeys: 2 })
      .map((changes) => ({ ...EVENT, ...changes }));
    fc.assert(
      fc.property(fc.oneof(other, fc.array(fc.oneof(other, changed), { maxLength: 5 })), (message) => {
        for (const event of parseBroadcastEvents(message)) {
          expect(isEvent(event)).toBe(true);
          expect(Object.keys(event).sort()).toEqual(Object.keys(EVENT).sort());
        }
      }),
    );
  });

  it('are unchanged by a message', () => {
    const uuid = fc.uuid();
    const event: fc.Arbitrary<BroadcastEvent> = fc.record({
      id: uuid,
      type: fc.constantFrom(...EVENT_TYPES, UPDATED),
      sessionId: fc.option(uuid),
      accountId: uuid,
      test: fc.boolean(),
      at: fc
        .date({ min: new Date('2020-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString()),
    });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(parseBroadcastEvents(JSON.parse(JSON.stringify(events)))).toEqual(events);
      }),
    );
  });
});
