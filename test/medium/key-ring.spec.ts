import { AccountDirectory, AccountStore } from '@countersign/accounts/accounts';
import { AdminKeyDirectory, AdminKeyStore } from '@countersign/accounts/admin-keys';
import { KeyUse, type OutdatedDigest } from '@countersign/accounts/keys';
import { CardAnswers } from '@countersign/rcs/rules';
import { CarrierStore, systemPasswordMatches, type SmppSystem } from '@countersign/carriers/config';
import { SystemPasswordStore } from '@countersign/carriers/credentials';
import { DestinationStore } from '@countersign/carriers/destinations';
import { ConcatenationStore, type MessagePart } from '@countersign/carriers/inbound';
import { SenderFormatStore } from '@countersign/carriers/senders';
import { EventStore } from '@countersign/events';
import { createApiKey, ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { findTokens } from '@countersign/session/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  IdempotencyStore,
  type ClaimResult,
  type DigestedRequest,
} from '../../apps/control-plane/src/idempotency/idempotency.store.js';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { GuardStore } from '../../apps/control-plane/src/guard/guard.store.js';
import { TicketStore } from '../../apps/control-plane/src/realtime/ticket.store.js';
import { ENTROPY_KEYS, openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const KEYS = new Map([1, 2].map((version) => [version, Buffer.alloc(32, version)]));
const ringOf = (versions: readonly number[]): ServerKeys =>
  ServerKeys.fromRing(new Map(versions.map((version) => [version, KEYS.get(version) ?? Buffer.alloc(0)])));

/** Rings of two processes that run concurrently during a roll-out, in both directions. */
const PAIRS = [
  [[1], [1, 2]],
  [
    [1, 2],
    [2, 1],
  ],
  [[2, 1], [2]],
].flatMap(([one = [], other = []]) => [[one, other] as const, [other, one] as const]);

const ROOT_KEY = createApiKey('admin');
/** Source of phone numbers that no other test uses. */
let numbers = 2_000_000;
const freshPhone = (): string => `+1415${(numbers += 1)}`;

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 12 });
});
afterAll(() => harness.close());
beforeEach(async () => {
  for (const table of ['idempotency_keys', 'otp_counters', 'otp_phones', 'otp_approvals', 'concatenations']) {
    await harness.database.query(`DELETE FROM ${table}`);
  }
});

/** The stores of one process. */
function processOf(versions: readonly number[]) {
  const { database, clock } = harness;
  const keys = ringOf(versions);
  const renderer = new SessionRenderer(keys, { entropyKeys: ENTROPY_KEYS });
  const sessions = new SessionStore({
    database,
    clock,
    keys,
    listener: { onEvents: () => undefined },
  });
  const outdated: OutdatedDigest[] = [];
  const renewals = { requestRenewal: (each: OutdatedDigest) => void outdated.push(each) };
  return {
    keys,
    renderer,
    sessions,
    outdated,
    adminKeys: new AdminKeyDirectory(database, keys, { adminKey: ROOT_KEY }, renewals),
    senders: new SenderFormatStore(keys),
    approvals: new ApprovalStore(keys),
    directory: new AccountDirectory(database, keys, renewals),
    tickets: new TicketStore(database, keys),
    answers: new CardAnswers(keys),
    parts: new ConcatenationStore(keys),
    guard: new GuardStore(new DestinationStore(clock), keys),
    idempotency: new IdempotencyStore(database, clock, keys, { batchMaxCommands: 64 }),
  };
}
type Process = ReturnType<typeof processOf>;

/** A request as the process would digest it. */
function requestAt({ keys }: Process, key: string, body = ''): DigestedRequest {
  const digests = keys.versions.map((version) => ({
    version,
    digest: keys.digest('idempotency', `key ${key}`, version),
    fingerprint: keys.digest('idempotency', `body ${body}`, version),
  }));
  return { accountId: harness.account.id, test: false, digests };
}

const claimAt = (process: Process, key: string, body = ''): Promise<ClaimResult> =>
  process.idempotency.claim(requestAt(process, key, body));

