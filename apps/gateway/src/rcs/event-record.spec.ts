import { CardAnswers } from '@countersign/rcs/rules';
import { ServerKeys } from '@countersign/keys';
import { idTimeMs, type Uuid } from '@countersign/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf } from './event-record.js';
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

describe('an event as it is stored', () => {
  it('is of the bare agent and of our message, as rows spell them', () => {
    expect(recordOf(event(), parts)).toMatchObject({
      agentId: 'acme_agent',
      messageId: '4d1f6a5e-6f0b-5b58-9a3e-0c7d5a2f9b10',
      cardId: null,
      choice: null,
    });
  });

  it('is the same row when it comes again, and another when it is another', () => {
    const [one, again, other] = [event(), event(), event({ name: 'delivered E2' })].map((each) =>
      recordOf(each, parts),
    );
    expect(one?.id).toBe(again?.id);
    expect(one?.id).not.toBe(other?.id);
  });

  it.each([
    ['says nothing', null],
    ['is long past', new Date('2001-01-01T00:00:00Z')],
    ['is far ahead', new Date('2999-01-01T00:00:00Z')],
  ])('has its place among the rows of today when its time %s', (_, occurredAt) => {
    expect(idTimeMs(recordOf(event({ occurredAt }), parts).id)).toBe(NOW);
  });

  it('is of a message only where that can be one of ours', () => {
    expect(recordOf(event({ messageId: 'MxA1b2C3d4' }), parts).messageId).toBeNull();
  });

  it('has the choice of a button that we made', () => {
    const tapped = (postback: string) => recordOf(event({ kind: 'tap', messageId: null, postback }), parts);
    expect(tapped(postbackOf(0))).toMatchObject({ cardId: CARD, choice: { kind: 'approve' } });
    expect(tapped(postbackOf(1))).toMatchObject({ cardId: CARD, choice: { kind: 'deny' } });
  });

  it('has no choice of a button that anybody else made', () => {
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
        const record = recordOf(event({ kind: 'tap', messageId: null, postback }), parts);
        expect([record.cardId, record.choice]).toEqual([null, null]);
      }),
    );
  });
});
