import type { NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable, DataError } from '@countersign/postgres';
import { describe, expect, it } from 'vitest';
import type { Decided, Stored } from './card-decisions.js';
import { CardEventIntake } from './card-event-intake.js';

const NEWS: Decided = {
  news: [{ id: 'card', waiter: 'process', news: 'rcs' }],
  eventIds: [],
  arrivals: [],
  taps: [],
};

const eventOf = (id: Uuid, kind: NewCardEvent['kind'] = 'delivered'): NewCardEvent => ({
  id,
  kind,
  agentId: 'acme_agent',
  phone: '+14155552671',
  messageId: kind === 'tap' ? null : 'message',
  cardId: kind === 'tap' ? 'card' : null,
  choice: null,
  occurredAt: new Date(0),
});

/** `store` is what the transaction that also acts on events comes to; the other only stores. */
function opened(store: Stored | Error = { waiting: [], decided: NEWS }) {
  const [acted, stored, decided, errors]: [Uuid[][], Uuid[][], Decided[], unknown[]] = [[], [], [], []];
  const idsOf = (events: readonly NewCardEvent[]): Uuid[] => events.map(({ id }) => id);
  const intake = new CardEventIntake({
    decisions: {
      store: (events) => {
        acted.push(idsOf(events));
        return store instanceof Error ? Promise.reject(store) : Promise.resolve(store);
      },
    },
    cards: {
      storeEvents: (events) => {
        stored.push(idsOf(events));
        return Promise.resolve(idsOf(events));
      },
    },
    maxBatch: 4,
    onDecided: (one) => void decided.push(one),
    onError: (error) => void errors.push(error),
  });
  return { intake, acted, stored, decided, errors };
}

describe('events that the platform tells', () => {
  it('are acted on where they are stored when they say that a card has arrived, those of one moment together', async () => {
    const { intake, acted, stored, decided } = opened({ waiting: ['b'], decided: NEWS });
    expect(await Promise.all([intake.take(eventOf('a')), intake.take(eventOf('b', 'tap'))])).toEqual([false, true]);
    expect([acted, stored, decided]).toEqual([[['a', 'b']], [], [NEWS]]);
  });

  it('are only stored when none of them says so', async () => {
    const { intake, acted, stored } = opened();
    expect(await intake.take(eventOf('a', 'tap'))).toBe(true);
    expect([acted, stored]).toEqual([[], [['a']]]);
  });

  it('are stored all the same when they cannot be acted on there', async () => {
    const refused = new DataError('of one of them', '23514', null);
    const slow = new DatabaseUnavailable('57014', { connectionLives: true });
    for (const failure of [refused, slow, new Error('ours')]) {
      const { intake, stored, decided, errors } = opened(failure);
      expect(await intake.take(eventOf('a'))).toBe(true);
      expect([stored, decided, errors]).toEqual([[['a']], [], [failure]]);
    }
  });

  it('are not taken while the database is away', async () => {
    const away = new DatabaseUnavailable('gone');
    const { intake, stored } = opened(away);
    await expect(intake.take(eventOf('a'))).rejects.toBe(away);
    expect(stored).toEqual([]);
  });
});
