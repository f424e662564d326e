import { renderId } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { Carrier, receiptOf } from '../support/carrier.js';
import { INBOUND_NUMBER } from '../support/gateway-harness.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { liveTenant } from '../support/tenants.js';

const OK = 0;
const THROTTLED = { command_status: 0x58 };
const QUEUE_FULL = { command_status: 0x14 };
const WRONG_DESTINATION = { command_status: 0x0b };
const PHONE_ABROAD = '+447400123456';

/** Tried in this order: south for its own numbers, then north, then west. */
const north = new Carrier('north');
const west = new Carrier('west');
const south = new Carrier('south');
const all = [north, west, south];
let harness: OutboundHarness;

beforeAll(async () => {
  harness = await OutboundHarness.open([
    { carrier: north, bind: { sendWindow: 5 } },
    { carrier: west, route: { priority: 1 } },
    { carrier: south, route: { prefix: '+44', sourceAddress: 'ACME' }, bind: { defaultAlphabet: 'latin1' } },
  ]);
}, 40_000);
afterAll(async () => {
  await harness.close();
  await Promise.all(all.map((carrier) => carrier.close()));
});
beforeEach(() => until('all are bound', 20_000, () => all.every(({ isBound }) => isBound)), 25_000);
afterEach(() => {
  for (const carrier of all) {
    carrier.script.length = 0;
    carrier.submits.length = 0;
  }
});

const create = (changes = {}) => harness.gateway.create({ ttlSeconds: 300, ...changes });
const idGivenTo = async (id: string): Promise<string> => (await harness.code(id)).smscMessageId ?? '';

describe('a code', () => {
  it('is submitted with its PDU fields, and its text is erased', async () => {
    const session = await create();
    const id = await harness.queueCode(session);
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({
      attempts: 1,
      carrier: 'north',
      source: INBOUND_NUMBER,
      smscMessageId: expect.stringMatching(/^north-\d+$/) as string,
      costUsd: '0.000000',
      networkError: null,
      hasText: false,
    });
    const [pdu] = north.submits;
    expect(pdu).toMatchObject({
      source_addr: INBOUND_NUMBER.slice(1),
      source_addr_ton: 1,
      source_addr_npi: 1,
      destination_addr: PHONE.slice(1),
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      registered_delivery: 1,
      data_coding: 0,
      short_message: { message: CODE_TEXT },
    });
    expect(pdu?.['validity_period']).toBeInstanceOf(Date);
    expect(await harness.deliveryEvents(id)).toEqual([
      { sessionId: renderId('sess', session.id), messageId: renderId('msg', id), state: 'submitted' },
    ]);
  });

  it.each([
    ['DELIVRD', '000', 'delivered', null],
    ['UNDELIV', '027', 'undelivered', '027'],
    ['REJECTD', '000', 'undelivered', 'REJECTD'],
  ])('whose receipt says %s err:%s is %s', async (stat, err, state, networkError) => {
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    expect(await north.sendReceipt(await idGivenTo(id), stat, err)).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state, networkError });
    const reason = networkError === null ? {} : { networkError };
    expect(await harness.deliveryEvents(id)).toMatchObject([{ state: 'submitted' }, { state, ...reason }]);
  });

  it('uses the route with the longest prefix, and its source address', async () => {
    const id = await harness.queueCode(await create({ phone: PHONE_ABROAD }), { text: 'é is é' });
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'south', source: 'ACME' });
    expect(south.submits[0]).toMatchObject({ source_addr: 'ACME', source_addr_ton: 5, source_addr_npi: 0 });
  });

  it('has the price of its country at the time of the submit', async () => {
    await harness.sql(
      `INSERT INTO prices (id, channel, country, usd, from_at) VALUES
       (gen_random_uuid(), 'sms_otp', '*', 0.05, now() - interval '1 day'),
       (gen_random_uuid(), 'sms_otp', 'US', 0.01, now() - interval '2 days'),
       (gen_random_uuid(), 'sms_otp', 'US', 0.0079, now() - interval '1 day'),
       (gen_random_uuid(), 'sms_otp', 'US', 9, now() + interval '1 day')`,
    );
    expect(await harness.waitForState(await harness.queueCode(await create()), 'submitted')).toMatchObject({
      costUsd: '0.007900',
    });
    await harness.sql('DELETE FROM prices');
  });

  it('of a test key is never submitted', async () => {
    const id = await harness.queueCode(await create({ test: true }), { test: true });
    await harness.waitForState(await harness.queueCode(await create()), 'submitted');
    expect(await harness.code(id)).toMatchObject({ state: 'queued', attempts: 0 });
    expect(north.submits).toHaveLength(1);
  });

  it('of an ended session fails without a submit', async () => {
    const session = await create();
    await harness.gateway.harness.sessions.cancel(liveTenant(session.accountId), session.id);
    const id = await harness.queueCode(session);
    expect(await harness.waitForState(id, 'failed')).toMatchObject({
      networkError: 'SESSION_OVER',
      attempts: 0,
      hasText: false,
    });
    expect(await harness.deliveryEvents(id)).toMatchObject([{ state: 'failed', networkError: 'SESSION_OVER' }]);
  });

  it('that has expired fails without a submit', async () => {
    const id = await harness.queueCode(await create(), { validMs: 10 });
    expect(await harness.waitForState(id, 'failed')).toMatchObject({
      networkError: 'EXPIRED',
      attempts: 0,
      hasText: false,
    });
    expect(all.flatMap(({ submits }) => submits)).toEqual([]);
  });

  it('is submitted once, also among a hundred', async () => {
    const session = await create();
    const ids = await Promise.all(Array.from({ length: 100 }, () => harness.queueCode(session)));
    for (const id of ids) await harness.waitForState(id, 'submitted');
    expect(north.submits.length + west.submits.length).toBe(100);
  }, 30_000);
});

