import { CardAnswers } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { idTimeMs, type Uuid } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventRecordOf } from './event-record.js';
import type { PlatformEvent } from './platform-event.js';

const NOW = Date.parse('2026-01-15T10:00:00.000Z');
const CARD: Uuid = '019bc000-0000-7000-8000-000000000001';
const answers = new CardAnswers(ServerKeys.fromMaster(Buffer.alloc(32, 1)));
const parts = { answers, clock: { nowMs: () => NOW } };

const event = (changes: Partial<PlatformEvent> = {}): PlatformEvent => ({
  kind: 'delivered',
  agentId: 'acme_agent@rbm.goog',
  phone: '+12025550123',
  messageId: '4D1F6A5E-6F0B-5B58-9A3E-0C7D5A2F9B10',
  postback: null,
  launchState: null,
  occurredAt: new Date(NOW - 1_000),
  name: 'delivered E1',
  ...changes,
});

const postbackOf = (number: number): string =>
  answers.suggestionsOf({ id: CARD, numberMatching: false, keyVersion: 1 })[number]?.postback ?? '';

describe('the stored form of an event', () => {
  it('has the plain agent id and the message id in lower case', () => {
    expect(eventRecordOf(event(), parts)).toMatchObject({
      agentId: 'acme_agent',
      messageId: '4d1f6a5e-6f0b-5b58-9a3e-0c7d5a2f9b10',
      cardId: null,
      choice: null,
    });
  });

  it('has the same id for a repeated event, and another for another event', () => {
    const [one, again, other] = [event(), event(), event({ name: 'delivered E2' })].map((repeated) =>
      eventRecordOf(repeated, parts),
    );
    expect(one?.id).toBe(again?.id);
    expect(one?.id).not.toBe(other?.id);
  });

  it.each([
    ['is missing', null],
    ['is long past', new Date('2001-01-01T00:00:00Z')],
    ['is far ahead', new Date('2999-01-01T00:00:00Z')],
  ])('has an id of now when its time %s', (_, occurredAt) => {
    expect(idTimeMs(eventRecordOf(event({ occurredAt }), parts).id)).toBe(NOW);
  });

  it('has a message id only in the form of our ids', () => {
    expect(eventRecordOf(event({ messageId: 'MxA1b2C3d4' }), parts).messageId).toBeNull();
  });

  it('has the choice of our own button', () => {
    const tapped = (postback: string) => eventRecordOf(event({ kind: 'tap', messageId: null, postback }), parts);
    expect(tapped(postbackOf(0))).toMatchObject({ cardId: CARD, choice: { kind: 'approve' } });
    expect(tapped(postbackOf(1))).toMatchObject({ cardId: CARD, choice: { kind: 'deny' } });
  });

  it('has no choice for a foreign or forged postback', () => {
    const [approve, deny] = [postbackOf(0), postbackOf(1)];
    const forged = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 100 }),
      fc.constantFrom('v1.a.sess_01.9f2c', approve.slice(0, -1), `${approve} `, approve.toUpperCase()),
      // The proof of one button under another.
      fc.constant(`${approve.slice(0, -32)}${deny.slice(-32)}`),
      fc.constant(deny.replace('v1.d', 'v1.a')),
    );
    fc.assert(
      fc.property(forged, (postback) => {
        const record = eventRecordOf(event({ kind: 'tap', messageId: null, postback }), parts);
        expect([record.cardId, record.choice]).toEqual([null, null]);
      }),
    );
  });
});
