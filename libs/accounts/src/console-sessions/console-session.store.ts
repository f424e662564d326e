import type { IdSource, Uuid } from '@countersign/ids';
import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { limitsInQuota, type KeyLimits, type Scope } from '../accounts/account.js';
import type { MemberRole } from '../members/member.js';
import type { ConsoleSession, NewConsoleSession, OpenedConsoleSession, SessionHolder } from './console-session.js';
import {
  CONFIRM_SESSION,
  DELETE_EXPIRED,
  DELETE_SESSION,
  DELETE_SESSIONS,
  DELETE_SURPLUS,
  FIND_LIVE_SESSIONS,
  FIND_SESSION,
  GET_SESSION,
  HOLD_CONFIRMING_KEY,
  HOLD_SESSION,
  INSERT_SESSION,
  LIST_SESSIONS,
  RECORD_SIGN_IN,
  RECORD_USE,
} from './console-session.sql.js';
import { isSessionCookie, newSessionCookie } from './session-cookie.js';

/** Lifetime of a session (contract, Admin). */
export const SESSION_SECONDS = 12 * 3_600;
/** How long a member may act with the key that was shown. */
export const CONFIRMATION_SECONDS = 15 * 60;
/** Sessions of one holder; a further sign-in ends the oldest. */
const MAX_OF_HOLDER = 50;
/** Expired sessions that one sign-in deletes. */
const MAX_PURGED = 1_000;
/** How far `lastUsedAt` may be behind. */
const USE_RECORDED_EVERY_MS = 60_000;
const MAX_USER_AGENT = 200;

/** Creates ids, and digests cookies and keys. */
export interface ConsoleSessionStoreParts extends IdSource {
  readonly keys: ServerKeys;
}

/** Sessions to list. */
export interface SessionPage {
  readonly limit: number;
  readonly startingAfter: Uuid | null;
  /** Null for the sessions of every holder. */
  readonly holder: SessionHolder | null;
}

interface SessionRow extends Omit<ConsoleSession, 'confirmation'> {
  readonly confirmedUntil: Date | null;
  /** Null without a confirmation that holds now. */
  readonly confirmedScopes: readonly Scope[] | null;
  readonly confirmedLimits: KeyLimits | null;
  /** Of the key whose quota that one uses. */
  readonly confirmedLimitsOfQuota: KeyLimits | null;
}

function sessionOf({
  confirmedUntil: until,
  confirmedScopes: scopes,
  confirmedLimits,
  confirmedLimitsOfQuota: limitsOfQuota,
  ...row
}: SessionRow): ConsoleSession {
  const limits = limitsInQuota(confirmedLimits ?? {}, limitsOfQuota);
  return { ...row, confirmation: until === null || scopes === null ? null : { until, scopes, limits } };
}

/**
 * Sessions of the console. Only keyed digests of their cookies are stored. A session is read from the database at each
 * request: it ends at once, in every process, with its deletion, its member or its admin key.
 */
export class ConsoleSessionStore {
  private readonly rootKey: string;

  /** `adminKey` is the key of the environment, with which the holder `root` signs in. */
  constructor(
    private readonly parts: ConsoleSessionStoreParts,
    { adminKey }: { readonly adminKey: string },
  ) {
    this.rootKey = adminKey;
  }

  /** Always a new session with a new cookie; null when the member is not active, or the key no longer valid. */
  async open(tx: Executor, session: NewConsoleSession): Promise<OpenedConsoleSession | null> {
    const { keys } = this.parts;
    const { memberId, adminKeyId, keyDigests, method, clientAddress } = session;
    const id = this.parts.newId();
    const cookie = newSessionCookie(keys);
    const userAgent = session.userAgent.slice(0, MAX_USER_AGENT);
    const digest = keys.digest('console-session', cookie);
    const values = [id, digest, memberId, adminKeyId, keyDigests, method, clientAddress, userAgent, SESSION_SECONDS];
    await tx.query(DELETE_EXPIRED, [MAX_PURGED]);
    await tx.query(INSERT_SESSION, values);
    const opened = await this.get(tx, id);
    if (opened === null) {
      await this.end(tx, id);
      return null;
    }
    if (memberId !== null) await tx.query(RECORD_SIGN_IN, [memberId]);
    return { cookie, session: opened };
  }

  /** Of a key, under each version of the master key. */
  keyDigestsOf(key: string): readonly Buffer[] {
    return this.parts.keys.digests('api-key', key);
  }

