import type { MessageHandler } from '@countersign/bus';
import { CarrierStore } from '@countersign/carriers/config';
import type { Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BindStatusFeed } from '../../apps/control-plane/src/realtime/bind-status.feed.js';
import { FIND_OF_SESSIONS } from '../../libs/events/src/event-store.sql.js';
import { MissedEventPoller } from '../../apps/control-plane/src/realtime/missed-event.poller.js';
import { SessionSubscriptions } from '../../apps/control-plane/src/realtime/session-subscriptions.js';
import { TicketStore } from '../../apps/control-plane/src/realtime/ticket.store.js';
import { ChannelSubscription } from '../../apps/control-plane/src/realtime/channel-subscription.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 20 });
});
afterAll(() => harness.close());

const silent = { send: (): void => undefined };

describe('a ticket', () => {
  const store = (): TicketStore => new TicketStore(harness.database, harness.keys);
  let keyId: string;
  beforeAll(async () => {
    keyId = await newKey();
  });
  const newKey = async (): Promise<string> => {
    const { id: accountId } = harness.account;
    return (await harness.accounts.createApiKey(harness.database, { accountId, kind: 'live', name: 'k' })).id;
  };
  const scope = (key = keyId) => ({
    sessionId: harness.clock.newId(),
    tenant: liveTenant(harness.account.id),
    keyId: key,
  });

  it('is redeemed once, with its scope, by any number of concurrent attempts in any number of processes', async () => {
    const stores = [store(), store(), store(), store()];
    const issued = await Promise.all(
      Array.from({ length: 20 }, () => scope()).map(async (each) => ({
        each,
        ticket: (await stores[0]?.issue(each))?.ticket ?? '',
      })),
    );
    for (const { each, ticket } of issued) {
      const redeemed = await Promise.all([...stores, ...stores].map((one) => one.redeem(ticket)));
      expect(redeemed.filter((got) => got !== null)).toEqual([each]);
    }
  });

  it('is invalid once its issuing key is revoked or its account is inactive', async () => {
    const tickets = store();
    const revoked = await newKey();
    const { ticket } = await tickets.issue(scope(revoked));
    const other = await tickets.issue(scope());
    await harness.database.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [revoked]);
    expect(await tickets.redeem(ticket)).toBeNull();
    const setActive = (active: boolean) =>
      harness.database.query('UPDATE accounts SET active = $2 WHERE id = $1', [harness.account.id, active]);
    await setActive(false);
    expect(await tickets.redeem(other.ticket)).toBeNull();
    await setActive(true);
    expect(await tickets.redeem(other.ticket)).toMatchObject({ keyId });
  });

  it('is valid for 60 seconds by the clock of the database, and deleted an hour later', async () => {
    const tickets = store();
    const before = harness.clock.nowMs();
    const { ticket, expiresAt } = await tickets.issue(scope());
    expect(expiresAt.getTime() - before).toBeGreaterThan(55_000);
    expect(expiresAt.getTime() - before).toBeLessThan(65_000);
    await harness.database.query(`UPDATE realtime_tickets SET expires_at = clock_timestamp()`);
    expect(await tickets.redeem(ticket)).toBeNull();
    expect(await tickets.purge(1_000)).toBe(0);
    await harness.database.query(`UPDATE realtime_tickets SET expires_at = expires_at - interval '61 minutes'`);
    expect(await tickets.purge(5)).toBe(5);
    expect(await tickets.purge(1_000)).toBeGreaterThan(0);
    expect(await tickets.purge(1_000)).toBe(0);
  });
});

describe('the bind status feed', () => {
  /** The database; while held, its results wait for `free`. */
  class DelayedDatabase implements Executor {
    answers = 0;
    #free: (() => void)[] | null = null;

    async query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
      const holds = this.#free;
      const rows = await harness.database.query<Row>(text, values);
      this.answers += 1;
      if (holds !== null) await new Promise<void>((resolve) => holds.push(resolve));
      return rows;
    }

    holdNext(): (() => void)[] {
      const held: (() => void)[] = [];
      this.#free = held;
      return held;
    }

    stopHolding(): void {
      this.#free = null;
    }
  }

  it('sends its first subscriber a change made while the snapshot was read', async () => {
    const binds = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const hosts = [{ host: 'a.example', port: 2775 }];
    const bind = await binds.createBind(harness.database, {
      name: 'b',
      carrier: 'c',
      hosts,
      systemId: 's',
      password: 'p',
    });
    const database = new DelayedDatabase();
    let trigger = (): void => undefined;
    const bus = {
      subscribe: (topic: string, receive: MessageHandler) => {
        trigger = () => receive({ topic, octets: Buffer.alloc(0), json: () => undefined });
        return { ready: Promise.resolve(), close: () => undefined };
      },
    };
    const errors: unknown[] = [];
    const feed = new BindStatusFeed(database, harness.clock, bus, { about: () => (error) => errors.push(error) });
    const frames: string[] = [];
    const connection = {
      send: (frame: string | Buffer) => void frames.push(String(frame)),
      addSubscription: () => false,
      undoSubscribe: () => undefined,
    };
    const held = database.holdNext();
    const subscribing = feed.subscribe(connection, 1, 'owner');
    await until('the snapshot is read', 5_000, () => held.length === 1);
    database.stopHolding();
    await binds.updateBind(harness.database, { ...bind, sendWindow: 7 });
    trigger();
    await until('the change is read', 5_000, () => database.answers > 1);
    held[0]?.();
    await subscribing;
    await until('the change is sent', 5_000, () => frames.length === 2);
    expect(frames.map((frame) => (JSON.parse(frame) as { event?: string }).event)).toEqual([undefined, 'bind.updated']);
    expect(errors).toEqual([]);
    await feed.stop();
  });
});

