import { digestsEqual, type ServerKeys } from '@countersign/keys';
import { Batcher, firstIdAt, newId, type Database, type DatabaseClock, type Uuid } from '@countersign/postgres';
import { ID_TAKEN_UP_WITHIN_MS } from '@countersign/session';
import { CLAIM_KEYS, END_CLAIMS, PURGE_KEYS, READ_KEYS } from './idempotency.sql.js';

/**
 * How long a claim holds whose owner went silent. A request is answered or given up within 3 s of its own time, its
 * statements with it, and a create waits for its card for 10 s at most: when the lease is over, nothing of the earlier one
 * still runs.
 */
const LEASE_SECONDS = 30;
/** Contract, Idempotency. */
export const KEPT_HOURS = 24;
const MAX_QUEUED_COMMANDS = 4_096;

/** A request as it is compared with earlier ones: both digests are keyed, and neither key nor body can be read from them. */
export interface DigestedRequest {
  readonly digest: Buffer;
  readonly fingerprint: Buffer;
  readonly accountId: Uuid;
  /** Made with a test key. */
  readonly test: boolean;
}

/** Who works on a request, and for which id. */
export interface Claim {
  readonly digest: Buffer;
  readonly claimedBy: Uuid;
  /** What the request makes gets this id, whichever attempt makes it. */
  readonly resourceId: Uuid;
  /** An earlier attempt was cut short, and may have made it. */
  readonly resumed: boolean;
}

export interface StoredAnswer {
  readonly status: number;
  readonly body: string;
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** The same request was answered so. */
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  /** The same request is being worked on. */
  | { readonly kind: 'running' }
  /** Another body has been sent with this key. */
  | { readonly kind: 'reused' };

interface ClaimCommand {
  readonly request: DigestedRequest;
  readonly claimedBy: Uuid;
  readonly resourceId: Uuid;
}

interface EndCommand {
  readonly claim: Claim;
  readonly status: number | null;
  readonly bodySealed: Buffer | null;
  readonly freed: boolean;
}

interface KnownKey {
  readonly digest: Buffer;
  readonly fingerprint: Buffer;
  readonly status: number | null;
  readonly bodySealed: Buffer | null;
}

export interface IdempotencyStoreOptions {
  readonly database: Pick<Database, 'query'>;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly keys: ServerKeys;
  /** Requests that share a statement at most. */
  readonly maxBatch: number;
}

/** The one door to idempotency keys. Claims and their ends of one moment share a statement each. */
export class IdempotencyStore {
  private readonly claims: Batcher<ClaimCommand, ClaimResult>;
  private readonly ends: Batcher<EndCommand, null>;

  constructor(private readonly options: IdempotencyStoreOptions) {
    const bounds = { maxBatch: options.maxBatch, maxInFlight: 2, maxQueued: MAX_QUEUED_COMMANDS };
    this.claims = new Batcher({
      ...bounds,
      name: 'idempotency.claim',
      keysOf: ({ request }) => [keyOf(request.digest)],
      run: (commands) => this.claimAll(commands),
    });
    this.ends = new Batcher({
      ...bounds,
      name: 'idempotency.end',
      keysOf: ({ claim }) => [keyOf(claim.digest)],
      run: (commands) => this.endAll(commands),
    });
  }

  /**
   * Claims the key of a request, or tells what became of the earlier one with this key. After DatabaseUnavailable the
   * claim may have been committed: it is then let go again when its lease is over.
   */
  claim(request: DigestedRequest): Promise<ClaimResult> {
    const nowMs = this.options.clock.nowMs();
    return this.claims.add({ request, claimedBy: newId(nowMs), resourceId: newId(nowMs) });
  }

  /** Whether an earlier request had this key, which may be a day old. */
  async has({ digest }: DigestedRequest): Promise<boolean> {
    return (await this.options.database.query<KnownKey>(READ_KEYS, [[digest]])).length > 0;
  }

