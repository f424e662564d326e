import { ServerKeys } from '@countersign/keys';
import { parseId, renderId } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { deriveToken, fallbackText } from '@countersign/session/tokens';
import { seedDemo, type SeededDemo } from '../support/demo.js';
import type { Environment } from './subjects.js';

/** Sessions outlive the whole run, so that none expires while it waits for its message. */
const TTL_SECONDS = 3_600;
const CREATES_IN_FLIGHT = 512;
const INSTRUCTION = 'Send this message to sign in to Acme.';

export interface Message {
  readonly source: string;
  readonly text: string;
  /** The session that it approves, `sess_…`. */
  readonly sessionId: string;
}

/** The stores that the run itself writes to and reads, beside the processes under measurement. */
export interface Demo extends SeededDemo {
  readonly database: Database;
  readonly sessions: SessionStore;
  readonly keys: ServerKeys;
  close(): Promise<void>;
}

export async function prepare(environment: Environment, masterKey: Buffer): Promise<Demo> {
  return openStores(environment, masterKey, await seedDemo(environment));
}

/** The stores of a database that has the demo account. */
export async function openStores(environment: Environment, masterKey: Buffer, seeded: SeededDemo): Promise<Demo> {
  const report = (error: unknown): void => {
    process.stderr.write(`${String(error)}\n`);
  };
  const database = await Database.open({
    url: environment['DATABASE_URL'] ?? '',
    poolMax: 4,
    applicationName: 'countersign-bench',
    onError: report,
  });
  const clock = await DatabaseClock.start(database, report);
  const keys = ServerKeys.fromMaster(masterKey);
  const sessions = new SessionStore({
    database,
    clock,
    keys,
    listener: { onEvents: () => undefined },
  });
  const close = async (): Promise<void> => {
    await sessions.drain();
    await clock.stop();
    await database.close();
  };
  return { ...seeded, database, sessions, keys, close };
}

let phonesMade = 0;

/**
 * Opens `count` sessions in the store itself and returns the approving message of each; calls `webhookUrl` for each.
 */
export async function pendingSessions(
  demo: Demo,
  count: number,
  webhookUrl: (at: number) => string | null = () => null,
): Promise<Message[]> {
  const accountId = parseId('acct', demo.accountId);
  const brandId = parseId('brd', demo.brandId);
  if (accountId === null || brandId === null) throw new Error('the seed answered ids that do not parse');
  const one = async (at: number): Promise<Message> => {
    phonesMade += 1;
    const phone = `+1415${String(2_000_000 + (phonesMade % 7_999_999))}`;
    const session = await demo.sessions.create({
      accountId,
      brandId,
      phone,
      country: 'US',
      test: false,
      brandName: 'Acme',
      otpSender: null,
      otpDomain: null,
      channel: 'sms_fallback',
      clientChallenge: 'a'.repeat(64),
      brandSlug: demo.brandSlug,
      instruction: INSTRUCTION,
      inboundNumber: demo.inboundNumber,
      webhookUrl: webhookUrl(at),
      ttlSeconds: TTL_SECONDS,
      allowSmsOtp: true,
      metadata: [],
      entropyKeyVersion: 1,
    });
    const token = deriveToken(demo.keys, session.id);
    return {
      source: phone.slice(1),
      text: fallbackText(demo.brandSlug, token, INSTRUCTION),
      sessionId: renderId('sess', session.id),
    };
  };
  const messages: Message[] = [];
  while (messages.length < count) {
    const wave = Math.min(CREATES_IN_FLIGHT, count - messages.length);
    const from = messages.length;
    messages.push(...(await Promise.all(Array.from({ length: wave }, (_, at) => one(from + at)))));
  }
  return messages;
}

export async function approvedCount(demo: Demo): Promise<number> {
  const rows = await demo.database.query<{ n: string }>(
    `SELECT count(*) AS n FROM sessions WHERE status = 'approved' AND instruction = $1`,
    [INSTRUCTION],
  );
  return Number(rows[0]?.n);
}

/** As many messages as requested, the same ones repeated: for subjects that do not inspect them. */
export const inRotation = (messages: readonly Message[], count: number): Message[] =>
  Array.from({ length: Math.ceil(count / messages.length) }, () => messages)
    .flat()
    .slice(0, count);
