import type { Uuid } from '@countersign/ids';
import type { PduValues } from 'smpp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Carrier, receiptOf } from '../support/carrier.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const THROTTLED = { command_status: 0x58 };
/** Window of `wide` after its change. */
const WIDE_WINDOW = 12;
const SUBMIT_FAILED = { command_status: 0x45 };
/** A number routed to each carrier; codes not accepted by `swift` use `spare`. */
const PHONES = { swift: '+447400123456', slow: '+33612345678', odd: '+4915112345678', wide: '+48512345678' } as const;

const swift = new Carrier('swift');
const slow = new Carrier('slow');
const odd = new Carrier('odd');
const wide = new Carrier('wide');
const spare = new Carrier('spare');
const all = [swift, slow, odd, wide, spare];
let harness: OutboundHarness;

beforeAll(async () => {
  harness = await OutboundHarness.open([
    { carrier: swift, bind: { sendWindow: 5, submitPerSecond: 1_000 }, route: { prefix: '+44' } },
    { carrier: spare, bind: { sendWindow: 50, submitPerSecond: 1_000 }, route: { prefix: '+44', priority: 1 } },
    { carrier: wide, bind: { sendWindow: 3, responseTimeoutSeconds: 60 }, route: { prefix: '+48' } },
    { carrier: slow, bind: { submitPerSecond: 20, responseTimeoutSeconds: 5 }, route: { prefix: '+33' } },
    {
      carrier: odd,
      route: { prefix: '+49' },
      bind: { temporaryStatuses: [0x45], messageIdBase: 'hex-to-dec', defaultAlphabet: 'ascii' },
    },
  ]);
}, 40_000);
afterAll(async () => {
  await harness.close();
  await Promise.all(all.map((carrier) => carrier.close()));
});
afterEach(() => {
  for (const carrier of all) {
    carrier.script.length = 0;
    carrier.submits.length = 0;
  }
});

async function queue(carrier: keyof typeof PHONES, count: number, text?: string): Promise<Uuid[]> {
  const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONES[carrier] });
  return Promise.all(
    Array.from({ length: count }, () => harness.queueCode(session, text === undefined ? {} : { text })),
  );
}
const queueOne = async (carrier: keyof typeof PHONES, text?: string): Promise<Uuid> =>
  (await queue(carrier, 1, text))[0] ?? '';
const stateOf = async (id: Uuid): Promise<string> => (await harness.code(id)).state;
const allReach = (ids: readonly Uuid[], state: string): Promise<void> =>
  until(`all are ${state}`, 20_000, async () => (await Promise.all(ids.map(stateOf))).every((is) => is === state));
const scripted = (carrier: Carrier, count: number, response: PduValues | 'mute'): void => {
  for (let time = 0; time < count; time++) carrier.script.push(() => response);
};

describe('the submit rate of a bind', () => {
  it('is the configured rate, and not exceeded', async () => {
    const startedMs = performance.now();
    await allReach(await queue('slow', 40), 'submitted');
    // 40 codes at 20 per second, the first at once.
    expect(performance.now() - startedMs).toBeGreaterThan(1_800);
    expect(slow.submits).toHaveLength(40);
  }, 30_000);

  it('is halved after throttle responses, without repeated attempts', async () => {
    scripted(slow, 5, THROTTLED);
    const startedMs = performance.now();
    await allReach(await queue('slow', 30), 'submitted');
    // At half the rate after the first response.
    expect(performance.now() - startedMs).toBeGreaterThan(2_000);
    expect(slow.submits).toHaveLength(35);
  }, 30_000);
});