  /** The session of a cookie; null when it has ended or never was. An invented cookie costs no statement. */
  async find(db: Executor, cookie: string): Promise<ConsoleSession | null> {
    if (!isSessionCookie(this.parts.keys, cookie)) return null;
    const digests = this.parts.keys.digests('console-session', cookie);
    const [row] = await db.query<SessionRow>(FIND_SESSION, [this.rootDigests(), digests]);
    return row === undefined ? null : sessionOf(row);
  }

  /** @param nowMs by the database's clock */
  async recordUse(db: Executor, { id, lastUsedAt }: ConsoleSession, nowMs: number): Promise<void> {
    if (nowMs - lastUsedAt.getTime() >= USE_RECORDED_EVERY_MS) await db.query(RECORD_USE, [id]);
  }

  /** Valid sessions, newest first; one more than the limit shows that older ones follow. */
  async list(db: Executor, { limit, startingAfter, holder }: SessionPage): Promise<ConsoleSession[]> {
    const { memberId = null, adminKeyId = null } = holder ?? {};
    const values = [this.rootDigests(), limit, startingAfter, holder === null, memberId, adminKeyId];
    return (await db.query<SessionRow>(LIST_SESSIONS, values)).map(sessionOf);
  }

  async get(db: Executor, id: Uuid): Promise<ConsoleSession | null> {
    const [row] = await db.query<SessionRow>(GET_SESSION, [this.rootDigests(), id]);
    return row === undefined ? null : sessionOf(row);
  }

  /** As `get`. A transaction that ends the session, or changes the key that has confirmed it, waits for this one. */
  async hold(tx: Executor, id: Uuid): Promise<ConsoleSession | null> {
    await tx.query(HOLD_SESSION, [id]);
    await tx.query(HOLD_CONFIRMING_KEY, [id]);
    return this.get(tx, id);
  }

  /**
   * Confirms a session of an account's member with a live API key of that account, and returns the id of the key; null for any
   * other key. Proof of something that no gateway and no engineer of the installation handles.
   */
  async confirm(tx: Executor, id: Uuid, apiKey: string): Promise<Uuid | null> {
    const values = [id, this.keyDigestsOf(apiKey), CONFIRMATION_SECONDS];
    const [confirmed] = await tx.query<{ keyId: Uuid }>(CONFIRM_SESSION, values);
    return confirmed?.keyId ?? null;
  }

  /** The present roles of the holders of some sessions; those that have ended are left out. */
  async liveRoles(db: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, MemberRole>> {
    const found = await db.query<SessionRow>(FIND_LIVE_SESSIONS, [this.rootDigests(), ids]);
    return new Map(found.map(({ id, role }) => [id, role]));
  }

  async end(db: Executor, id: Uuid): Promise<void> {
    await db.query(DELETE_SESSION, [id]);
  }

  /** Ends the other valid sessions of the same holder, and returns them. */
  async endOthers(tx: Executor, session: ConsoleSession): Promise<readonly ConsoleSession[]> {
    const others = (await this.ofHolder(tx, session)).filter(({ id }) => id !== session.id);
    const ended = await tx.query<{ id: Uuid }>(DELETE_SESSIONS, [others.map(({ id }) => id)]);
    return withIds(others, ended);
  }

  /** Ends the oldest sessions of a holder who has too many, and returns those that were valid. */
  async endSurplus(tx: Executor, holder: SessionHolder): Promise<readonly ConsoleSession[]> {
    const own = await this.ofHolder(tx, holder);
    const ended = await tx.query<{ id: Uuid }>(DELETE_SURPLUS, [holder.memberId, holder.adminKeyId, MAX_OF_HOLDER]);
    return withIds(own, ended);
  }

  /** The token that writes with this cookie must carry. Another cookie has another token. */
  csrfTokenOf(cookie: string): string {
    return this.parts.keys.digest('console-csrf', cookie).toString('base64url');
  }

  isCsrfToken(cookie: string, token: string): boolean {
    const sent = Buffer.from(token, 'base64url');
    return this.parts.keys.digests('console-csrf', cookie).some((digest) => digestsEqual(digest, sent));
  }

  /** All that are valid: a sign-in leaves MAX_OF_HOLDER of them, and a few may sign in at once. */
  private ofHolder(tx: Executor, { memberId, adminKeyId }: SessionHolder): Promise<readonly ConsoleSession[]> {
    return this.list(tx, { limit: 2 * MAX_OF_HOLDER, startingAfter: null, holder: { memberId, adminKeyId } });
  }

  private rootDigests(): readonly Buffer[] {
    return this.keyDigestsOf(this.rootKey);
  }
}

const withIds = (sessions: readonly ConsoleSession[], ids: readonly { id: Uuid }[]): readonly ConsoleSession[] =>
  sessions.filter((session) => ids.some(({ id }) => id === session.id));