function claimOf(result: ClaimResult) {
  if (result.kind !== 'claimed') throw new Error(`not claimed: ${result.kind}`);
  return result.claim;
}

const part = (number: number, reference: number): MessagePart => ({
  carrier: 'north',
  source: PHONE,
  destination: '14155550100',
  reference,
  referenceBits: 8,
  total: 2,
  number,
  edges: `part ${number}`,
});

describe.each(PAIRS)('processes with the rings %j and %j', (first: readonly number[], second: readonly number[]) => {
  let one: Process;
  let other: Process;
  beforeAll(() => {
    [one, other] = [processOf(first), processOf(second)];
  });

  beforeEach(() => {
    for (const { outdated } of [one, other]) outdated.length = 0;
  });

  async function fateOfSms(process: Process, text: string, phone = PHONE): Promise<string | undefined> {
    const evidence = [{ tokens: findTokens(text), senders: [phone], trusted: true }];
    const { verdicts } = await harness.database.transaction((tx) =>
      process.sessions.matchInbound(tx, 'live', evidence),
    );
    return verdicts[0]?.fate;
  }

  it('render a session with the same link, and its token approves the session', async () => {
    const created = await one.sessions.create(harness.draft());
    const found = (await other.sessions.find(liveTenant(harness.account.id), created.id)) as Session;
    expect(found).toEqual(created);
    expect(other.renderer.fallbackUri(found)).toBe(one.renderer.fallbackUri(created));
    expect(await fateOfSms(other, textOf(one, created))).toBe('matched');
  });

  it('accept codes that the other sent, and refuse wrong codes', async () => {
    const tenant = liveTenant(harness.account.id);
    const { id } = await one.sessions.create(harness.draft());
    await harness.database.transaction(async (tx) => {
      const ready = await one.sessions.prepareCode(tx, tenant, id);
      if (ready.kind !== 'ready') throw new Error(ready.kind);
      await one.sessions.addCode(tx, ready, '042137');
    });
    expect(await other.sessions.checkCode(tenant, id, '042138')).toMatchObject({ kind: 'wrong' });
    expect(await other.sessions.checkCode(tenant, id, '042137')).toMatchObject({ kind: 'approved' });
  });

  it('redeem a ticket of the other once', async () => {
    const { id: keyId } = await harness.accounts.createApiKey(harness.database, {
      accountId: harness.account.id,
      kind: 'live',
      name: 'k',
    });
    const scope = { sessionId: harness.clock.newId(), tenant: liveTenant(harness.account.id), keyId };
    const { ticket } = await one.tickets.issue(scope);
    expect(await other.tickets.redeem(ticket)).toEqual(scope);
    expect(await one.tickets.redeem(ticket)).toBeNull();
  });

  it('give an idempotency key one owner for concurrent claims in both', async () => {
    const claims = Array.from({ length: 60 }, (_, at) => claimAt(at % 2 === 0 ? one : other, 'k'));
    const results = await Promise.all(claims);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['claimed', ...Array<string>(59).fill('running')]);
  });

  it('give many keys one owner each when they claim them in opposite orders', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `key ${at}`);
    const results = await Promise.all([
      ...names.map((name) => claimAt(one, name)),
      ...names.toReversed().map((name) => claimAt(other, name)),
    ]);
    expect(results.filter(({ kind }) => kind === 'claimed')).toHaveLength(100);
  });

  it('repeat a stored answer of the other, and refuse another body', async () => {
    await one.idempotency.storeAnswer(claimOf(await claimAt(one, 'k')), { status: 200, body: 'answer' });
    for (const process of [other, one, other]) {
      expect(await claimAt(process, 'k')).toEqual({ kind: 'answered', answer: { status: 200, body: 'answer' } });
    }
    expect(await claimAt(other, 'k', 'other')).toEqual({ kind: 'reused' });
  });

  it('continue an interrupted request of the other with its resource id, and restart a refused one', async () => {
    const interrupted = claimOf(await claimAt(one, 'k'));
    await harness.database.query('UPDATE idempotency_keys SET claimed_until = clock_timestamp()');
    const resumed = claimOf(await claimAt(other, 'k'));
    expect(resumed).toMatchObject({ resourceId: interrupted.resourceId, resumed: true });
    await other.idempotency.releaseFailed(resumed);
    expect(claimOf(await claimAt(one, 'k'))).toMatchObject({ resourceId: interrupted.resourceId, resumed: true });
    const fresh = claimOf(await claimAt(one, 'fresh'));
    await one.idempotency.releaseRefused(fresh);
    expect(claimOf(await claimAt(other, 'fresh', 'other body'))).toMatchObject({ resumed: false });
  });

  it('assemble the parts of a long message in either order', async () => {
    const add = (process: Process, each: MessagePart) =>
      harness.database.transaction((tx) => process.parts.addParts(tx, [each]));
    expect([...((await add(one, part(1, 1)))[0] ?? [])]).toEqual([[1, 'part 1']]);
    expect(new Map((await add(other, part(2, 1)))[0])).toEqual(
      new Map([
        [1, 'part 1'],
        [2, 'part 2'],
      ]),
    );
    for (let reference = 2; reference < 22; reference += 1) {
      const [[left], [right]] = await Promise.all([add(one, part(1, reference)), add(other, part(2, reference))]);
      expect([left?.size, right?.size].sort()).toEqual([1, 2]);
    }
  });

  it('open values that the other sealed', () => {
    const sealed = one.keys.seal('message-text', 'text', 'id');
    expect(other.keys.open('message-text', sealed, 'id').toString()).toBe('text');
  });

  it('give a card the same buttons, and accept the same taps', async () => {
    const { id, keyVersion } = await one.sessions.create(harness.draft());
    const card = { id, keyVersion, numberMatching: true };
    const suggestions = one.answers.suggestionsOf(card);
    expect(other.answers.suggestionsOf(card)).toEqual(suggestions);
    expect(other.answers.matchCodeOf(card)).toBe(one.answers.matchCodeOf(card));
    const [number] = suggestions;
    const tapped = other.answers.parsePostback(number?.postback ?? '');
    expect(tapped).toEqual(one.answers.parsePostback(number?.postback ?? ''));
    expect(tapped?.cardId).toBe(id);
  });

  it('count the codes to a phone together', async () => {
    const send = { session: { accountId: harness.account.id, phone: PHONE, country: 'US' }, now: new Date() };
    const sendAt = ({ guard }: Process): Promise<number> =>
      harness.database.transaction(async (tx) => {
        const locked = await guard.openCounters(tx, [send], await guard.readSends(tx, [send]));
        const keys = locked.keys.get(send);
        if (keys === undefined) throw new Error('no keys of the send');
        const { phone, phoneEverywhere } = locked.sendCounters.trafficWith(keys);
        const sends = [phone.hour, phone.day, phoneEverywhere.hour, phoneEverywhere.day].map((each) => each.sends);
        expect(new Set(sends)).toEqual(new Set([phone.hour.sends]));
        locked.sendCounters.addSend(keys);
        await guard.writeCounters(tx, locked, [send]);
        return phone.hour.sends;
      });
    for (const expected of [1, 2, 3]) expect(await sendAt(expected % 2 === 0 ? other : one)).toBe(expected);
    const atOnce = await Promise.all([one, other, one, other].map(sendAt));
    expect(atOnce.sort()).toEqual([4, 5, 6, 7]);
  });

  it('credit a phone once per day together, and both know the phone', async () => {
    const { database } = harness;
    const phone = freshPhone();
    const drafts = [one, other].map(({ sessions }) => sessions.create(harness.draft({ phone })));
    const [left, right] = await Promise.all(drafts);
    if (left === undefined || right === undefined) throw new Error('no sessions');
    expect(await fateOfSms(one, textOf(one, left), phone)).toBe('matched');
    expect(await fateOfSms(other, textOf(other, right), phone)).toBe('matched');
    const due = await database.transaction((tx) => new EventStore().markUndispatched(tx, 1_000));
    const approvalOf = (id: Uuid) => due.filter(({ sessionId }) => sessionId === id);
    await Promise.all([
      database.transaction((tx) => one.approvals.count(tx, approvalOf(left.id))),
      database.transaction((tx) => other.approvals.count(tx, approvalOf(right.id))),
    ]);
    const [counted] = await database.query<{ approvals: number }>(
      `SELECT sum(approvals)::int AS approvals FROM otp_approvals WHERE scope = '*'`,
    );
    expect(counted?.approvals).toBe(1);
    const send = { session: { accountId: harness.account.id, phone, country: 'US' }, now: new Date() };
    const stranger = { ...send, session: { ...send.session, phone: freshPhone() } };
    for (const { guard } of [one, other]) {
      const { destinations } = await guard.readSends(database, [send, stranger]);
      expect([destinations.get(send)?.knownPhone, destinations.get(stranger)?.knownPhone]).toEqual([true, false]);
    }
  });

  it('count a sender of a link once as evidence of its format', async () => {
    const carriers = new CarrierStore({ keys: one.keys, newId: () => harness.clock.newId() });
    const systemId = `e${first.join('')}${second.join('')}`;
    const { id: linkId } = await carriers.createSystem(harness.database, {
      systemId,
      carrier: 'n',
      password: 'secret08',
    });
    const phones = Array.from({ length: 19 }, freshPhone);
    const addSenders = ({ senders }: Process, seen: readonly string[]) => {
      const observed = seen.map((phone) => ({ digests: senders.digestsOf(linkId, phone), shows: 'national' as const }));
      return senders.addSenders(harness.database, { linkId, epoch: 0, senders: observed });
    };
    for (const process of [one, other, one]) expect(await addSenders(process, phones)).toMatchObject({ learned: null });
    expect(await addSenders(other, [freshPhone()])).toEqual({ learned: 'national', changed: true });
  });

  it('accept an admin key, report its outdated digest on use, and accept the key of the environment as root', async () => {
    const store = new AdminKeyStore({ keys: one.keys, newId: () => harness.clock.newId() });
    const name = `k${first.join('')}${second.join('')}`;
    const created = await store.create(harness.database, { name, role: 'support' });
    const before = (await other.adminKeys.liveKeys([created.id])).get(created.id);
    expect(other.keys.digests('api-key', created.key).map((each) => each.toString('hex'))).toContain(before?.digest);
    expect(await other.adminKeys.authenticate(created.key)).toMatchObject({ keyId: created.id, role: 'support' });
    expect(await other.adminKeys.authenticate(ROOT_KEY)).toMatchObject({ keyId: null, name: 'root' });
    const isOutdated = one.keys.currentVersion !== other.keys.currentVersion;
    expect(other.outdated.map(({ keyId }) => keyId)).toEqual(isOutdated ? [created.id] : []);
    const onError = (error: unknown): void => expect(error).toBeNull();
    const use = new KeyUse({ database: harness.database, onError, table: 'admin_keys' });
    for (const each of other.outdated) use.requestRenewal(each);
    await use.stop();
    for (const process of [processOf(first), processOf(second)]) {
      expect(await process.adminKeys.authenticate(created.key)).toMatchObject({ keyId: created.id });
    }
    const [row] = await harness.database.query<{ version: number }>(
      'SELECT digest_version AS version FROM admin_keys WHERE id = $1',
      [created.id],
    );
    expect(row?.version).toBe(other.keys.currentVersion);
  });

  it('accept an API key, and report its outdated digest on use', async () => {
    const accounts = { keys: one.keys, newId: () => harness.clock.newId() };
    const created = await new AccountStore(accounts).createApiKey(harness.database, {
      accountId: harness.account.id,
      kind: 'live',
      name: 'k',
    });
    expect(await other.directory.authenticate(created.key)).toMatchObject({ keyId: created.id });
    const isOutdated = one.keys.currentVersion !== other.keys.currentVersion;
    expect(other.outdated.map(({ keyId }) => keyId)).toEqual(isOutdated ? [created.id] : []);
    const use = new KeyUse({ database: harness.database, onError: (error) => expect(error).toBeNull() });
    for (const each of other.outdated) use.requestRenewal(each);
    await use.stop();
    for (const process of [processOf(first), processOf(second)]) {
      expect(await process.directory.authenticate(created.key)).toMatchObject({ keyId: created.id });
    }
    const [row] = await harness.database.query<{ version: number }>(
      'SELECT digest_version AS version FROM api_keys WHERE id = $1',
      [created.id],
    );
    expect(row?.version).toBe(other.keys.currentVersion);
  });

  it('accept the password of a system, and renew its digest on a bind', async () => {
    const carriers = new CarrierStore({ keys: one.keys, newId: () => harness.clock.newId() });
    const system = await carriers.createSystem(harness.database, {
      systemId: `s${first.join('')}${second.join('')}`,
      carrier: 'north',
      password: 'secret08',
    });
    expect(systemPasswordMatches(other.keys, system, 'secret08')).toBe(true);
    expect(systemPasswordMatches(other.keys, system, 'secret09')).toBe(false);
    await new SystemPasswordStore(harness.database, other.keys).renew(system, 'secret08');
    const [renewed] = await harness.database.query<SmppSystem & { digestVersion: number }>(
      `SELECT id, password_digest AS "passwordDigest", digest_version AS "digestVersion" FROM smpp_systems WHERE id = $1`,
      [system.id],
    );
    if (renewed === undefined) throw new Error('the system was not found');
    expect(renewed.digestVersion).toBe(other.keys.currentVersion);
    for (const { keys } of [one, other]) expect(systemPasswordMatches(keys, renewed, 'secret08')).toBe(true);
  });
});

