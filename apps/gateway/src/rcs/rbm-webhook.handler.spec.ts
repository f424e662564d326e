import { createHmac } from 'node:crypto';
import type { NewCardEvent } from '@countersign/rcs/rules';
import { BatcherFull, DatabaseUnavailable, DataError } from '@countersign/postgres';
import { describe, expect, it } from 'vitest';
import { RbmWebhookHandler, type WebhookFate } from './rbm-webhook.handler.js';

const TOKEN = 'SAMPLE-CLIENT-TOKEN';
const ID = '01890000-0000-7000-8000-000000000001';
const record: NewCardEvent = {
  id: ID,
  kind: 'read',
  agentId: 'a',
  phone: null,
  messageId: null,
  cardId: null,
  choice: null,
  occurredAt: new Date(0),
};

function opened(store: () => Promise<boolean> = () => Promise.resolve(true), clientToken: string | null = TOKEN) {
  const [stored, fates, errors]: [string[], WebhookFate[], unknown[]] = [[], [], []];
  const handler = new RbmWebhookHandler({
    clientToken,
    recordOf: () => record,
    store,
    onStored: (ids) => void stored.push(...ids),
    onFate: (fate) => void fates.push(fate),
    onError: (error) => void errors.push(error),
  });
  const push = (text: string): ReturnType<RbmWebhookHandler['take']> => {
    const data = Buffer.from(text);
    const signature = createHmac('sha512', TOKEN).update(data).digest('base64');
    return handler.take(Buffer.from(JSON.stringify({ message: { data: data.toString('base64') } })), signature);
  };
  return { handler, push, stored, fates, errors };
}

const EVENT = '{"agentId":"a","eventType":"READ"}';

describe('what is pushed and signed', () => {
  it('is taken once it is stored, and acted on then', async () => {
    const { push, stored, fates } = opened();
    expect(await push(EVENT)).toEqual({ kind: 'taken' });
    expect([stored, fates]).toEqual([[ID], ['stored']]);
  });

  it('is taken and not acted on when it was there before, or is done with', async () => {
    const { push, stored } = opened(() => Promise.resolve(false));
    expect(await push(EVENT)).toEqual({ kind: 'taken' });
    expect(stored).toEqual([]);
  });

  it('is taken and forgotten when it cannot be understood, or never be stored', async () => {
    const { push, fates } = opened(() => Promise.reject(new DataError('22P05', '22P05', null)));
    expect(await push('nothing of ours')).toEqual({ kind: 'taken' });
    expect(await push(EVENT)).toEqual({ kind: 'taken' });
    expect(fates).toEqual(['unreadable', 'unreadable']);
  });

  it.each([
    ['the database is away', new DatabaseUnavailable('gone'), 'SERVICE_UNAVAILABLE'],
    ['too much waits', new BatcherFull('full'), 'SERVICE_UNAVAILABLE'],
    ['something breaks', new Error('boom'), 'INTERNAL_ERROR'],
  ])('is asked for again when %s', async (_, error, code) => {
    const { push, stored, fates, errors } = opened(() => Promise.reject(error));
    expect(await push(EVENT)).toEqual({ kind: 'refused', code });
    expect([stored, fates, errors]).toEqual([[], ['sent_back'], [error]]);
  });
});

describe('a gateway without a client token', () => {
  it('takes nothing, and has everything sent again', async () => {
    const { push, handler, fates } = opened(undefined, null);
    const refused = { kind: 'refused', code: 'SERVICE_UNAVAILABLE' };
    expect(await push(EVENT)).toEqual(refused);
    expect(await handler.take(Buffer.from('{"clientToken":"","secret":"1"}'), undefined)).toEqual(refused);
    expect(fates).toEqual(['not_set_up', 'not_set_up']);
  });
});