describe('a carrier that refuses', () => {
  it.each([
    ['throttles', THROTTLED],
    ['has a full queue', QUEUE_FULL],
  ])('because it %s passes the code to the next route', async (_, refusal) => {
    north.script.push(() => refusal);
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'west', attempts: 2 });
  });

  it('is tried again when all routes are busy', async () => {
    north.script.push(() => THROTTLED);
    west.script.push(() => THROTTLED);
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'north', attempts: 3 });
    expect(await harness.deliveryStates(id)).toEqual(['submitted']);
  });

  it('permanently is not tried again', async () => {
    north.script.push(() => WRONG_DESTINATION);
    west.script.push(() => THROTTLED);
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'west', attempts: 3 });
    expect(north.submits).toHaveLength(1);
  });

  it('permanently as the last route fails the code with its status', async () => {
    north.script.push(() => WRONG_DESTINATION);
    west.script.push(() => WRONG_DESTINATION);
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'failed')).toMatchObject({ networkError: 'ESME_RINVDSTADR', hasText: false });
    expect(await harness.deliveryEvents(id)).toMatchObject([{ state: 'failed', networkError: 'ESME_RINVDSTADR' }]);
  });
});

describe('a code of unknown fate', () => {
  const texts = (): unknown[] => all.flatMap(({ submits }) => submits).map(({ short_message: text }) => text);

  it('is sent once more with the same text when there is no response', async () => {
    north.script.push(() => 'mute');
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({
      carrier: 'west',
      attempts: 2,
      unknownFates: 1,
    });
    expect(texts()).toEqual([{ message: CODE_TEXT }, { message: CODE_TEXT }]);
  });

  it('is sent once more when the link is lost before the response', async () => {
    north.script.push(() => {
      north.drop();
      return 'mute';
    });
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({
      carrier: 'west',
      attempts: 2,
      unknownFates: 1,
    });
  });

  it('is not sent a third time', async () => {
    north.script.push(() => 'mute');
    west.script.push(() => 'mute');
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'failed')).toMatchObject({
      networkError: 'UNKNOWN_FATE',
      attempts: 2,
      hasText: false,
    });
    expect(texts()).toHaveLength(2);
  });

  it.each([
    [0, 'submitted', 1],
    [1, 'failed', 0],
  ])('after a crash of its gateway, with %i unknown fates before, is %s', async (before, state, copies) => {
    const session = await create();
    const id = await harness.queueCode(session, { validMs: 300_000 });
    // A claimed row, as after a kill of the process before the response.
    await harness.sql(
      `UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, claimed_by = id, attempts = attempts + 1,
       claimed_until = clock_timestamp(), unknown_fates = $2 WHERE id = $1 AND state = 'queued'`,
      [id, before],
    );
    expect(await harness.waitForState(id, state)).toMatchObject({ unknownFates: before + 1 });
    expect(texts()).toHaveLength(copies);
  });
});

