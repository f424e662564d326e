import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { phones } from '../bench/phones.js';
import { until } from '../support/until.js';
import { findViolations, type Violation } from './checker.js';
import {
  type FinalRows,
  hasCardEvents,
  readFinalRows,
  readPendingPhones,
  readUnsettled,
  type Unsettled,
} from './final-rows.js';
import type { History, ReceivedEvent, SessionHistory } from './history.js';
import { Nemesis } from './nemesis.js';
import { Random } from '../support/random.js';
import { repeat } from './repeat.js';
import { type Installation, startSystem } from './system.js';
import { cancelSession, User } from './user.js';

/** Time for what is under way to end once all faults are over. */
const SETTLED_MS = 240_000;
const USAGE_MS = 60_000;
/** A lost broadcast is made up for within 15 s. */
const FRAMES_MS = 20_000;
const PROGRESS_MS = 15_000;
const CANCELS_AT_A_TIME = 16;
/** A phone for each session; the most of one run. */
const MAX_SESSIONS = 400_000;
const TOKEN = /AUTH-[A-Z0-9]+-[0-9A-Z]{16}/;
const DIGITS = /\d{10,15}/g;

export interface CampaignOptions {
  /** The faults and the scenarios; times depend on the machine. */
  readonly seed: number;
  /** It ends after so many sessions, or after so many minutes. */
  readonly sessions: number | null;
  readonly minutes: number | null;
  /** Users at the same time. */
  readonly users: number;
  /** The folder of another build, to which processes change and back; null for none. */
  readonly previous: string | null;
  readonly queues: 'redis' | 'postgresql';
  readonly log: (line: string) => void;
}

export interface CampaignReport {
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
  /** How often each fault has struck. */
  readonly faults: ReadonlyMap<string, number>;
  /** Faults that could not be ended. The promises are checked all the same. */
  readonly failures: readonly string[];
}

/** Strikes a system while phones are verified. */
export interface Faults {
  /** How often each fault has struck. */
  readonly struck: ReadonlyMap<string, number>;
  /** Faults that could not be ended. */
  readonly failures: readonly string[];
  start(): void;
  /** Resolves when all faults are over. */
  stop(): Promise<void>;
}

/** Verifies phones while faults strike, waits until everything has settled, and checks the promises. */
export async function runCampaign({
  seed,
  minutes,
  queues,
  previous,
  ...options
}: CampaignOptions): Promise<CampaignReport> {
  const random = new Random(seed);
  const system = await startSystem(random.fork(), queues === 'redis');
  try {
    const nemesis = new Nemesis(system, random.fork(), previous);
    const endsAt = minutes === null ? Infinity : performance.now() + minutes * 60_000;
    const goesOn = (): boolean => performance.now() < endsAt;
    return await tryPromises(system, nemesis, random, { ...options, goesOn });
  } finally {
    await system.stop();
  }
}

export interface LoadOptions extends Pick<CampaignOptions, 'sessions' | 'users' | 'log'> {
  /** Whether the users open further sessions. */
  readonly goesOn: () => boolean;
}

/** Verifies phones while these faults strike, waits until everything has settled, and checks the promises. */
export async function tryPromises(
  installation: Installation,
  faults: Faults,
  random: Random,
  options: LoadOptions,
): Promise<CampaignReport> {
  const histories = await verifyUnder(faults, installation, random, options);
  options.log(`${histories.length} sessions, ${sum(faults.struck.values())} faults; waiting until all has settled`);
  const client = new pg.Client({ connectionString: installation.ownerUrl });
  await client.connect();
  try {
    await settle(client, installation, histories);
    const rows = await readFinalRows(client);
    const history = await historyOf(installation, histories, rows);
    const { struck, failures } = faults;
    return { violations: findViolations(history, rows), counts: countsOf(history, rows), faults: struck, failures };
  } finally {
    await client.end();
  }
}

async function verifyUnder(
  faults: Faults,
  installation: Installation,
  random: Random,
  { sessions: most, users, goesOn, log }: LoadOptions,
): Promise<SessionHistory[]> {
  const numbers = phones(most ?? MAX_SESSIONS);
  const histories: SessionHistory[] = [];
  let next = 0;
  const verifyInTurn = async (user: User): Promise<void> => {
    while (goesOn()) {
      const phone = numbers[next++];
      if (phone === undefined) return;
      histories.push(await user.verify(phone));
    }
  };
  faults.start();
  const progress = setInterval(() => {
    log(`${histories.length} sessions, ${sum(faults.struck.values())} faults`);
  }, PROGRESS_MS);
  try {
    await Promise.all(Array.from({ length: users }, () => verifyInTurn(new User(installation, random.fork()))));
  } finally {
    clearInterval(progress);
    await faults.stop();
  }
  return histories;
}

