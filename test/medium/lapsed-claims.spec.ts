import { GatewayStore } from '@countersign/carriers/leases';
import { MtMessageStore, OutboundStore, type DueQuery } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

let harness: SessionHarness;
let mtMessages: MtMessageStore;
let gateway: Uuid;
let message: Uuid;

beforeAll(async () => {
  harness = await openSessionHarness();
  mtMessages = new MtMessageStore(new EventStore(), harness.clock);
});
afterAll(() => harness.close());

/** A code that a running gateway has claimed, and whose claim has expired. */
beforeEach(async () => {
  await harness.database.query('DELETE FROM outbound_messages');
  [gateway, message] = [harness.clock.newId(), harness.clock.newId()];
  await new GatewayStore().recordHeartbeat(harness.database, { id: gateway, host: 'here', version: '1' }, false);
  const session = await harness.sessions.create(harness.draft({ ttlSeconds: 300 }));
  await harness.database.transaction((tx) =>
    new OutboundStore().insert(tx, {
      id: message,
      sessionId: session.id,
      accountId: session.accountId,
      test: false,
      destination: PHONE,
      country: 'US',
      sender: '60606',
      textSealed: harness.keys.seal('message-text', 'code', message),
      createdAt: new Date(harness.clock.nowMs()),
      expiresAt: session.expiresAt,
    }),
  );
  await harness.database.query(
    `UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, claimed_by = $2, attempts = 1,
       claimed_until = clock_timestamp() WHERE id = $1`,
    [message, gateway],
  );
});

async function stateAfterRequeue(by: Partial<DueQuery> = {}): Promise<string | undefined> {
  await mtMessages.requeueLapsed(harness.database, {
    limit: 100,
    expiredLimit: 25,
    everyExpired: false,
    fromId: firstIdAt(0),
    beforeId: firstIdAt(harness.clock.nowMs() + 60_000),
    claimedBy: harness.clock.newId(),
    inFlight: [],
    mayTakeBack: true,
    ...by,
  });
  const [row] = await harness.database.query<{ state: string }>('SELECT state FROM outbound_messages');
  return row?.state;
}

describe('a claim that has expired', () => {
  it('is not taken back from a gateway that runs, which may hold the outcome of an outage', async () => {
    expect(await stateAfterRequeue()).toBe('sending');
    expect(await stateAfterRequeue({ claimedBy: gateway, inFlight: [message] })).toBe('sending');
  });

  it('is taken back by its own gateway when that never heard of its commit', async () => {
    expect(await stateAfterRequeue({ claimedBy: gateway, mayTakeBack: false })).toBe('queued');
  });

  it('is taken back from a gateway that is gone, once gateways that run had time to record', async () => {
    await harness.database.query(`UPDATE gateways SET seen_at = seen_at - interval '1 minute'`);
    expect(await stateAfterRequeue({ mayTakeBack: false })).toBe('sending');
    expect(await stateAfterRequeue()).toBe('queued');
  });
});
