import type { CardOutcome, FinalChannel } from '@countersign/rcs/rules';
import { describe, expect, it } from 'vitest';
import { CardOutcomeReader } from './card-outcome-reader.js';

const ID = '018f0000-0000-7000-8000-000000000001';
const OTHER = '018f0000-0000-7000-8000-000000000002';

/** A reader beside creates that wait for these cards; every statement waits until `answer`. */
function reading(waitedFor: readonly string[]) {
  const rows = new Map<string, { finalChannel: FinalChannel | null }>();
  const asked: (readonly string[])[] = [];
  const told: CardOutcome[] = [];
  const errors: unknown[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const reader = new CardOutcomeReader({
    waits: { has: (id) => waitedFor.includes(id), tell: (news) => void told.push(...news) },
    find: (ids) => {
      asked.push(ids);
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
  return { reader, rows, asked, told, errors, answer };
}

describe('a message that a card is decided', () => {
  it('is passed on as the row has it', async () => {
    const { reader, rows, told, answer } = reading([ID]);
    rows.set(ID, { finalChannel: 'sms_fallback' });
    reader.hear([{ id: ID, news: 'rcs' }]);
    expect(told).toEqual([]);
    await answer();
    expect(told).toEqual([{ id: ID, news: 'sms_fallback' }]);
  });

  it('is not passed on while the row is not decided, nor for a card without a row', async () => {
    const { reader, rows, told, answer } = reading([ID, OTHER]);
    rows.set(ID, { finalChannel: null });
    reader.hear([
      { id: ID, news: 'rcs' },
      { id: OTHER, news: 'sms_fallback' },
    ]);
    await answer();
    expect(told).toEqual([]);
  });

  it('is not read where nobody waits for the card', () => {
    const { reader, asked } = reading([ID]);
    reader.hear([{ id: OTHER, news: 'rcs' }]);
    expect(asked).toEqual([]);
  });

  it('is read together with those that came while another was read, each card once', async () => {
    const { reader, rows, asked, told, answer } = reading([ID, OTHER]);
    for (const id of [ID, OTHER, ID, OTHER, ID]) reader.hear([{ id, news: 'rcs' }]);
    expect(asked).toEqual([[ID]]);
    await answer();
    expect(asked).toEqual([[ID], [OTHER, ID]]);
    rows.set(ID, { finalChannel: 'rcs' });
    await answer();
    expect(told).toEqual([{ id: ID, news: 'rcs' }]);
    reader.hear([{ id: OTHER, news: 'rcs' }]);
    expect(asked).toHaveLength(3);
  });

  it('is reported where the row cannot be read, and the next one is read', async () => {
    const { reader, rows, told, errors, answer } = reading([ID]);
    rows.set(ID, { finalChannel: 'rcs' });
    const away = new Error('away');
    reader.hear([{ id: ID, news: 'rcs' }]);
    await answer(away);
    expect([errors, told]).toEqual([[away], []]);
    reader.hear([{ id: ID, news: 'rcs' }]);
    await answer();
    expect(told).toEqual([{ id: ID, news: 'rcs' }]);
  });
});

it('a message that a card was sent is passed on unread', () => {
  const { reader, asked, told } = reading([ID]);
  reader.hear([{ id: ID, news: 'sent' }]);
  expect([asked, told]).toEqual([[], [{ id: ID, news: 'sent' }]]);
});