describe('the window of a bind', () => {
  const timesBound = (bind: string): number =>
    harness.gateway.log.filter((line) => line.includes(`"bind":"${bind}"`) && line.includes('"state":"bound"')).length;

  it('is never exceeded, and can be widened without a new link', async () => {
    const before = timesBound('wide');
    scripted(wide, WIDE_WINDOW, 'mute');
    const ids = await queue('wide', WIDE_WINDOW);
    await until('the window is full', 5_000, () => wide.submits.length === 3);
    await allReach(await queue('slow', 5), 'submitted');
    expect(wide.submits).toHaveLength(3);
    await harness.sql(`UPDATE binds SET send_window = $1 WHERE name = 'wide'`, [WIDE_WINDOW]);
    await until('all submits are sent', 5_000, () => wide.submits.length === WIDE_WINDOW);
    expect(timesBound('wide')).toBe(before);
    // The link is lost and the fates are unknown: each code is sent once more.
    wide.drop();
    await allReach(ids, 'submitted');
    expect(wide.submits).toHaveLength(2 * WIDE_WINDOW);
  }, 30_000);
});

describe('a carrier that does not respond', () => {
  it('gets at most its window, and does not delay other carriers', async () => {
    scripted(swift, 1_000, 'mute');
    const muted = await queue('swift', 60);
    await allReach(await queue('slow', 5), 'submitted');
    await allReach(muted, 'submitted');
    // Its submits are sent once more over the other route.
    expect(swift.submits.length).toBeGreaterThan(0);
    expect(spare.submits).toHaveLength(60);
    const copies = await Promise.all(muted.map(async (id) => (await harness.code(id)).attempts));
    expect(Math.max(...copies)).toBeLessThanOrEqual(3);
  }, 40_000);
});

describe('codes queued for a carrier that does not respond', () => {
  it('fail unsent at their expiry, and release their reservations', async () => {
    scripted(wide, 1_000, 'mute');
    const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONES.wide });
    const ids = await Promise.all(Array.from({ length: 60 }, () => harness.queueCode(session, { validMs: 4_000 })));
    const failed = async (): Promise<number> =>
      (await Promise.all(ids.map(stateOf))).filter((state) => state === 'failed').length;
    await until('all unsent codes have failed', 15_000, async () => (await failed()) === 60 - WIDE_WINDOW);
    expect(wide.submits).toHaveLength(WIDE_WINDOW);
    // Sent codes have an unknown fate after the loss of the link, and have expired.
    wide.drop();
    await until('all codes have failed', 10_000, async () => (await failed()) === 60);
    expect(wide.submits).toHaveLength(WIDE_WINDOW);
    wide.script.length = 0;
    await allReach(await queue('wide', 3), 'submitted');
  }, 40_000);
});

describe('carrier-specific settings of a bind', () => {
  it('define temporary statuses', async () => {
    scripted(odd, 1, SUBMIT_FAILED);
    const id = await queueOne('odd');
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ attempts: 2 });
    expect(odd.submits).toHaveLength(2);
  });

  it('make all other statuses final, also 0x58', async () => {
    scripted(odd, 1, THROTTLED);
    const id = await queueOne('odd');
    expect(await harness.waitForState(id, 'failed')).toMatchObject({ networkError: 'ESME_RTHROTTLED', attempts: 1 });
  });

  it('convert hexadecimal message ids of responses to the decimal ids of receipts', async () => {
    odd.script.push(() => ({ message_id: '00000A7F' }));
    const id = await queueOne('odd');
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ smscMessageId: '00000A7F' });
    expect(await odd.sendReceipt(String(0xa7f), 'DELIVRD')).toBe(OK);
    expect(await harness.code(id)).toMatchObject({ state: 'delivered' });
  });

  it('convert the message id also when the receipt arrives before the response', async () => {
    const early: Promise<number>[] = [];
    odd.script.push(() => {
      early.push(odd.sendReceipt(String(0xb00), 'DELIVRD'));
      return { message_id: 'B00' };
    });
    await harness.waitForState(await queueOne('odd'), 'delivered');
    expect(await Promise.all(early)).toEqual([OK]);
  });
});