  /** Keeps the answer for a day. Does nothing when the lease was over and another attempt has taken it up. */
  async answered(claim: Claim, { status, body }: StoredAnswer): Promise<void> {
    const bodySealed = this.options.keys.seal('idempotent-answer', body, claim.digest.toString('hex'));
    await this.ends.add({ claim, status, bodySealed, freed: false });
  }

  /** The request was refused: its key can be used for any other. What an earlier attempt may have made is not forgotten. */
  async refused(claim: Claim): Promise<void> {
    await this.ends.add({ claim, status: null, bodySealed: null, freed: !claim.resumed });
  }

  /** The request failed, and what it made may be there: the next attempt begins at once, and with the same id. */
  async failed(claim: Claim): Promise<void> {
    await this.ends.add({ claim, status: null, bodySealed: null, freed: false });
  }

  /** Forgets what is older than a day, at most `limit` of it; answers how many. */
  async purge(limit: number): Promise<number> {
    return (await this.options.database.query(PURGE_KEYS, [KEPT_HOURS, limit])).length;
  }

  /** Waits until every command taken in has been answered. */
  async drain(): Promise<void> {
    await Promise.all([this.claims.drain(), this.ends.drain()]);
  }

  private async claimAll(commands: readonly ClaimCommand[]): Promise<ClaimResult[]> {
    const { database, clock } = this.options;
    const rows = await database.query<{ digest: Buffer; resourceId: Uuid }>(CLAIM_KEYS, [
      commands.map(({ request }) => request.digest),
      commands.map(({ request }) => request.accountId),
      commands.map(({ request }) => request.fingerprint),
      commands.map(({ resourceId }) => resourceId),
      commands.map(({ claimedBy }) => claimedBy),
      LEASE_SECONDS,
      KEPT_HOURS,
      firstIdAt(clock.nowMs() - ID_TAKEN_UP_WITHIN_MS),
      commands.map(({ request }) => request.test),
    ]);
    const claimed = new Map(rows.map(({ digest, resourceId }) => [keyOf(digest), resourceId]));
    const rest = commands.filter(({ request }) => !claimed.has(keyOf(request.digest)));
    const known = await this.read(rest);
    return commands.map((command) => {
      const { digest } = command.request;
      const resourceId = claimed.get(keyOf(digest));
      if (resourceId === undefined) return this.judge(command.request, known.get(keyOf(digest)));
      const { claimedBy } = command;
      return { kind: 'claimed', claim: { digest, claimedBy, resourceId, resumed: resourceId !== command.resourceId } };
    });
  }

  private async read(commands: readonly ClaimCommand[]): Promise<Map<string, KnownKey>> {
    if (commands.length === 0) return new Map();
    const digests = commands.map(({ request }) => request.digest);
    const rows = await this.options.database.query<KnownKey>(READ_KEYS, [digests]);
    return new Map(rows.map((row) => [keyOf(row.digest), row]));
  }

  /** A key that was there and is gone now was being worked on a moment ago. */
  private judge(request: DigestedRequest, known: KnownKey | undefined): ClaimResult {
    if (known === undefined) return { kind: 'running' };
    if (!digestsEqual(known.fingerprint, request.fingerprint)) return { kind: 'reused' };
    if (known.status === null || known.bodySealed === null) return { kind: 'running' };
    const body = this.options.keys.open('idempotent-answer', known.bodySealed, known.digest.toString('hex'));
    return { kind: 'answered', answer: { status: known.status, body: body.toString('utf8') } };
  }

  private async endAll(commands: readonly EndCommand[]): Promise<null[]> {
    await this.options.database.query(END_CLAIMS, [
      commands.map(({ claim }) => claim.digest),
      commands.map(({ claim }) => claim.claimedBy),
      commands.map(({ status }) => status),
      commands.map(({ bodySealed }) => bodySealed),
      commands.map(({ freed }) => freed),
    ]);
    return commands.map(() => null);
  }
}

const keyOf = (digest: Buffer): string => digest.toString('base64');
