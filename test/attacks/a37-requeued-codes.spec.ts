import { afterAll, beforeAll, expect, it } from 'vitest';
import { idOf } from '../support/admin-calls.js';
import { openStolenGateway, type StolenGateway } from '../support/stolen-gateway.js';
import { until } from '../support/until.js';

const PHONES = ['+12125550123', '+12135550123', '+13055550123'];
const WITHIN_MS = 30_000;

/** Puts codes that have ended back into the queue, as if they had never been sent. */
const REQUEUE = `
  UPDATE outbound_messages SET state = 'queued', text_sealed = kept.text, next_attempt_at = now(), attempts = 0, unknown_fates = 0,
    refused_routes = '{}', busy_routes = '{}', claimed_by = NULL, claimed_until = NULL
  FROM unnest($1::uuid[], $2::bytea[]) AS kept (kept_id, text)
  WHERE id = kept_id AND state IN ('submitted', 'failed', 'delivered', 'undelivered') AND network_error IS DISTINCT FROM 'SENT_BEFORE'`;

let stage: StolenGateway;

beforeAll(async () => {
  stage = await openStolenGateway({ environment: { REDIS_URL: '' } });
});
afterAll(() => stage.close());

it('A37 a code that the role of gateways puts back into the queue is sent twice at most by a gateway', async () => {
  const { harness, admin, carrier, stolen } = stage;
  const texts = new Map<string, Buffer>();
  const saveTexts = async (): Promise<boolean> => {
    const rows = await stolen.query<{ id: string; text: Buffer }>(
      'SELECT id, text_sealed AS text FROM outbound_messages WHERE text_sealed IS NOT NULL',
    );
    for (const { id, text } of rows) texts.set(id, text);
    return texts.size === PHONES.length;
  };
  await admin.post('queues/outbound/pause');
  for (const phone of PHONES) {
    const session = await harness.create({ phone, channel: 'sms_fallback', ttl: 300 });
    expect((await harness.call(`/v1/verify/${idOf(session)}/send-sms`, { method: 'POST' })).status).toBe(200);
  }
  await until('the texts are saved', WITHIN_MS, saveTexts);
  await admin.post('queues/outbound/resume');
  await until('the codes are sent', WITHIN_MS, () => carrier.submits.length === PHONES.length);
  await until('the gateway refuses to send each of them again', WITHIN_MS, async () => {
    await stolen.query(REQUEUE, [[...texts.keys()], [...texts.values()]]);
    const refused = await stolen.query(`SELECT FROM outbound_messages WHERE network_error = 'SENT_BEFORE'`);
    return refused.length === PHONES.length;
  });
  expect(carrier.submits).toHaveLength(2 * PHONES.length);
});
