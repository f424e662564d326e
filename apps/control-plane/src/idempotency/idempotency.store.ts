import { digestsEqual, ServerKeys } from '@countersign/keys';
import { firstIdAt, newId, type Uuid } from '@countersign/ids';
import { Batcher, Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { ID_REUSE_WINDOW_MS } from '@countersign/session/rules';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { ADOPT_RESOURCES, CLAIM_KEYS, END_CLAIMS, PURGE_KEYS, READ_KEYS } from './idempotency.sql.js';

/**
 * Lease of a claim. A request and its statements end within 3 s of processing time, and a create waits for its card for at
 * most 10 s, so no work of the earlier attempt still runs when its lease is over.
 */
const LEASE_SECONDS = 30;
/** Contract, Idempotency. */
export const KEPT_HOURS = 24;
const MAX_QUEUED_COMMANDS = 4_096;

/** The stored form of a request's idempotency key under one version of the master key. */
export interface KeyDigest {
  readonly version: number;
  readonly digest: Buffer;
}

/**
 * The digests of a request under each version of the master key, the current one first, for the comparison with earlier
 * requests. All digests are keyed: neither key nor body can be read from them.
 */
export interface DigestedRequest {
  readonly digests: readonly (KeyDigest & { readonly fingerprint: Buffer })[];
  readonly accountId: Uuid;
  /** Made with a test key. */
  readonly test: boolean;
}

/** The right of one attempt to run a request, with the resource id to use. */
export interface Claim {
  readonly digests: readonly KeyDigest[];
  readonly claimedBy: Uuid;
  /** Id of the resource that the request creates, the same for all attempts. */
  readonly resourceId: Uuid;
  /** True if an earlier attempt was interrupted and may have created the resource. */
  readonly resumed: boolean;
}

export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** The stored answer of the same request. */
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The same request is running. */
  | { readonly kind: 'running' }
  /** The key was used with another body. */
  | { readonly kind: 'reused' };

interface ClaimCommand {
  readonly request: DigestedRequest;
  readonly claimedBy: Uuid;
  readonly resourceId: Uuid;
}

interface EndCommand {
  readonly claim: Claim;
  /** Null if the claim ends without an answer. */
  readonly answer: StoredAnswer | null;
  readonly freed: boolean;
}

/** The end of a claim, for one row. */
interface RowEnd {
  readonly digest: Buffer;
  readonly claimedBy: Uuid;
  readonly status: number | null;
  readonly bodySealed: Buffer | null;
  readonly freed: boolean;
}

/** A claimed row with its owner and resource id. */
interface ClaimedRow {
  readonly digest: Buffer;
  readonly claimedBy: Uuid;
  readonly resourceId: Uuid;
}

/** A command with the rows that it claimed. */
interface Attempt {
  readonly command: ClaimCommand;
  readonly claimed: readonly ClaimedRow[];
}

interface KnownKey {
  readonly digest: Buffer;
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly bodySealed: Buffer | null;
}

/**
 * Stores idempotency keys. Concurrent claims share one statement, and so do concurrent ends of claims.
 *
 * During a rotation of the master key a request has one row for each version, and is claimed only when all of them are:
 * two processes that share at least one version, in any order, conflict on the row of that version. Each row seals its
 * answer under its own version, so removing a version loses only the rows of that version.
 */
@Injectable()
export class IdempotencyStore {
  private readonly claims: Batcher<ClaimCommand, ClaimResult>;
  private readonly ends: Batcher<EndCommand, null>;

  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'query' | 'transaction'>,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly keys: ServerKeys,
    @Inject(ControlPlaneSettings) { batchMaxCommands: maxBatch }: Pick<ControlPlaneSettings, 'batchMaxCommands'>,
  ) {
    const limits = { maxBatch, maxInFlight: 2, maxQueued: MAX_QUEUED_COMMANDS };
    this.claims = new Batcher({
      name: 'idempotency.claim',
      limits,
      keysOf: ({ request }) => keysOf(request.digests),
      run: (commands) => this.claimAll(commands),
    });
    this.ends = new Batcher({
      name: 'idempotency.end',
      limits,
      keysOf: ({ claim }) => keysOf(claim.digests),
      run: (commands) => this.endAll(commands),
    });
  }

  /**
   * Claims the key of a request, or returns the state of the earlier request with this key. After DatabaseUnavailable the
   * claim may have been committed; its lease then releases it.
   */
  claim(request: DigestedRequest): Promise<ClaimResult> {
    const nowMs = this.clock.nowMs();
    return this.claims.add({ request, claimedBy: newId(nowMs), resourceId: newId(nowMs) });
  }

  /** Whether an earlier request used this key. A key of more than a day ago may still be found. */
  async hasKey({ digests }: DigestedRequest): Promise<boolean> {
    const known = await this.database.query<KnownKey>(READ_KEYS, [digests.map(({ digest }) => digest)]);
    return known.length > 0;
  }

  /** Stores the answer for a day. Does nothing if the lease was over and another attempt has claimed the key. */
  async storeAnswer(claim: Claim, answer: StoredAnswer): Promise<void> {
    await this.ends.add({ claim, answer, freed: false });
  }

  /** Ends the claim of a refused request. Frees the key, unless an earlier attempt may have created the resource. */
  async releaseRefused(claim: Claim): Promise<void> {
    await this.ends.add({ claim, answer: null, freed: !claim.resumed });
  }

  /**
   * Ends the claim of a failed request, which may have created the resource: the next attempt gets the same resource id.
   */
  async releaseFailed(claim: Claim): Promise<void> {
    await this.ends.add({ claim, answer: null, freed: false });
  }

  /** Deletes at most `limit` keys that are older than a day. Returns the number of deleted rows. */
  async purge(limit: number): Promise<number> {
    return (await this.database.query(PURGE_KEYS, [KEPT_HOURS, limit])).length;
  }

  /** Waits until every accepted command is done. */
  @OnStop('batchers')
  async drain(): Promise<void> {
    await Promise.all([this.claims.drain(), this.ends.drain()]);
  }

  /** One statement with one version of the master key; a transaction with several. */
  private claimAll(commands: readonly ClaimCommand[]): Promise<ClaimResult[]> {
    const { database, keys } = this;
    if (keys.versions.length === 1) return this.claimIn(database, commands);
    return database.transaction((tx) => this.claimIn(tx, commands));
  }

  private async claimIn(db: Executor, commands: readonly ClaimCommand[]): Promise<ClaimResult[]> {
    const attempts = await this.claimRows(db, commands);
    const missed = attempts.filter((attempt) => !isFullyClaimed(attempt));
    const released = missed.flatMap(({ command, claimed }) => claimed.map((row) => releaseOf(command, row)));
    if (released.length > 0) await this.writeEnds(db, released);
    const adopted = attempts.filter(isFullyClaimed).flatMap(adoptedRows);
    if (adopted.length > 0) await db.query(ADOPT_RESOURCES, columnsOf(adopted));
    const known = await this.readKeys(db, missed);
    return attempts.map((attempt) =>
      isFullyClaimed(attempt) ? { kind: 'claimed', claim: claimOf(attempt) } : this.resultOfMissed(attempt, known),
    );
  }

  private async claimRows(db: Executor, commands: readonly ClaimCommand[]): Promise<Attempt[]> {
    const wanted = commands.flatMap((command) => command.request.digests.map((digest) => ({ command, ...digest })));
    const rows = await db.query<{ digest: Buffer; resourceId: Uuid }>(CLAIM_KEYS, [
      wanted.map(({ digest }) => digest),
      wanted.map(({ command }) => command.request.accountId),
      wanted.map(({ fingerprint }) => fingerprint),
      wanted.map(({ command }) => command.resourceId),
      wanted.map(({ command }) => command.claimedBy),
      LEASE_SECONDS,
      KEPT_HOURS,
      firstIdAt(this.clock.nowMs() - ID_REUSE_WINDOW_MS),
      wanted.map(({ version }) => version),
      wanted.map(({ command }) => command.request.test),
    ]);
    const ids = new Map(rows.map(({ digest, resourceId }) => [keyOf(digest), resourceId]));
    return commands.map((command) => {
      const claimed = command.request.digests.flatMap(({ digest }) => {
        const resourceId = ids.get(keyOf(digest));
        return resourceId === undefined ? [] : [{ digest, claimedBy: command.claimedBy, resourceId }];
      });
      return { command, claimed };
    });
  }

  private async readKeys(db: Executor, attempts: readonly Attempt[]): Promise<Map<string, KnownKey>> {
    if (attempts.length === 0) return new Map();
    const digests = attempts.flatMap(({ command }) => command.request.digests.map(({ digest }) => digest));
    const rows = await db.query<KnownKey>(READ_KEYS, [digests]);
    return new Map(rows.map((row) => [keyOf(row.digest), row]));
  }

  /** The result of a request whose key is not free. `running` too if its row was deleted since the claim was tried. */
  private resultOfMissed({ command, claimed }: Attempt, known: ReadonlyMap<string, KnownKey>): ClaimResult {
    const own = new Set(claimed.map(({ digest }) => keyOf(digest)));
    const stored = command.request.digests.flatMap(({ digest, fingerprint }) => {
      const row = own.has(keyOf(digest)) ? undefined : known.get(keyOf(digest));
      return row === undefined ? [] : [{ ...row, isSame: digestsEqual(row.fingerprint, fingerprint) }];
    });
    if (stored.some(({ isSame }) => !isSame)) return { kind: 'reused' };
    for (const { digest, status, bodySealed } of stored) {
      if (status === null || bodySealed === null) continue;
      const body = this.keys.open('idempotent-answer', bodySealed, digest.toString('hex'));
      return { kind: 'answered', answer: { status, body: body.toString('utf8') } };
    }
    return { kind: 'running' };
  }

  private async endAll(commands: readonly EndCommand[]): Promise<null[]> {
    const ends = commands.flatMap(({ claim: { digests, claimedBy }, answer, freed }) =>
      digests.map(({ digest, version }): RowEnd => {
        const bodySealed = answer === null ? null : this.seal(answer.body, digest, version);
        return { digest, claimedBy, status: answer?.status ?? null, bodySealed, freed };
      }),
    );
    await this.writeEnds(this.database, ends);
    return commands.map(() => null);
  }

  private seal(body: string, digest: Buffer, version: number): Buffer {
    return this.keys.seal('idempotent-answer', body, digest.toString('hex'), version);
  }

  private async writeEnds(db: Executor, ends: readonly RowEnd[]): Promise<void> {
    await db.query(END_CLAIMS, [
      ends.map(({ digest }) => digest),
      ends.map(({ claimedBy }) => claimedBy),
      ends.map(({ status }) => status),
      ends.map(({ bodySealed }) => bodySealed),
      ends.map(({ freed }) => freed),
    ]);
  }
}

