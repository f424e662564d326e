import type { MessageHandler } from '@countersign/bus';
import { CarrierStore } from '@countersign/carriers/config';
import type { Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BindStatusFeed } from '../../apps/control-plane/src/realtime/bind-status.feed.js';
import { FIND_ENDINGS } from '../../apps/control-plane/src/realtime/endings.sql.js';
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

  it('is redeemed once, for what it was issued for, however many try at the same moment in however many processes', async () => {
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

  it('is good no more once the key that asked for it is revoked, or its account is not active', async () => {
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

  it('is good for 60 seconds by the clock of the database, and forgotten an hour later', async () => {
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

describe('the board of binds', () => {
  /** The database, whose answers wait for `free` while they are held. */
  class HeldAnswers implements Executor {
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

    holdNoMore(): void {
      this.#free = null;
    }
  }

  it('tells its first watcher of what changed while the snapshot was on its way', async () => {
    const binds = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const hosts = [{ host: 'a.example', port: 2775 }];
    const bind = await binds.createBind(harness.database, {
      name: 'b',
      carrier: 'c',
      hosts,
      systemId: 's',
      password: 'p',
    });
    const database = new HeldAnswers();
    let trigger = (): void => undefined;
    const bus = {
      subscribe: (topic: string, hear: MessageHandler) => {
        trigger = () => hear({ topic, octets: Buffer.alloc(0), json: () => undefined });
        return { ready: Promise.resolve(), close: () => undefined };
      },
    };
    const errors: unknown[] = [];
    const board = new BindStatusFeed({ database, clock: harness.clock, bus, onError: (error) => errors.push(error) });
    const said: string[] = [];
    const connection = {
      send: (frame: string | Buffer) => void said.push(String(frame)),
      watch: () => false,
      abandon: () => undefined,
    };
    const held = database.holdNext();
    const subscribing = board.subscribe(connection, 1);
    await until('the snapshot is read', 5_000, () => held.length === 1);
    database.holdNoMore();
    await binds.updateBind(harness.database, { ...bind, sendWindow: 7 });
    trigger();
    await until('the change is read', 5_000, () => database.answers > 1);
    held[0]?.();
    await subscribing;
    await until('the change is told', 5_000, () => said.length === 2);
    expect(said.map((frame) => (JSON.parse(frame) as { event?: string }).event)).toEqual([undefined, 'bind.updated']);
    expect(errors).toEqual([]);
    await board.stop();
  });
});

describe('a look at pending sessions', () => {
  function looking(database: Executor = harness.database, nowMs = () => harness.clock.nowMs()) {
    const sessionSubscriptions = new SessionSubscriptions();
    return {
      sessionSubscriptions,
      look: new MissedEventPoller({ database, clock: { nowMs }, sessions: harness.sessions, sessionSubscriptions }),
    };
  }

  it('finds the event of a session that has ended, under its own id', async () => {
    const session = await harness.sessions.create(harness.draft());
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, look } = looking(harness.database, () => nowMs);
    sessionSubscriptions.enter(session.id, new ChannelSubscription(silent, 'full'));
    sessionSubscriptions.noteRead(session, nowMs);
    const evidence = { ref: 0, tokens: [harness.tokenOf(session.id)], senders: [PHONE], trusted: true };
    const { eventIds } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [evidence]),
    );
    expect((await look.look()).endings).toEqual([]);
    nowMs += 10_000;
    expect((await look.look()).endings).toMatchObject([
      { id: eventIds[0], type: 'verification.completed', sessionId: session.id, accountId: harness.account.id },
    ]);
    sessionSubscriptions.settle(session.id);
    nowMs += 60_000;
    expect((await look.look()).endings).toEqual([]);
  });

  it('searches for no event that was told, or of which word may still be on its way', async () => {
    const statements: string[] = [];
    const database: Executor = {
      query: (text, values) => {
        statements.push(text);
        return harness.database.query(text, values);
      },
    };
    const [told, untold] = [
      await harness.sessions.create(harness.draft()),
      await harness.sessions.create(harness.draft()),
    ];
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, look } = looking(database, () => nowMs);
    for (const session of [told, untold]) {
      sessionSubscriptions.enter(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs - 10_000);
      await harness.sessions.cancel(liveTenant(harness.account.id), session.id);
    }
    nowMs = harness.clock.nowMs();
    expect(sessionSubscriptions.due(nowMs)).toHaveLength(2);
    await look.look();
    sessionSubscriptions.settle(told.id);
    expect(statements).not.toContain(FIND_ENDINGS);
    nowMs += 2_000;
    expect((await look.look()).endings).toMatchObject([{ sessionId: untold.id }]);
  });

  it('reads all that are due, in sets', async () => {
    const sessions = await Promise.all(Array.from({ length: 501 }, () => harness.sessions.create(harness.draft())));
    let nowMs = harness.clock.nowMs();
    const { sessionSubscriptions, look } = looking(harness.database, () => nowMs);
    for (const session of sessions) {
      sessionSubscriptions.enter(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs);
    }
    nowMs += 10_000;
    expect([(await look.look()).more, (await look.look()).more]).toEqual([true, false]);
    expect(sessionSubscriptions.due(nowMs)).toEqual([]);
  });

  it('touches the partitions of the last minutes alone', async () => {
    const session = await harness.sessions.create(harness.draft());
    await harness.sessions.cancel(liveTenant(harness.account.id), session.id);
    const locked = await harness.database.transaction(async (tx) => {
      let nowMs = harness.clock.nowMs();
      const { sessionSubscriptions, look } = looking(tx, () => nowMs);
      sessionSubscriptions.enter(session.id, new ChannelSubscription(silent, 'full'));
      sessionSubscriptions.noteRead(session, nowMs);
      nowMs += 10_000;
      expect((await look.look()).endings).toHaveLength(1);
      return tx.query<{ name: string }>(
        `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
         WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition`,
      );
    });
    // Around midnight the minutes are of two days.
    expect(locked.filter(({ name }) => name.startsWith('events')).length).toBeLessThanOrEqual(2);
    expect(locked.filter(({ name }) => name.startsWith('sessions')).length).toBeLessThanOrEqual(1);
  });
});
