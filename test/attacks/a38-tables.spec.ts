import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

it('A38 puts no formula into a list that somebody opens as a table', async () => {
  const admin = new AdminCalls(harness);
  const names = ['=1+1', '+1+cmd|x', '-1', '@SUM(A1)', '\uff1d1+1'];
  for (const name of names) expect((await admin.post('accounts', { name })).status).toBe(201);
  const { text } = await admin.get('accounts?format=csv&limit=100');
  for (const name of names) {
    expect(text).toContain(`,'${name},`);
    expect(text).not.toContain(`,${name},`);
  }
  await harness.create();
  expect((await harness.call('/v1/verify?format=csv')).text).toContain(`,${PHONE},`);
});
