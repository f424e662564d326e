import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const DRAFT = { channel: 'sms_fallback', country: 'US', usd: '0.0079' };

describe('a price', () => {
  it('holds from now on unless a time is given', async () => {
    const before = harness.clock.nowMs() - 1_000;
    const answer = await admin.post('prices', DRAFT);
    expect(answer.status).toBe(201);
    const { id, from, ...rest } = answer.json;
    expect(id).toMatch(/^price_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(Date.parse(String(from))).toBeGreaterThan(before);
    expect(Date.parse(String(from))).toBeLessThanOrEqual(harness.clock.nowMs() + 1_000);
    expect(rest).toEqual(DRAFT);
    expect((await admin.get(`prices/${String(id)}`)).json).toEqual(answer.json);
  });

  it.each([
    ['rcs', '*', '0', '0.00', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['sms_otp', 'GB', '0.04', '0.04', '2026-01-01T02:00:00.5+02:00', '2026-01-01T00:00:00.500Z'],
    ['sms_fallback', 'DE', '0.000001', '0.000001', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['sms_fallback', '*', '12.500000', '12.50', '2030-01-01T00:00:00Z', '2030-01-01T00:00:00.000Z'],
  ])('of %s for %s is %s from a time on', async (channel, country, usd, shown, from, shownFrom) => {
    const answer = await admin.post('prices', { channel, country, usd, from });
    expect(answer.json).toMatchObject({ channel, country, usd: shown, from: shownFrom });
  });

  it.each<[string, unknown]>([
    ['channel', undefined],
    ['channel', 'sms'],
    ['channel', null],
    ['country', undefined],
    ['country', 'UK'],
    ['country', 'us'],
    ['country', ''],
    ['country', ['US']],
    ['usd', undefined],
    ['usd', 0.0079],
    ['usd', '-1'],
    ['usd', '1e3'],
    ['usd', '0.0000001'],
    ['usd', '100000000'],
    ['usd', ''],
    ['usd', null],
    ['from', '2026-01-01'],
    ['from', '2026-01-01T00:00:00'],
    ['from', '2026-02-30T00:00:00Z'],
    ['from', 1767225600],
    ['from', null],
    ['id', 'x'],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('prices?limit=100')).text;
    const answer = await admin.post('prices', { ...DRAFT, [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('prices?limit=100')).text).toBe(before);
  });

  it('is the only one of its channel and country from its time on', async () => {
    const from = '2027-01-01T00:00:00.000Z';
    expect((await admin.post('prices', { ...DRAFT, from })).status).toBe(201);
    const twice = await admin.post('prices', { ...DRAFT, from: '2027-01-01T01:00:00+01:00' });
    expect([twice.status, twice.code, twice.field]).toEqual([409, 'CONFLICT', 'from']);
    const moved = idOf(await admin.post('prices', { ...DRAFT, from: '2027-02-01T00:00:00Z' }));
    expect((await admin.patch(`prices/${moved}`, { from })).code).toBe('CONFLICT');
    expect((await admin.post('prices', { ...DRAFT, country: 'CA', from })).status).toBe(201);
  });

  it('can be corrected; its subject never changes', async () => {
    const answer = await admin.post('prices', { ...DRAFT, from: '2028-01-01T00:00:00Z' });
    const mended = await admin.patch(`prices/${idOf(answer)}`, { usd: '0.0078' });
    expect(mended.json).toEqual({ ...answer.json, usd: '0.0078' });
    for (const field of ['channel', 'country']) {
      const refused = await admin.patch(`prices/${idOf(answer)}`, { [field]: 'rcs' });
      expect([refused.code, refused.field]).toEqual(['VALIDATION_ERROR', field]);
    }
  });

  it('is deleted once, and the log remembers it', async () => {
    const answer = await admin.post('prices', { ...DRAFT, from: '2029-01-01T00:00:00Z' });
    const gone = await admin.delete(`prices/${idOf(answer)}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await admin.delete(`prices/${idOf(answer)}`)).code).toBe('NOT_FOUND');
    expect((await admin.get(`prices/${idOf(answer)}`)).code).toBe('NOT_FOUND');
    expect(await admin.notes(idOf(answer))).toMatchObject([
      { action: 'create', before: null, after: answer.json },
      { action: 'delete', before: answer.json, after: null, requestId: gone.headers['x-request-id'] },
    ]);
  });

  it('that is deleted can still be the cursor of a list', async () => {
    const gone = idOf(await admin.post('prices', { ...DRAFT, from: '2031-01-01T00:00:00Z' }));
    const [, next] = dataOf(await admin.get('prices?limit=2'));
    await admin.delete(`prices/${gone}`);
    expect(dataOf(await admin.get(`prices?limit=1&startingAfter=${gone}`))).toEqual([next]);
  });
});