/** Waits for taps, cancels the sessions that are pending still, and waits for events, webhooks and codes. */
async function settle(
  client: pg.Client,
  { api, cards }: Installation,
  histories: readonly SessionHistory[],
): Promise<void> {
  const isTapUnderWay = async (): Promise<boolean> => cards.waiting > 0 || (await hasCardEvents(client));
  await until('all events of cards are applied', SETTLED_MS, async () => !(await isTapUnderWay()));
  const pending = await readPendingPhones(client);
  const open = histories.filter(({ phone }) => pending.has(phone));
  const cancelInTurn = async (): Promise<void> => {
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const id of next.ids) next.cancels.push(await cancelSession(api, id));
    }
  };
  await Promise.all(Array.from({ length: CANCELS_AT_A_TIME }, cancelInTurn));
  let left: Unsettled | undefined;
  await until('everything has settled', SETTLED_MS, async () => {
    left = await readUnsettled(client);
    return sum(Object.values(left)) === 0;
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(left)}`);
  });
}

async function historyOf(system: Installation, sessions: readonly SessionHistory[], rows: FinalRows): Promise<History> {
  const byPhone = new Map(sessions.map((session) => [session.phone, session]));
  for (const session of sessions) {
    session.codes.push(...system.carrier.codesOf(session.phone));
    if (session.tap !== null) session.tap.acceptedAt = system.cards.tapAcceptedAt(session.phone);
  }
  const webhooks = system.receiver.received.map(({ headers, body }): ReceivedEvent => {
    const { type, data } = JSON.parse(body) as {
      readonly type: string;
      readonly data: Readonly<Record<string, string>>;
    };
    const sessionId = data['id'] ?? data['sessionId'] ?? '';
    const { phone = '', authEntropy } = data;
    if (authEntropy !== undefined) byPhone.get(phone)?.entropies.add(authEntropy);
    return { eventId: String(headers['webhook-id']), type, sessionId, status: data['status'] ?? '' };
  });
  await awaitFrames(system, rows);
  return {
    sessions,
    webhooks,
    frames: system.reader.events,
    hasGap: system.reader.hasGap,
    usageTotal: await usageOf(system, rows.sessions.length),
    leaks: leaksIn(system, sessions),
  };
}

/** Waits for the end of each session on the realtime channel, as long as it may take. */
async function awaitFrames({ reader }: Installation, { events }: FinalRows): Promise<void> {
  await repeat(FRAMES_MS, () => {
    const shown = new Set(reader.events.map(({ eventId }) => eventId));
    return events.every(({ id }) => shown.has(id)) ? true : null;
  });
}

/** The count of GET /v1/usage, which follows within seconds. */
async function usageOf({ api }: Installation, expected: number): Promise<number> {
  let total = -1;
  await repeat(USAGE_MS, async () => {
    const answer = await api.call('/v1/usage');
    const { verifications } = (answer?.status === 200 ? answer.json : {}) as { verifications?: { total: number } };
    total = verifications?.total ?? total;
    return total === expected ? total : null;
  });
  return total;
}

function leaksIn({ searched, secrets }: Installation, sessions: readonly SessionHistory[]): History['leaks'] {
  const numbers = new Set(sessions.map(({ phone }) => phone.slice(1)));
  return searched.flatMap(filesOf).flatMap((file) => {
    const text = readFileSync(file, 'latin1');
    const kinds: string[] = [];
    if (TOKEN.test(text)) kinds.push('a token');
    if (secrets.some((secret) => text.includes(secret))) kinds.push('a secret');
    if ((text.match(DIGITS) ?? []).some((digits) => numbers.has(digits))) kinds.push('a phone');
    return kinds.map((kind) => ({ file: path.basename(file), kind }));
  });
}

function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

function countsOf({ sessions, webhooks, frames, hasGap }: History, rows: FinalRows): Readonly<Record<string, number>> {
  const ended = (status: string): number => rows.sessions.filter((row) => row.status === status).length;
  const shown = new Set(frames.map(({ eventId }) => eventId));
  const taps = sessions.flatMap(({ tap }) => (tap === null ? [] : [tap]));
  const copies = sum(sessions.map(({ codes }) => codes.length));
  const received = sessions.filter(({ codes }) => codes.length > 0).length;
  return {
    sessions: rows.sessions.length,
    approved: ended('approved'),
    cancelled: ended('cancelled'),
    expired: ended('expired'),
    denied: ended('denied'),
    'taps on cards': taps.length,
    'taps accepted': taps.filter(({ acceptedAt }) => acceptedAt !== null).length,
    'MOs answered ESME_ROK': sum(sessions.map(({ messages }) => messages.filter((status) => status === 0).length)),
    'MOs without that answer': sum(sessions.map(({ messages }) => messages.filter((status) => status !== 0).length)),
    'MOs stored': rows.messages.length,
    codes: rows.codes.length,
    'SMS of codes received': copies,
    'of these again': copies - received,
    'webhooks received': webhooks.length,
    'realtime events received': frames.length,
    'realtime readers with a gap': hasGap ? 1 : 0,
    'events that they did not receive': rows.events.filter(({ id }) => !shown.has(id)).length,
    events: rows.events.length,
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