const keyOf = (digest: Buffer): string => digest.toString('base64');

const keysOf = (digests: readonly KeyDigest[]): string[] => digests.map(({ digest }) => keyOf(digest));

const isFullyClaimed = ({ command, claimed }: Attempt): boolean => claimed.length === command.request.digests.length;

/** Releases a row of an attempt that could not claim all its rows. A row that the attempt inserted is deleted. */
function releaseOf({ resourceId }: ClaimCommand, { digest, claimedBy, ...row }: ClaimedRow): RowEnd {
  return { digest, claimedBy, status: null, bodySealed: null, freed: row.resourceId === resourceId };
}

/** The resource id of the earliest attempt; ids sort by time. Rows that were claimed together have the same id. */
function resourceIdOf({ command, claimed }: Attempt): Uuid {
  const [earliest = command.resourceId] = claimed
    .map(({ resourceId }) => resourceId)
    .filter((id) => id !== command.resourceId)
    .sort();
  return earliest;
}

function adoptedRows(attempt: Attempt): ClaimedRow[] {
  const resourceId = resourceIdOf(attempt);
  return attempt.claimed.flatMap((row) => (row.resourceId === resourceId ? [] : [{ ...row, resourceId }]));
}

function claimOf(attempt: Attempt): Claim {
  const { request, claimedBy, resourceId: newId } = attempt.command;
  const resourceId = resourceIdOf(attempt);
  return { digests: request.digests, claimedBy, resourceId, resumed: resourceId !== newId };
}

const columnsOf = (rows: readonly ClaimedRow[]): unknown[] => [
  rows.map(({ digest }) => digest),
  rows.map(({ claimedBy }) => claimedBy),
  rows.map(({ resourceId }) => resourceId),
];
