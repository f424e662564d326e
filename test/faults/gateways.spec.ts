import { setTimeout as delay } from 'node:timers/promises';
import { CarrierStore } from '@countersign/carriers/config';
import { OutboundStore } from '@countersign/carriers/outbound';
import type { Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AppPart } from '../support/parts.js';
import { gatewayProcesses, type GatewayProcesses } from '../support/gateway-processes.js';
import { INBOUND_NUMBER, sms } from '../support/gateway-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { WitnessCarrier, type WitnessedLink } from '../support/witness-carrier.js';

/** Contract, Admin: another gateway takes a connection over when its owner crashes, and when it stops. */
const AFTER_DEATH_MS = 20_000;
const AFTER_UNBIND_MS = 3_000;
const PAUSED_MS = 20_000;
/** Messages and codes between two faults, and a pause, so that they continue through all faults. */
const STEADY = 40;
const PACE_MS = 20;
const SETTLED_WITHIN_MS = 90_000;
/** The lifetime of a session, longer than the faults. */
const TTL_SECONDS = 600;

const carrier = new WitnessCarrier();
let processes: GatewayProcesses;
let session: Session;
let first: AppPart;
let second: AppPart;

/** Messages that were answered with status 0, and codes that were queued. */
const stored: string[] = [];
const queued = new Map<Uuid, string>();
const test = { isOver: false };
const isOver = (): boolean => test.isOver;
let phones: Promise<void>[] = [];

beforeAll(async () => {
  processes = await gatewayProcesses(2);
  const { harness, gateways } = processes;
  const [one, other] = gateways;
  if (one === undefined || other === undefined) throw new Error('two were asked for');
  [first, second] = [one, other];
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { id } = await carriers.createBind(harness.database, {
    name: 'north',
    carrier: 'north',
    hosts: [{ host: '127.0.0.1', port: await carrier.listen() }],
    systemId: 'us',
    password: 'secret08',
    responseTimeoutSeconds: 5,
    submitPerSecond: 1_000,
  });
  await carriers.createRoute(harness.database, { prefix: '+', bindId: id });
  session = await harness.sessions.create(harness.draft({ ttlSeconds: TTL_SECONDS }));
  await first.start();
  await until('the first gateway holds the bind', AFTER_DEATH_MS, () => carrier.bound.length === 1);
  await second.start();
});
afterAll(async () => {
  test.isOver = true;
  await Promise.allSettled(phones);
  await processes.stop();
  await carrier.close();
});

async function queueCode(number: number): Promise<void> {
  const { clock, database, keys } = processes.harness;
  const id = clock.newId();
  const text = `code ${number} of the test`;
  queued.set(id, text);
  await new OutboundStore().insert(database, {
    id,
    sessionId: session.id,
    accountId: session.accountId,
    test: false,
    destination: PHONE,
    country: 'US',
    sender: INBOUND_NUMBER,
    textSealed: keys.seal('message-text', text, id),
    createdAt: new Date(clock.nowMs()),
    expiresAt: session.expiresAt,
  });
}

/** A phone that repeats its SMS until it is answered, and an application that requests a code each time. */
async function load(name: string): Promise<void> {
  for (let number = 0; !isOver(); number++) {
    const text = `message ${number} of ${name}`;
    let isStored = false;
    while (!isStored && !isOver()) {
      isStored = await carrier.deliver(sms(text));
      if (!isStored) await delay(PACE_MS);
    }
    if (isStored) stored.push(text);
    await queueCode(queued.size);
    await delay(PACE_MS);
  }
}

/** Messages pass in both directions now, and continue to. */
async function steady(): Promise<void> {
  const [messages, codes] = [stored.length + STEADY, carrier.codes.length + STEADY];
  await until('messages and codes go on', SETTLED_WITHIN_MS, () => {
    return stored.length >= messages && carrier.codes.length >= codes;
  });
}

/** The next holder of the connection. */
async function successor(of: WitnessedLink, withinMs: number): Promise<WitnessedLink> {
  const next = (): WitnessedLink | undefined => carrier.links.slice(carrier.links.indexOf(of) + 1).find(isBound);
  await until('another gateway is bound', withinMs, () => next() !== undefined);
  return next() ?? of;
}
const isBound = ({ boundMs, closedMs }: WitnessedLink): boolean => boundMs !== null && closedMs === null;