describe('the poller of missed events', () => {
  function openPoller(database: Executor = harness.database, nowMs = () => harness.clock.nowMs()) {
    const sessionSubscriptions = new SessionSubscriptions();
    return {
      sessionSubscriptions,
      poller: new MissedEventPoller(database, { nowMs }, harness.sessions, sessionSubscriptions),
    };
  }

  it('finds the event of a session that has ended, with its stored id', async () => {
    const session = await harness.sessions.create(harness.draft());
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, poller } = openPoller(harness.database, () => nowMs);
    sessionSubscriptions.add(session.id, new ChannelSubscription(silent, 'full'));
    sessionSubscriptions.noteRead(session, nowMs);
    const evidence = { tokens: [harness.tokenOf(session.id)], senders: [PHONE], trusted: true };
    const { eventIds } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [evidence]),
    );
    expect((await poller.pollSessions()).endings).toEqual([]);
    nowMs += 10_000;
    expect((await poller.pollSessions()).endings).toMatchObject([
      { id: eventIds[0], type: 'verification.completed', sessionId: session.id, accountId: harness.account.id },
    ]);
    sessionSubscriptions.stopPolling(session.id);
    nowMs += 60_000;
    expect((await poller.pollSessions()).endings).toEqual([]);
  });

  it('does not search for an event that was published, or whose broadcast may still arrive', async () => {
    const statements: string[] = [];
    const database: Executor = {
      query: (text, values) => {
        statements.push(text);
        return harness.database.query(text, values);
      },
    };
    const [published, unpublished] = [
      await harness.sessions.create(harness.draft()),
      await harness.sessions.create(harness.draft()),
    ];
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, poller } = openPoller(database, () => nowMs);
    for (const session of [published, unpublished]) {
      sessionSubscriptions.add(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs - 10_000);
      await harness.sessions.cancel(liveTenant(harness.account.id), session.id);
    }
    nowMs = harness.clock.nowMs();
    expect(sessionSubscriptions.dueSessions(nowMs)).toHaveLength(2);
    await poller.pollSessions();
    sessionSubscriptions.stopPolling(published.id);
    expect(statements).not.toContain(FIND_OF_SESSIONS);
    nowMs += 2_000;
    expect((await poller.pollSessions()).endings).toMatchObject([{ sessionId: unpublished.id }]);
  });

  it('reads all due sessions, in sets', async () => {
    const sessions = await Promise.all(Array.from({ length: 501 }, () => harness.sessions.create(harness.draft())));
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, poller } = openPoller(harness.database, () => nowMs);
    for (const session of sessions) {
      sessionSubscriptions.add(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs);
    }
    nowMs += 10_000;
    expect([(await poller.pollSessions()).more, (await poller.pollSessions()).more]).toEqual([true, false]);
    expect(sessionSubscriptions.dueSessions(nowMs)).toEqual([]);
  });

  it('reads only the partitions of the last minutes', async () => {
    const session = await harness.sessions.create(harness.draft());
    await harness.sessions.cancel(liveTenant(harness.account.id), session.id);
    const locked = await harness.database.transaction(async (tx) => {
      let nowMs = harness.clock.nowMs();
      const { sessionSubscriptions, poller } = openPoller(tx, () => nowMs);
      sessionSubscriptions.add(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs);
      nowMs += 10_000;
      expect((await poller.pollSessions()).endings).toHaveLength(1);
      return tx.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
         WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition`,
      );
    });
    // Around midnight the last minutes span two days.
    expect(locked.filter(({ name }) => name.startsWith('events')).length).toBeLessThanOrEqual(2);
    expect(locked.filter(({ name }) => name.startsWith('sessions')).length).toBeLessThanOrEqual(1);
  });
});
