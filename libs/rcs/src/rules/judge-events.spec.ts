import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CardEvent, CardEventKind } from './card-event.js';
import { judgeCardEvents, type LockedCard } from './judge-events.js';

const NOW = 1_763_700_000_000;
const ID = '019ab000-0000-0123-4567-89abcdef0123';

const card: LockedCard = {
  id: ID,
  numberMatching: false,
  keyVersion: 1,
  agentId: 'acme_agent',
  phone: '+14155552671',
  expiresAtMs: NOW + 1,
  deliveredAt: null,
  readAt: null,
  tappedAt: null,
  finalChannel: null,
  nowMs: NOW,
};

const eventOf = (kind: CardEventKind, changes: Partial<CardEvent> = {}): CardEvent => ({
  id: `event ${kind}`,
  kind,
  agentId: card.agentId,
  phone: card.phone,
  messageId: null,
  cardId: ID,
  choice: kind === 'tap' ? { kind: 'approve' } : null,
  launchState: null,
  occurredAt: new Date(NOW - 100),
  ...changes,
});

const judge = (
  changes: Partial<LockedCard>,
  ...events: readonly CardEvent[]
): ReturnType<typeof judgeCardEvents> & { readonly first: string | undefined } => {
  const judged = judgeCardEvents({ ...card, ...changes }, events, () => 'approve');
  return { ...judged, first: [...judged.outcomes.values()][0] };
};

const earlier = new Date(NOW - 5_000);

describe('an event of a card', () => {
  it.each([
    ['delivered', {}, 'delivered', 'rcs'],
    ['read', {}, 'read', 'rcs'],
    ['tap', {}, 'tapped', 'rcs'],
    ['expired', {}, 'taken_back', 'sms_fallback'],
    ['expire_failed', {}, 'inconclusive', 'sms_fallback'],
    ['typing', {}, 'ignored', null],
    ['text', {}, 'ignored', null],
    ['other', {}, 'ignored', null],
    ['delivered', { finalChannel: 'sms_fallback' }, 'delivered', null],
    ['delivered', { finalChannel: 'rcs', deliveredAt: earlier }, 'repeated', null],
    ['read', { finalChannel: 'rcs', deliveredAt: earlier }, 'read', null],
    ['read', { finalChannel: 'rcs', deliveredAt: earlier, readAt: earlier }, 'repeated', null],
    ['tap', { finalChannel: 'sms_fallback' }, 'tapped', null],
    ['tap', { finalChannel: 'rcs', deliveredAt: earlier, tappedAt: earlier }, 'repeated', null],
    ['expired', { finalChannel: 'rcs', deliveredAt: earlier }, 'repeated', null],
    ['delivered', { expiresAtMs: NOW }, 'delivered', 'sms_fallback'],
  ] as const)('%s of a card %j: %s, settles as %s', (kind, changes, outcome, settles) => {
    const { first, change } = judge(changes, eventOf(kind));
    expect(first).toBe(outcome);
    expect(change?.settles ?? null).toBe(settles);
  });

  it.each([
    [{ agentId: 'another_agent' }, 'other_agent'],
    [{ phone: '+442071838750' }, 'other_phone'],
    [{ phone: null }, 'other_phone'],
    [{ choice: null }, 'not_offered'],
  ])('a tap with %j is %s and changes nothing', (changes, outcome) => {
    expect(judge({}, eventOf('tap', changes))).toMatchObject({
      first: outcome,
      change: null,
      tap: null,
      arrived: false,
    });
  });

  it('sets the delivery time by the first proof of arrival', () => {
    const delivered = eventOf('delivered');
    const read = eventOf('read', { occurredAt: new Date(NOW - 50) });
    const { change } = judge({}, read, delivered);
    expect(change).toMatchObject({ deliveredAt: read.occurredAt, readAt: read.occurredAt });
    expect(judge({ deliveredAt: earlier }, read).change).toMatchObject({ deliveredAt: earlier });
  });

  it('counts only the first of two taps', () => {
    const taps = [eventOf('tap', { id: 'one' }), eventOf('tap', { id: 'other' })];
    const { outcomes, tap } = judge({}, ...taps);
    expect([...outcomes]).toEqual([
      ['one', 'tapped'],
      ['other', 'repeated'],
    ]);
    expect(tap?.eventId).toBe('one');
  });
});

describe('events in any order, with repeats', () => {
  const kinds: readonly CardEventKind[] = ['delivered', 'read', 'tap', 'expired', 'expire_failed', 'typing'];
  const sequences = fc
    .array(fc.constantFrom(...kinds), { maxLength: 12 })
    .map((sequence) => sequence.map((kind, at) => eventOf(kind, { id: `event ${at}` })));

  it('settle a card once, count one tap, and leave no revoke for a delivered card', () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const { change, arrived, tap, outcomes } = judge({}, ...events);
        expect(outcomes.size).toBe(events.length);
        const proofs = events.filter(({ kind }) => kind === 'delivered' || kind === 'read' || kind === 'tap');
        expect(arrived).toBe(proofs.length > 0);
        expect(tap !== null).toBe(events.some(({ kind }) => kind === 'tap'));
        if (arrived) expect(change?.endsRevoke).toBe(true);
        const [decisive] = events.filter(({ kind }) => kind !== 'typing');
        expect(change?.settles ?? null).toBe(settledBy(decisive?.kind));
      }),
    );
  });

  it('that were all applied before change nothing', () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const applied = { deliveredAt: earlier, readAt: earlier, tappedAt: earlier, finalChannel: 'rcs' } as const;
        expect(judge(applied, ...events)).toMatchObject({ change: null, arrived: false, tap: null });
      }),
    );
  });
});

const settledBy = (kind: CardEventKind | undefined): string | null => {
  if (kind === undefined) return null;
  return kind === 'expired' || kind === 'expire_failed' ? 'sms_fallback' : 'rcs';
};
