import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { CarrierStore } from '@countersign/carriers/config';
import { DestinationStore } from '@countersign/carriers/destinations';
import { OutboundLookup, OutboundStore } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import type { CreateSession } from '@countersign/session';
import { expect } from 'vitest';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { CodeNotifier } from '../../apps/control-plane/src/otp/code.notifier.js';
import { CodeOutbox } from '../../apps/control-plane/src/otp/code.outbox.js';
import { GuardStore } from '../../apps/control-plane/src/guard/guard.store.js';
import { SendCodeService } from '../../apps/control-plane/src/otp/send-code.service.js';
import { SendGuard } from '../../apps/control-plane/src/guard/send-guard.js';
import { openSessionHarness, type SessionHarness } from './session-harness.js';
import { liveTenant } from './tenants.js';

const LIMITS = { phonePerHour: 5, phonePerDay: 10, breakerSends: 50, breakerPercent: 20, breakerBlockSeconds: 3_600 };
/** Sends at once: few enough that a busy machine too answers each within its deadline. */
const CONCURRENT_SENDS = 100;
const COUNTED = ['otp_counters', 'otp_sends', 'otp_approvals', 'otp_phones', 'otp_refusals', 'otp_spend'];

/** The guard on a real database, with a route for codes. No gateway runs, so codes stay queued. */
export class GuardHarness {
  /** Ids of messages of which the gateways were notified. */
  notifiedIds: Uuid[] = [];
  private readonly errors: unknown[] = [];

  private constructor(
    readonly harness: SessionHarness,
    readonly destinations: DestinationStore,
  ) {}

  static async open(): Promise<GuardHarness> {
    const harness = await openSessionHarness({ poolMax: 12, pastDays: 1 });
    const newId = (): Uuid => harness.clock.newId();
    const carriers = new CarrierStore({ keys: harness.keys, newId });
    const hosts = [{ host: '127.0.0.1', port: 1 }];
    const draft = { name: 'out', carrier: 'out', hosts, systemId: 'out', password: 'secret' };
    const bind = await carriers.createBind(harness.database, draft);
    await carriers.createRoute(harness.database, { prefix: '+', bindId: bind.id });
    return new GuardHarness(harness, new DestinationStore(harness.clock));
  }

  async close(): Promise<void> {
    await this.harness.close();
    expect(this.errors).toEqual([]);
  }

  /** Deletes sends, counts, rules and prices, and resets the limits of accounts. */
  async reset(): Promise<void> {
    this.notifiedIds = [];
    const { database } = this.harness;
    for (const table of ['outbound_messages', ...COUNTED, 'destination_rules', 'prices']) {
      await database.query(`DELETE FROM ${table}`);
    }
    await database.query(
      `UPDATE accounts SET otp_countries = '{*}', otp_daily_spend_cap_usd = NULL, otp_daily_message_cap = 1000,
         otp_unconverted_floor = 50`,
    );
    await database.query(`UPDATE events SET dispatched_at = clock_timestamp() WHERE dispatched_at IS NULL`);
  }

  /** A guard whose sends have the times that the test chooses. */
  guard(): SendGuard {
    const { database, keys } = this.harness;
    const store = new GuardStore(this.destinations, keys);
    const fail = (error: unknown): void => void this.errors.push(error);
    return new SendGuard(
      store,
      this.destinations,
      database,
      { otpLimits: LIMITS },
      { onRefused: () => undefined, onError: fail },
    );
  }

  /** A service that sends codes. Two services share nothing but the database, as in two processes. */
  sender(): SendCodeService {
    const { database, clock, keys, sessions } = this.harness;
    const guard = this.guard();
    const outbox = new CodeOutbox(clock, keys, new OutboundStore(), new OutboundLookup());
    const notifier = new CodeNotifier(
      { notify: (ids) => void this.notifiedIds.push(...ids) },
      { submitQueuedCodes: () => undefined },
      { publish: () => undefined },
      clock,
    );
    return new SendCodeService(database, sessions, guard, outbox, notifier);
  }

  openSession(changes: Partial<CreateSession> = {}): Promise<{ id: Uuid; accountId: Uuid }> {
    return this.harness.sessions.create(this.harness.draft(changes));
  }

  /** Opens a session for every phone and sends a code by the services in turn. Returns `sent` or the error code of each. */
  async sendAll(
    services: readonly SendCodeService[],
    phones: readonly string[],
    changes: Partial<CreateSession> = {},
  ): Promise<string[]> {
    const outcomes: string[] = [];
    for (let sent = 0; sent < phones.length; sent += CONCURRENT_SENDS) {
      const concurrent = phones.slice(sent, sent + CONCURRENT_SENDS).map(async (phone, at) => {
        const { id, accountId } = await this.openSession({ phone, ...changes });
        const service = services[at % services.length] ?? this.sender();
        const outcome = await service.sendCode(callerOf(accountId), renderId('sess', id));
        return outcome.ok ? 'sent' : outcome.refusal.code;
      });
      outcomes.push(...(await Promise.all(concurrent)));
    }
    return outcomes;
  }

  /** Approves sessions by their SMS, and counts the approvals as the event dispatcher does. */
  async approve(ids: readonly Uuid[]): Promise<void> {
    const { database, sessions } = this.harness;
    const phones = new Map((await sessions.findMany(database, ids)).map(({ id, phone }) => [id, phone]));
    const evidence = ids.map((id, ref) => {
      return { ref, tokens: [this.harness.tokenOf(id)], senders: [phones.get(id) ?? ''], trusted: true };
    });
    await database.transaction((tx) => sessions.matchInbound(tx, 'live', evidence));
    await this.countApprovals();
  }

  async countApprovals(): Promise<void> {
    const events = new EventStore();
    await this.harness.database.transaction(async (tx) => {
      await new ApprovalStore(this.harness.keys).count(tx, await events.markUndispatched(tx, 1_000));
    });
  }

  /** Opens sessions of these phones and approves them without a code. */
  async approvePhones(phones: readonly string[]): Promise<void> {
    const sessions = await Promise.all(phones.map((phone) => this.openSession({ phone })));
    await this.approve(sessions.map(({ id }) => id));
  }

  /** Raises the floor of all accounts. */
  async raiseFloor(floor: number): Promise<void> {
    await this.harness.database.query('UPDATE accounts SET otp_unconverted_floor = $1', [floor]);
  }

  async createOtherAccount(): Promise<Uuid> {
    const { account } = await this.harness.accounts.createAccount(this.harness.database, { name: 'Other' });
    await this.harness.database.query(`UPDATE accounts SET otp_countries = '{*}'`);
    return account.id;
  }

  async messageCount(): Promise<number> {
    const [row] = await this.harness.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM outbound_messages',
    );
    return row?.count ?? 0;
  }

  /** The number of recorded refusals by rule. */
  async refusalsByRule(): Promise<Record<string, number>> {
    const { data } = await this.destinations.listRefusals(this.harness.database, { limit: 1_000 });
    const sums = new Map<string, number>();
    for (const { rule, refused } of data) sums.set(rule, (sums.get(rule) ?? 0) + refused);
    return Object.fromEntries(sums);
  }
}

export const callerOf = (accountId: Uuid): ApiKeyPrincipal => ({
  keyId: accountId,
  kind: 'live',
  tenant: liveTenant(accountId),
  scopes: ['otp'],
  limits: {},
});

/** A number of a block of 10,000 numbers, `+1415555` by default. */
export const numberOf = (at: number, block = '+1415555'): string => `${block}${String(at).padStart(4, '0')}`;

export const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

export const sentOf = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'sent').length;
