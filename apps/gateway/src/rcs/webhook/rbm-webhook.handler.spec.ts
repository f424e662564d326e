import { createHmac } from 'node:crypto';
import { BatcherFull, DatabaseUnavailable, DataError } from '@countersign/postgres';
import { describe, expect, it } from 'vitest';
import { PlatformEventReceiver } from './platform-event.receiver.js';
import { RbmWebhookHandler } from './rbm-webhook.handler.js';
import type { WebhookResult } from './webhook-result.js';

const TOKEN = 'SAMPLE-CLIENT-TOKEN';
function opened(store: () => Promise<boolean> = () => Promise.resolve(true), clientToken: string | null = TOKEN) {
  const [stored, results, errors]: [string[], WebhookResult[], unknown[]] = [[], [], []];
  const receiver = new PlatformEventReceiver(
    { parsePostback: () => null },
    { nowMs: () => 0 },
    { storeEvent: store },
    { enqueue: (ids) => void stored.push(...ids) },
  );
  const handler = new RbmWebhookHandler(
    { rbmClientToken: clientToken },
    receiver,
    { countWebhook: (result) => void results.push(result) },
    { error: ({ err }: { err: unknown }) => void errors.push(err) },
  );
  const push = (text: string): ReturnType<RbmWebhookHandler['handlePost']> => {
    const data = Buffer.from(text);
    const signature = createHmac('sha512', TOKEN).update(data).digest('base64');
    return handler.handlePost(Buffer.from(JSON.stringify({ message: { data: data.toString('base64') } })), signature);
  };
  return { handler, push, stored, results, errors };
}

const EVENT = '{"agentId":"a","eventType":"READ"}';

describe('a signed push', () => {
  it('is accepted once it is stored, and then processed', async () => {
    const { push, stored, results } = opened();
    expect(await push(EVENT)).toEqual({ kind: 'accepted' });
    expect([stored.length, results]).toEqual([1, ['stored']]);
  });

  it('is accepted and not processed when it is a repeat or already processed', async () => {
    const { push, stored } = opened(() => Promise.resolve(false));
    expect(await push(EVENT)).toEqual({ kind: 'accepted' });
    expect(stored).toEqual([]);
  });

  it('is accepted and dropped when it is unreadable or can never be stored', async () => {
    const { push, results } = opened(() => Promise.reject(new DataError('22P05', '22P05', null)));
    expect(await push('not an event')).toEqual({ kind: 'accepted' });
    expect(await push(EVENT)).toEqual({ kind: 'accepted' });
    expect(results).toEqual(['unreadable', 'unreadable']);
  });

  it.each([
    ['the database is unavailable', new DatabaseUnavailable('gone'), 'SERVICE_UNAVAILABLE'],
    ['the batch queue is full', new BatcherFull('full'), 'SERVICE_UNAVAILABLE'],
    ['storing throws', new Error('boom'), 'INTERNAL_ERROR'],
  ])('is refused for a repeat when %s', async (_, error, code) => {
    const { push, stored, results, errors } = opened(() => Promise.reject(error));
    expect(await push(EVENT)).toEqual({ kind: 'refused', code });
    expect([stored, results, errors]).toEqual([[], ['sent_back'], [error]]);
  });
});

describe('a gateway without a client token', () => {
  it('refuses every request as unavailable, so that it is repeated', async () => {
    const { push, handler, results } = opened(undefined, null);
    const refused = { kind: 'refused', code: 'SERVICE_UNAVAILABLE' };
    expect(await push(EVENT)).toEqual(refused);
    expect(await handler.handlePost(Buffer.from('{"clientToken":"","secret":"1"}'), undefined)).toEqual(refused);
    expect(results).toEqual(['not_set_up', 'not_set_up']);
  });
});
