import { EVENT_TYPES } from '@countersign/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventBroadcast, parseBroadcastEvent, UPDATED, type BroadcastEvent } from './event-broadcast.js';

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
    ['a time with text in it', [{ ...TOLD, at: '1 Jan 2000 (","type":"subscribed","x":"' }]],
    ['a time of another form', [{ ...TOLD, at: '2026-05-04T10:00:00Z' }]],
    ['a time that never was', [{ ...TOLD, at: '2026-02-30T10:00:00.000Z' }]],
    ['a time before a line break', [{ ...TOLD, at: `${TOLD.at}\n` }]],
    ['an id before a line break', [{ ...TOLD, id: `${TOLD.id}\n` }]],
    ['a member that is missing', [{ id: TOLD.id, type: TOLD.type }]],
  ])('are left out where they are %s', (_what, value) => {
    expect(parseBroadcastEvent(value)).toEqual([]);
  });

  it('have the members that are known, and no other', () => {
    expect(parseBroadcastEvent([{ ...TOLD, data: { status: 'approved' } }])).toEqual([TOLD]);
  });

  it('are 1,000 of a message at most', () => {
    expect(parseBroadcastEvent(Array.from({ length: 1_001 }, () => TOLD))).toHaveLength(1_000);
  });

  it('are of this form only, whatever the message is', () => {
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
      .dictionary(fc.constantFrom(...Object.keys(TOLD)), other, { maxKeys: 2 })
      .map((changes) => ({ ...TOLD, ...changes }));
    fc.assert(
      fc.property(fc.oneof(other, fc.array(fc.oneof(other, changed), { maxLength: 5 })), (message) => {
        for (const event of parseBroadcastEvent(message)) {
          expect(isEvent(event)).toBe(true);
          expect(Object.keys(event).sort()).toEqual(Object.keys(TOLD).sort());
        }
      }),
    );
  });

  it('pass through a message unchanged', () => {
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
        expect(parseBroadcastEvent(JSON.parse(JSON.stringify(events)))).toEqual(events);
      }),
    );
  });
});