describe('a receipt', () => {
  it('can arrive before the response', async () => {
    const early: Promise<number>[] = [];
    north.script.push((pdu) => {
      early.push(north.sendReceipt('early-1', 'DELIVRD'));
      return { message_id: 'early-1', sequence_number: pdu.sequence_number };
    });
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'delivered');
    expect(await Promise.all(early)).toEqual([OK]);
    expect(await harness.deliveryStates(id)).toEqual(['submitted', 'delivered']);
  });

  it('can have TLVs only', async () => {
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    const tlvs = {
      receipted_message_id: await idGivenTo(id),
      message_state: 5,
      network_error_code: Buffer.from([3, 0, 27]),
    };
    expect(await north.deliver({ esm_class: 0x04, short_message: '', ...tlvs })).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'undelivered', networkError: '027' });
  });

  it('counts once: receipts after a final one are ignored', async () => {
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    const given = await idGivenTo(id);
    for (const stat of ['ENROUTE', 'DELIVRD', 'UNDELIV', 'DELIVRD'])
      expect(await north.sendReceipt(given, stat)).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'delivered', networkError: null });
    expect(await harness.deliveryStates(id)).toEqual(['submitted', 'delivered']);
  });

  it('is matched in another case and without leading zeros', async () => {
    north.script.push(() => ({ message_id: '00AbCd1' }));
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    await north.sendReceipt('abCD1', 'DELIVRD');
    expect(await harness.code(id)).toMatchObject({ state: 'delivered', smscMessageId: '00AbCd1' });
  });

  it('counts over any link of its carrier, and over no other', async () => {
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    const given = await idGivenTo(id);
    await west.sendReceipt(given, 'UNDELIV', '001');
    expect(await harness.code(id)).toMatchObject({ state: 'submitted' });
    await harness.gateway.system({ systemId: 'north-in', carrier: 'north' });
    const esme = await harness.gateway.esme('north-in');
    expect((await esme.send('deliver_sm', receiptOf(given, 'DELIVRD'))).command_status).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'delivered' });
  });

  it('gets the retryable status while PostgreSQL is unreachable', async () => {
    const id = await harness.queueCode(await create());
    await harness.waitForState(id, 'submitted');
    const given = await idGivenTo(id);
    await harness.gateway.line.cut();
    expect(await north.sendReceipt(given, 'DELIVRD')).toBe(QUEUE_FULL.command_status);
    await harness.gateway.line.mend();
    await until('the receipt is accepted', 10_000, async () => (await north.sendReceipt(given, 'DELIVRD')) === OK);
    expect(await harness.code(id)).toMatchObject({ state: 'delivered' });
  }, 20_000);
});

describe('an outage of PostgreSQL', () => {
  it('between a submit and its response does not send a code twice', async () => {
    let mended: Promise<void> | undefined;
    north.script.push(() => {
      mended = harness.gateway.line.cut().then(() => harness.gateway.line.mend());
      return {};
    });
    const id = await harness.queueCode(await create());
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ attempts: 1, unknownFates: 0 });
    await mended;
    expect(north.submits.length + west.submits.length).toBe(1);
  }, 20_000);
});

describe('without a bind', () => {
  afterEach(() => harness.sql('UPDATE binds SET enabled = true'));

  it('a code waits until its expiry, and fails with an event', async () => {
    await harness.sql('UPDATE binds SET enabled = false');
    await until('no bind is bound', 10_000, () => !all.some(({ isBound }) => isBound));
    const id = await harness.queueCode(await create(), { validMs: 4_000 });
    expect(await harness.waitForState(id, 'failed')).toMatchObject({ attempts: 0, hasText: false });
    expect((await harness.code(id)).networkError).toMatch(/^(EXPIRED|NO_ROUTE)$/);
    expect(await harness.deliveryStates(id)).toEqual(['failed']);
  }, 30_000);

  it('a code is submitted once a bind is bound again', async () => {
    await harness.sql('UPDATE binds SET enabled = false');
    await until('no bind is bound', 10_000, () => !all.some(({ isBound }) => isBound));
    const id = await harness.queueCode(await create());
    await harness.sql('UPDATE binds SET enabled = true');
    await until('the code is submitted', 20_000, async () => (await harness.code(id)).state === 'submitted');
  }, 40_000);
});

describe('jobs of queued codes', () => {
  async function areConsumed(redisUrl: string | null): Promise<void> {
    const alone = await OutboundHarness.open([], redisUrl);
    const { queueOfCodes: queue } = alone;
    await queue.add('ring', { ids: [] }, { removeOnComplete: true });
    await until('the job is consumed', 10_000, async () => (await queue.getJobCountByTypes('waiting', 'active')) === 0);
    await alone.close();
  }

  it('are consumed through PostgreSQL', () => areConsumed(null), 20_000);
  it.skipIf(inject('redisUrl') === null)('are consumed through Redis', () => areConsumed(inject('redisUrl')), 20_000);
});
