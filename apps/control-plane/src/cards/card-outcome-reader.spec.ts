import type { CardOutcome, FinalChannel } from '@countersign/rcs/rules';
import { describe, expect, it } from 'vitest';
import { CardOutcomeReader } from './card-outcome-reader.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const OTHER = '018f0000-0000-7000-8000-000000000002';

/** A reader with waits for these cards. Every statement is pending until `answer`. */
function createReader(waitingFor: readonly string[]) {
  const rows = new Map<string, { finalChannel: FinalChannel | null }>();
  const statements: (readonly string[])[] = [];
  const delivered: CardOutcome[] = [];
  const errors: unknown[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const reader = new CardOutcomeReader({
    waits: { has: (id) => waitingFor.includes(id), deliver: (outcomes) => void delivered.push(...outcomes) },
    find: (ids) => {
      statements.push(ids);
      return new Promise((resolve, reject) => {
        answers.push((error) => {
          if (error === undefined) resolve(new Map([...rows].filter(([id]) => ids.includes(id))));
          else reject(error);
        });
      });
    },
    onError: (error) => void errors.push(error),
  });
  const answer = async (error?: Error): Promise<void> => {
    answers.shift()?.(error);
    await new Promise((resolve) => void setImmediate(resolve));
  };
  return { reader, rows, statements, delivered, errors, answer };
}

describe('a message with a final channel', () => {
  it('is delivered with the channel of the row', async () => {
    const { reader, rows, delivered, answer } = createReader([ID]);
    rows.set(ID, { finalChannel: 'sms_fallback' });
    reader.receive([{ id: ID, news: 'rcs' }]);
    expect(delivered).toEqual([]);
    await answer();
    expect(delivered).toEqual([{ id: ID, news: 'sms_fallback' }]);
  });

  it('is not delivered while the row has no channel, nor for a card without a row', async () => {
    const { reader, rows, delivered, answer } = createReader([ID, OTHER]);
    rows.set(ID, { finalChannel: null });
    reader.receive([
      { id: ID, news: 'rcs' },
      { id: OTHER, news: 'sms_fallback' },
    ]);
    await answer();
    expect(delivered).toEqual([]);
  });

  it('causes no read if no create waits for the card', () => {
    const { reader, statements } = createReader([ID]);
    reader.receive([{ id: OTHER, news: 'rcs' }]);
    expect(statements).toEqual([]);
  });

  it('is read together with messages that arrive during a read, each card once', async () => {
    const { reader, rows, statements, delivered, answer } = createReader([ID, OTHER]);
    for (const id of [ID, OTHER, ID, OTHER, ID]) reader.receive([{ id, news: 'rcs' }]);
    expect(statements).toEqual([[ID]]);
    await answer();
    expect(statements).toEqual([[ID], [OTHER, ID]]);
    rows.set(ID, { finalChannel: 'rcs' });
    await answer();
    expect(delivered).toEqual([{ id: ID, news: 'rcs' }]);
    reader.receive([{ id: OTHER, news: 'rcs' }]);
    expect(statements).toHaveLength(3);
  });

  it('reports a failed read, and the next message is read again', async () => {
    const { reader, rows, delivered, errors, answer } = createReader([ID]);
    rows.set(ID, { finalChannel: 'rcs' });
    const away = new Error('away');
    reader.receive([{ id: ID, news: 'rcs' }]);
    await answer(away);
    expect([errors, delivered]).toEqual([[away], []]);
    reader.receive([{ id: ID, news: 'rcs' }]);
    await answer();
    expect(delivered).toEqual([{ id: ID, news: 'rcs' }]);
  });
});

it('a message that a card was sent is delivered without a read', () => {
  const { reader, statements, delivered } = createReader([ID]);
  reader.receive([{ id: ID, news: 'sent' }]);
  expect([statements, delivered]).toEqual([[], [{ id: ID, news: 'sent' }]]);
});
