import type { NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable, DataError } from '@countersign/postgres';
import { describe, expect, it } from 'vitest';
import type { Decided, StoredEvents } from '../dispatch/card-decisions.js';
import { CardEventIntake } from './card-event-intake.js';

const DECIDED: Decided = {
  cardOutcomes: [{ id: 'card', originProcess: 'process', news: 'rcs' }],
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

/** `store` is the result of the transaction that also processes events; the event store only stores. */
function opened(store: StoredEvents | Error = { unprocessed: [], decided: DECIDED }) {
  const [processed, stored, decided, errors]: [Uuid[][], Uuid[][], Pick<Decided, 'arrivals'>[], unknown[]] = [
    [],
    [],
    [],
    [],
  ];
  const idsOf = (events: readonly NewCardEvent[]): Uuid[] => events.map(({ id }) => id);
  const intake = new CardEventIntake(
    {
      storeEvents: (events) => {
        stored.push(idsOf(events));
        return Promise.resolve(idsOf(events));
      },
    },
    {
      storeEvents: (events) => {
        processed.push(idsOf(events));
        return store instanceof Error ? Promise.reject(store) : Promise.resolve(store);
      },
    },
    { onArrivals: (result) => void decided.push(result) },
    { error: ({ err }: { err: unknown }) => void errors.push(err) },
    { batchMaxCommands: 4 },
  );
  return { intake, processed, stored, decided, errors };
}

describe('events of the platform', () => {
  it('are processed in the transaction that stores them, as one batch, when one of them reports an arrival', async () => {
    const { intake, processed, stored, decided } = opened({ unprocessed: ['b'], decided: DECIDED });
    expect(await Promise.all([intake.storeEvent(eventOf('a')), intake.storeEvent(eventOf('b', 'tap'))])).toEqual([
      false,
      true,
    ]);
    expect([processed, stored, decided]).toEqual([[['a', 'b']], [], [DECIDED]]);
  });

  it('are only stored when none of them reports an arrival', async () => {
    const { intake, processed, stored } = opened();
    expect(await intake.storeEvent(eventOf('a', 'tap'))).toBe(true);
    expect([processed, stored]).toEqual([[], [['a']]]);
  });

  it('are stored even when they cannot be processed', async () => {
    const refused = new DataError('of one event', '23514', null);
    const slow = new DatabaseUnavailable('57014', { connectionLives: true });
    for (const failure of [refused, slow, new Error('ours')]) {
      const { intake, stored, decided, errors } = opened(failure);
      expect(await intake.storeEvent(eventOf('a'))).toBe(true);
      expect([stored, decided, errors]).toEqual([[['a']], [], [failure]]);
    }
  });

  it('are rejected while the database is unavailable', async () => {
    const away = new DatabaseUnavailable('gone');
    const { intake, stored } = opened(away);
    await expect(intake.storeEvent(eventOf('a'))).rejects.toBe(away);
    expect(stored).toEqual([]);
  });
});
