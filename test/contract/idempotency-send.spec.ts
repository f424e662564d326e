import { randomUUID } from 'node:crypto';
import { newId, parseId } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/control-plane-harness.js';
import { OtpHarness } from '../support/otp-harness.js';

let home: OtpHarness;

beforeAll(async () => {
  home = await OtpHarness.open();
});
afterAll(() => home.close());
beforeEach(async () => {
  await home.forget();
  await home.harness.database.query('DELETE FROM idempotency_keys');
});

const send = (id: string, key: string, call: { readonly body?: unknown } = {}): Promise<Answer> =>
  home.send(id, { headers: { 'idempotency-key': key }, ...call });

const replayed = (answer: Answer): unknown => answer.headers['idempotent-replayed'];

/** Repeats the call, as callers do, while a busy machine cannot count it in time. */
async function sendUntilCounted(id: string, key: string): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await send(id, key);
    if (answer.code !== 'SERVICE_UNAVAILABLE' || tries === 20) return answer;
  }
}

describe('send-sms with an Idempotency-Key', () => {
  it('is answered again as it was, and sends one SMS', async () => {
    const id = await home.created();
    const key = randomUUID();
    const first = await send(id, key);
    const again = await send(id, key);
    expect([first.status, replayed(first)]).toEqual([200, undefined]);
    expect([again.status, again.text, replayed(again)]).toEqual([200, first.text, 'true']);
    expect(await home.messagesOf(id)).toHaveLength(1);
  });

  it('is the same call with no body, an empty one and {}', async () => {
    const id = await home.created();
    const key = randomUUID();
    const first = await send(id, key);
    for (const body of ['', '{}', ' { } ']) expect(replayed(await send(id, key, { body }))).toBe('true');
    expect([first.status, (await home.messagesOf(id)).length]).toEqual([200, 1]);
  });

  it('sent 50 times at once sends one SMS; each answer is that one or IDEMPOTENCY_IN_PROGRESS', async () => {
    const id = await home.created();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendUntilCounted(id, key)));
    expect(await home.messagesOf(id)).toHaveLength(1);
    const done = answers.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers) if (answer.status !== 200) expect(answer.code).toBe('IDEMPOTENCY_IN_PROGRESS');
  });

  it('is separate for each session', async () => {
    const [one, other] = [await home.created(), await home.created({ phone: '+447911123456' })];
    const key = randomUUID();
    expect(replayed(await send(one, key))).toBeUndefined();
    expect(replayed(await send(other, key))).toBeUndefined();
    expect(await home.messagesOf(other)).toHaveLength(1);
  });

  it('that was refused does not use up the key', async () => {
    const id = await home.created();
    const key = randomUUID();
    await home.harness.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    const refused = await send(id, key);
    expect(refused.status).toBe(403);
    await home.harness.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
    expect([(await send(id, key)).status, (await home.messagesOf(id)).length]).toEqual([200, 1]);
  });

  it('cut short between the message and its record is taken up without a second SMS', async () => {
    const id = await home.created();
    const key = randomUUID();
    const first = await send(id, key);
    const crashed = `status = NULL, body_sealed = NULL, claimed_by = '${newId(0)}', claimed_until = clock_timestamp() - interval '1 second'`;
    await home.harness.database.query(`UPDATE idempotency_keys SET ${crashed}`);
    const again = await send(id, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await home.messagesOf(id)).toHaveLength(1);
    const [row] = await home.harness.database.query<{ sends: number }>(
      'SELECT otp_sends AS sends FROM sessions WHERE id = $1',
      [parseId('sess', id)],
    );
    expect(row?.sends).toBe(1);
  });
});

describe('check', () => {
  it('takes no key: each wrong code is an attempt', async () => {
    const { id, wrong } = await home.withCode();
    const headers = { 'idempotency-key': randomUUID() };
    const remaining: unknown[] = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await home.check(id, wrong, { headers });
      expect([answer.code, replayed(answer)]).toEqual(['INVALID_CODE', undefined]);
      remaining.push((answer.json['error'] as Record<string, unknown>)['attemptsRemaining']);
    }
    expect(remaining).toEqual([4, 3]);
  });
});