/** The SMS text in the link of a session. */
const textOf = ({ renderer }: Process, session: Session): string =>
  decodeURIComponent((renderer.fallbackUri(session) ?? '').split('body=')[1] ?? '');

describe('a version that is no longer listed', () => {
  it('makes its evidence of senders useless, so that the evidence of a link starts from zero', async () => {
    const carriers = new CarrierStore({ keys: ringOf([1]), newId: () => harness.clock.newId() });
    const { id: linkId } = await carriers.createSystem(harness.database, {
      systemId: 'anew',
      carrier: 'n',
      password: 'secret08',
    });
    const phones = Array.from({ length: 19 }, freshPhone);
    const addSenders = ({ senders }: Process, seen: readonly string[]) => {
      const observed = seen.map((phone) => ({ digests: senders.digestsOf(linkId, phone), shows: 'national' as const }));
      return senders.addSenders(harness.database, { linkId, epoch: 0, senders: observed });
    };
    await addSenders(processOf([1]), phones);
    expect(await addSenders(processOf([2]), phones)).toMatchObject({ learned: null });
    const [row] = await harness.database.query<{ version: number; count: number }>(
      'SELECT digest_version AS version, cardinality(digests) AS count FROM sender_formats WHERE link_id = $1',
      [linkId],
    );
    expect(row).toEqual({ version: 2, count: 19 });
    expect(await addSenders(processOf([2, 1]), [freshPhone()])).toMatchObject({ learned: 'national' });
  });

  it('leaves its sessions readable, without their links', async () => {
    const { id } = await processOf([1]).sessions.create(harness.draft());
    const { sessions, renderer } = processOf([2]);
    const found = (await sessions.find(liveTenant(harness.account.id), id)) as Session;
    expect(renderer.fallbackUri(found)).toBeNull();
    expect(JSON.parse(renderer.full(found))).toMatchObject({ status: 'pending', fallbackUri: null });
  });

  it('is named in the error of a value that it sealed', () => {
    const sealed = ringOf([1]).seal('message-text', 'text', 'id');
    expect(() => ringOf([2]).open('message-text', sealed, 'id')).toThrow('version 1 of the master key');
  });
});
