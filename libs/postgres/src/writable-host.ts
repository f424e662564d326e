import { isIP, Socket } from 'node:net';
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
const READ_ONLY = `SELECT current_setting('transaction_read_only') AS "readOnly"`;

/** Connects to one host. Rejects unless it takes writes. */
async function probe(connectionString: string, options: string): Promise<DatabaseHost> {
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
    return { host, port };
  } catch (error) {
    throw new Error(`${host}:${port}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    client.end().catch(() => undefined);
  }
}

/**
 * The host of a database URL with several that takes writes, as `target_session_attrs=read-write` of libpq (34.1.2) means it. All
 * are asked at once, so that a host that does not answer delays nothing. Unlike libpq it does not try them in their order: at
 * most one takes writes.
 */
export class WritableHost {
  #found: Promise<DatabaseHost> | null = null;
  #validUntilMs = 0;

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
    try {
      return await Promise.any(this.urls.map((url) => probe(url, this.options)));
    } catch (error) {
      const faults =
        error instanceof AggregateError
          ? error.errors.map((each: unknown) => (each instanceof Error ? each.message : String(each)))
          : [String(error)];
      throw new DatabaseUnavailable(`no host of the database takes writes (${faults.join('; ')})`);
    }
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
