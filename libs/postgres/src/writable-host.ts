import { isIP, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseUnavailable } from './database-errors.js';

export interface DatabaseHost {
  readonly host: string;
  readonly port: number;
}

/** Timeout of a probe: the connection that waits for it has its own, longer one. */
const PROBE_TIMEOUT_MS = 1_500;
/** How long the result of a probe is used for further connections. */
const PROBE_VALID_MS = 1_000;
/** How long the other hosts have to answer once one takes writes: one of them may have replaced it. */
const OTHERS_MS = 300;
const READ_ONLY = `SELECT current_setting('transaction_read_only') AS "readOnly"`;
/** The first eight digits of the name of a WAL file are its timeline. */
const TIMELINE = `
  SELECT system_identifier::text AS system, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS number
  FROM pg_control_system()`;

/** Each promotion of a standby begins the next timeline of the system (PostgreSQL 26.3.6). */
interface Timeline {
  /** Common to a primary and its standbys. */
  readonly system: string;
  readonly number: number;
}

/** A host that takes writes. */
interface Candidate {
  readonly target: DatabaseHost;
  /** Null where the server does not tell, as some hosted ones. */
  readonly timeline: Timeline | null;
}

const isBefore = (one: Timeline | null, other: Timeline | null): boolean =>
  one !== null && other !== null && one.system === other.system && one.number < other.number;

/** Connects to one host. Rejects unless it takes writes. */
async function probe(connectionString: string, options: string): Promise<Candidate> {
  const client = new pg.Client({
    connectionString,
    options,
    application_name: 'countersign-probe',
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  const { host, port } = client;
  try {
    await client.connect();
    const { rows } = await client.query<{ readOnly: string }>(READ_ONLY);
    if (rows[0]?.readOnly !== 'off') throw new Error('it takes no writes');
    return { target: { host, port }, timeline: await timelineOf(client) };
  } catch (error) {
    throw new Error(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    client.end().catch(() => undefined);
  }
}

const timelineOf = (client: pg.Client): Promise<Timeline | null> =>
  client.query<{ system: string; number: number }>(TIMELINE).then(
    ({ rows }) => rows[0] ?? null,
    () => null,
  );

/**
 * The host of a database URL with several that takes writes, as `target_session_attrs=read-write` of libpq (34.1.2) means it. All
 * are asked at once, so that a host that does not answer delays little. Unlike libpq it does not try them in their order: the one
 * with the latest timeline is taken, and none with an earlier timeline than one found before. A primary that was cut off, and
 * whose standby was promoted meanwhile, takes writes again for a moment when it comes back, and loses them.
 */
export class WritableHost {
  #found: Promise<DatabaseHost> | null = null;
  #validUntilMs = 0;
  #latest: Timeline | null = null;

  /** @param urls one URL per host */
  constructor(
    private readonly urls: readonly string[],
    private readonly options: string,
  ) {}

  /** The host. Rejects with the fault of each host if none takes writes now. */
  find(): Promise<DatabaseHost> {
    if (this.#found !== null && performance.now() < this.#validUntilMs) return this.#found;
    const found = this.probeAll();
    this.#found = found;
    this.#validUntilMs = Infinity;
    found.then(
      () => (this.#validUntilMs = performance.now() + PROBE_VALID_MS),
      () => (this.#found = null),
    );
    return found;
  }

  private async probeAll(): Promise<DatabaseHost> {
    const candidates: Candidate[] = [];
    const probes = this.urls.map(async (url) => {
      const candidate = await probe(url, this.options);
      this.refuseReplaced(candidate);
      candidates.push(candidate);
    });
    try {
      await Promise.any(probes);
    } catch (error) {
      const faults =
        error instanceof AggregateError
          ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each)))
          : [String(error)];
      throw new DatabaseUnavailable(`no host of the database takes writes (${faults.join('; ')})`);
    }
    await Promise.race([Promise.allSettled(probes), delay(OTHERS_MS, undefined, { ref: false })]);
    const { target, timeline } = candidates.reduce((best, each) =>
      isBefore(best.timeline, each.timeline) ? each : best,
    );
    this.#latest = timeline ?? this.#latest;
    return target;
  }

  private refuseReplaced({ target: { host, port }, timeline }: Candidate): void {
    const latest = this.#latest;
    if (!isBefore(timeline, latest)) return;
    throw new Error(
      `${host}:${port}: it was replaced: its timeline is ${timeline?.number}, and ${latest?.number} was found before`,
    );
  }
}

/** A socket that connects to the host that takes writes, whatever host it is given. */
export class WritableHostSocket extends Socket {
  constructor(private readonly target: WritableHost) {
    super();
  }

  /** Called by the driver with the first host of the URL. */
  override connect(): this {
    this.target.find().then(
      ({ host, port }) => {
        if (this.destroyed) return;
        if (host.startsWith('/')) super.connect(`${host}/.s.PGSQL.${port}`);
        else super.connect({ host, port, ...(isIP(host) === 0 ? { autoSelectFamily: true } : {}) });
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return this;
  }
}