function present(): WitnessedLink {
  const [link, ...more] = carrier.bound;
  if (link === undefined || more.length > 0) throw new Error(`${carrier.bound.length} connections, and one is wanted`);
  return link;
}

it('loses nothing and doubles nothing in secret while gateways are killed, stopped and paused in turn', async () => {
  phones = ['one', 'two'].map(load);
  await steady();

  // Killed: without an unbind.
  await first.kill();
  await successor(carrier.links.at(-1) ?? present(), AFTER_DEATH_MS);
  await first.start();
  await steady();

  // Stopped: its window completes, its link is unbound, its lease released.
  const leaving = present();
  const stopped = second.stop();
  const taking = await successor(leaving, AFTER_DEATH_MS);
  expect((taking.boundMs ?? 0) - (leaving.unboundMs ?? 0)).toBeLessThan(AFTER_UNBIND_MS);
  await stopped;
  await second.start();
  await steady();

  // Paused: it does not detect that its lease has expired, and the carrier has two connections for a while.
  const pausedMs = performance.now();
  const paused = present();
  first.signal('SIGSTOP');
  await successor(paused, AFTER_DEATH_MS);
  await until('it was away for long', PAUSED_MS, () => performance.now() - pausedMs > PAUSED_MS);
  first.signal('SIGCONT');
  await until('it finds itself fenced', 5_000, () => paused.closedMs !== null);
  await steady();

  test.isOver = true;
  await Promise.all(phones);
  expectOneToHaveActed();
  await expectMessagesStored();
  await expectCodesSentOnce();
}, 240_000);

/** No connection acted after the next one was bound. */
function expectOneToHaveActed(): void {
  const links = carrier.links.filter(({ boundMs }) => boundMs !== null);
  expect(links.length).toBeGreaterThanOrEqual(4);
  for (const [index, { boundMs }] of links.entries()) {
    const before = links[index - 1]?.lastActMs ?? 0;
    expect(before, `connection ${index - 1} acted after connection ${index} was bound`).toBeLessThan(boundMs ?? 0);
  }
}

async function expectMessagesStored(): Promise<void> {
  const { database, keys } = processes.harness;
  const rows = await database.query<{ id: Uuid; textSealed: Buffer }>(
    'SELECT id, text_sealed AS "textSealed" FROM messages',
  );
  const texts = new Set(rows.map(({ id, textSealed }) => keys.open('message-text', textSealed, id).toString('utf8')));
  expect(stored.filter((text) => !texts.has(text))).toEqual([]);
  expect(new Set(stored).size).toBe(stored.length);
}

interface CodeRow {
  readonly id: Uuid;
  readonly state: string;
  readonly unknownFates: number;
}
const DECIDED: ReadonlySet<string> = new Set(['submitted', 'failed']);

async function expectCodesSentOnce(): Promise<void> {
  const { database } = processes.harness;
  const codes = (): Promise<CodeRow[]> =>
    database.query(
      `SELECT id, state, unknown_fates AS "unknownFates", attempts, network_error AS "networkError",
         next_attempt_at - now() AS "dueIn", claimed_until - now() AS "claimedFor" FROM outbound_messages`,
    );
  const open = async (): Promise<CodeRow[]> => (await codes()).filter(({ state }) => !DECIDED.has(state));
  const isDone = async (): Promise<boolean> => (await open()).length === 0;
  await until('every code is decided', SETTLED_WITHIN_MS, isDone).catch(async () => expect(await open()).toEqual([]));
  const times = new Map<string, number>();
  for (const text of carrier.codes) times.set(text, (times.get(text) ?? 0) + 1);
  const rows = await codes();
  expect(rows).toHaveLength(queued.size);
  const wrong = rows.filter(({ id, state, unknownFates }) => {
    const sent = times.get(queued.get(id) ?? '') ?? 0;
    const missing = state === 'submitted' && sent === 0;
    return missing || sent > 1 + unknownFates || sent > 2;
  });
  expect(wrong).toEqual([]);
}