describe('a text outside the alphabet of its carrier', () => {
  it('is sent in parts, as one message with one receipt', async () => {
    const text = `${CODE_TEXT} ${'€'.repeat(100)}`;
    const id = await queueOne('odd', text);
    await harness.waitForState(id, 'submitted');
    const parts = odd.submits.map(({ short_message: message }) => message as { udh: Buffer[]; message: string });
    expect(parts.map(({ message }) => message).join('')).toBe(text);
    expect(parts.map(({ udh }) => [...(udh[0] ?? [])].slice(3))).toEqual([1, 2, 3].map((part) => [3, part]));
    expect(odd.submits.map(({ registered_delivery: wanted }) => wanted)).toEqual([0, 0, 1]);
    const { smscMessageId } = await harness.code(id);
    await odd.sendReceipt(smscMessageId ?? '', 'DELIVRD');
    expect(await stateOf(id)).toBe('delivered');
  });

  it('fails when one part is refused', async () => {
    odd.script.push(
      () => ({}),
      () => ({ command_status: 0x0b }),
    );
    const id = await queueOne('odd', '€'.repeat(100));
    expect(await harness.waitForState(id, 'failed')).toMatchObject({ networkError: 'ESME_RINVDSTADR', attempts: 1 });
  });
});

describe('a receipt', () => {
  const fate = (name: string): Promise<number> => harness.gateway.metric(`countersign_receipts_total{fate="${name}"`);

  it('without a matching message is answered OK, parked and counted', async () => {
    const before = await fate('parked');
    expect(await swift.sendReceipt('never-given', 'DELIVRD')).toBe(OK);
    expect(await fate('parked')).toBe(before + 1);
    expect(await harness.gateway.metric('countersign_receipts_parked')).toBeGreaterThan(0);
  });

  it('without a message id is answered OK, and counted as an orphan', async () => {
    const before = await harness.gateway.metric('countersign_receipts_orphaned_total');
    expect(await swift.deliver({ esm_class: 0x04, short_message: Buffer.from('stat:DELIVRD') })).toBe(OK);
    expect(await harness.gateway.metric('countersign_receipts_orphaned_total')).toBe(before + 1);
  });

  it('that arrives twice is applied once', async () => {
    const before = await fate('late');
    const id = await queueOne('swift');
    await harness.waitForState(id, 'submitted');
    const { smscMessageId } = await harness.code(id);
    const twice = [
      swift.sendReceipt(smscMessageId ?? '', 'DELIVRD'),
      swift.sendReceipt(smscMessageId ?? '', 'DELIVRD'),
    ];
    expect(await Promise.all(twice)).toEqual([OK, OK]);
    expect(await harness.deliveryStates(id)).toEqual(['submitted', 'delivered']);
    expect(await fate('late')).toBe(before + 1);
  });

  it('that arrives twice before the response is applied once', async () => {
    const early: Promise<number>[] = [];
    swift.script.push(() => {
      early.push(swift.sendReceipt('twice-1', 'UNDELIV', '027'), swift.sendReceipt('twice-1', 'UNDELIV', '027'));
      return { message_id: 'twice-1' };
    });
    const id = await queueOne('swift');
    expect(await harness.waitForState(id, 'undelivered')).toMatchObject({ networkError: '027' });
    expect(await Promise.all(early)).toEqual([OK, OK]);
    // Both events can have the same time, so their order is not guaranteed.
    expect((await harness.deliveryStates(id)).sort()).toEqual(['submitted', 'undelivered']);
  });

  it('of an intermediate notification is not final', async () => {
    const id = await queueOne('swift');
    await harness.waitForState(id, 'submitted');
    const { smscMessageId } = await harness.code(id);
    await swift.deliver({ ...receiptOf(smscMessageId ?? '', 'DELIVRD'), esm_class: 0x20 });
    expect(await stateOf(id)).toBe('submitted');
    await swift.sendReceipt(smscMessageId ?? '', 'UNDELIV', '001');
    expect(await harness.code(id)).toMatchObject({ state: 'undelivered', networkError: '001' });
  });

  it('that arrives after days still counts', async () => {
    const id = await queueOne('swift');
    await harness.waitForState(id, 'submitted');
    await harness.sql(`UPDATE submissions SET updated_at = updated_at - interval '3 days' WHERE message_id = $1`, [id]);
    const { smscMessageId } = await harness.code(id);
    await swift.sendReceipt(smscMessageId ?? '', 'DELIVRD');
    expect(await stateOf(id)).toBe('delivered');
  });
});
