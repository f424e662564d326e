import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Esme } from '../support/esme.js';
import { GatewayHarness, sms } from '../support/gateway-harness.js';

const OK = 0;
const MESSAGE_QUEUE_FULL = 0x14;
const FLOOD = 500;

let gateway: GatewayHarness;
let esme: Esme;
beforeAll(async () => {
  gateway = await GatewayHarness.open({ MO_SENDER_PER_SECOND: '10' });
  await gateway.system({ systemId: 'north' });
  esme = await gateway.esme('north');
});
afterAll(() => gateway.close());

describe('a sender that floods a link', () => {
  it('is refused with a retryable status beyond its rate, while other senders are accepted', async () => {
    const session = await gateway.create();
    const flood = Array.from({ length: FLOOD }, () => {
      return esme.send('submit_sm', sms('hello', { source_addr: '14155559999' }));
    });
    const other = await esme.send('submit_sm', sms(gateway.textOf(session)));
    expect(other.command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    const statuses = (await Promise.all(flood)).map(({ command_status }) => command_status);
    expect(new Set(statuses)).toEqual(new Set([OK, MESSAGE_QUEUE_FULL]));
    const stored = statuses.filter((status) => status === OK).length;
    expect(stored).toBeGreaterThanOrEqual(20);
    expect((await gateway.messages()).filter(({ source }) => source === '14155559999')).toHaveLength(stored);
    expect(await gateway.metric('countersign_mo_retryable_responses_total{reason="sender_rate"')).toBe(FLOOD - stored);
  });
});
