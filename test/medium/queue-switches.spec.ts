import { OutboundQueue } from '@countersign/carriers/outbound';
import { QueueSwitchStore } from '@countersign/events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { OutboundHarness } from '../support/outbound-harness.js';

const WRONG_DESTINATION = { command_status: 0x0b };
const THROTTLED = { command_status: 0x58 };

const north = new Carrier('north');
const west = new Carrier('west');
const switches = new QueueSwitchStore();
const codes = new OutboundQueue();
let harness: OutboundHarness;

beforeAll(async () => {
  harness = await OutboundHarness.open([{ carrier: north }, { carrier: west, route: { priority: 1 } }]);
}, 40_000);
afterAll(async () => {
  await harness.close();
  await Promise.all([north.close(), west.close()]);
});
afterEach(async () => {
  north.script.length = 0;
  west.script.length = 0;
  await turn(false);
});

const turn = (paused: boolean) => switches.setPaused(harness.gateway.harness.database, 'outbound', paused);
const create = () => harness.gateway.create({ ttlSeconds: 300 });

describe('codes whose queue is paused', () => {
  it('wait, but for those that nobody can use any more, and go when it is resumed', async () => {
    await turn(true);
    const waits = await harness.queueCode(await create());
    const ends = await harness.queueCode(await create(), { validMs: 100 });
    // The gateway has looked, and has passed the other one over.
    expect(await harness.waitForState(ends, 'failed')).toMatchObject({ networkError: 'EXPIRED', hasText: false });
    expect(await harness.code(waits)).toMatchObject({ state: 'queued', attempts: 0 });
    const depth = await codes.depth(harness.gateway.harness.database);
    expect(depth).toMatchObject({ waiting: 1, inFlight: 0, failed: 1 });
    expect(depth.oldestAgeSeconds).toBeGreaterThan(0);
    await turn(false);
    expect(await harness.waitForState(waits, 'submitted')).toMatchObject({ attempts: 1 });
    expect([...north.submits, ...west.submits]).toHaveLength(1);
  });
});

describe('codes that are tried again by hand', () => {
  it('go to routes that had refused them for good', async () => {
    const { database } = harness.gateway.harness;
    north.script.push(() => WRONG_DESTINATION);
    west.script.push(() => THROTTLED);
    const before = north.submits.length;
    const id = await harness.queueCode(await create());
    await expect.poll(async () => (await harness.code(id)).attempts, { timeout: 10_000 }).toBe(2);
    await turn(true);
    // Whatever is under way ends; north has refused it, and west is the only one left.
    await expect.poll(() => database.transaction((tx) => codes.retryFailed(tx, 10)), { timeout: 10_000 }).toBe(1);
    await turn(false);
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'north' });
    expect(north.submits.length).toBe(before + 2);
  });
});
