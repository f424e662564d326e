import { afterAll, beforeAll, expect, it } from 'vitest';
import { idOf } from '../support/admin-calls.js';
import { openStolenGateway, type StolenGateway } from '../support/stolen-gateway.js';
import { until } from '../support/until.js';

const PHONES = ['+12125550123', '+12135550123', '+13055550123'];
const WITHIN_MS = 30_000;

const ENDED = `state IN ('submitted', 'failed', 'delivered', 'undelivered')`;

/** Puts codes with this condition back into the queue, as if they had never been sent. */
const requeue = (condition: string): string => `
  UPDATE outbound_messages SET state = 'queued', text_sealed = kept.text, next_attempt_at = now(), attempts = 0, unknown_fates = 0,
    refused_routes = '{}', busy_routes = '{}', claimed_by = NULL, claimed_until = NULL
  FROM unnest($1::uuid[], $2::bytea[]) AS kept (kept_id, text)
  WHERE id = kept_id AND ${condition} AND network_error IS DISTINCT FROM 'SENT_BEFORE'`;

let stage: StolenGateway;

beforeAll(async () => {
  stage = await openStolenGateway({ environment: { REDIS_URL: '' } });
});
afterAll(() => stage.close());

/** Queues a code for each phone; returns their texts by id, saved before they are sent. */
async function queuedCodes(phones: readonly string[]): Promise<Map<string, Buffer>> {
  const { harness, admin, stolen } = stage;
  const texts = new Map<string, Buffer>();
  await admin.post('queues/outbound/pause');
  for (const phone of phones) {
    const session = await harness.create({ phone, channel: 'sms_fallback', ttl: 300 });
    expect((await harness.call(`/v1/verify/${idOf(session)}/send-sms`, { method: 'POST' })).status).toBe(200);
  }
  await until('the texts are saved', WITHIN_MS, async () => {
    const rows = await stolen.query<{ id: string; text: Buffer }>(
      `SELECT id, text_sealed AS text FROM outbound_messages WHERE text_sealed IS NOT NULL AND state = 'queued'`,
    );
    for (const { id, text } of rows) texts.set(id, text);
    return texts.size === phones.length;
  });
  await admin.post('queues/outbound/resume');
  return texts;
}

/** Requeues the codes again and again, until the gateway has refused to send each of them. */
async function requeueUntilRefused(statement: string, texts: ReadonlyMap<string, Buffer>): Promise<void> {
  const { stolen } = stage;
  await until('the gateway refuses to send each of them again', WITHIN_MS, async () => {
    await stolen.query(statement, [[...texts.keys()], [...texts.values()]]);
    const refused = await stolen.query(
      `SELECT FROM outbound_messages WHERE network_error = 'SENT_BEFORE' AND id = ANY ($1::uuid[])`,
      [[...texts.keys()]],
    );
    return refused.length === texts.size;
  });
}

it('A37 a code that the role of gateways puts back into the queue is sent twice at most by a gateway', async () => {
  const { carrier } = stage;
  const texts = await queuedCodes(PHONES);
  await until('the codes are sent', WITHIN_MS, () => carrier.submits.length === PHONES.length);
  await requeueUntilRefused(requeue(ENDED), texts);
  expect(carrier.submits).toHaveLength(2 * PHONES.length);
});

it('A37 nor is one that it puts back while the carrier has not answered yet', async () => {
  const { carrier } = stage;
  carrier.submits.splice(0);
  carrier.respond = () => 'mute';
  const texts = await queuedCodes(['+12125550199']);
  await until('the code is sent', WITHIN_MS, () => carrier.submits.length === 1);
  await requeueUntilRefused(requeue(`state <> 'queued'`), texts);
  expect(carrier.submits).toHaveLength(2);
});
