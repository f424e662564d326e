import type { Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';

/** Sessions of one account that a statement creates, and ends some of those of five seconds ago. */
const TICK_MS = 50;
const ENDED_AFTER_SECONDS = 5;

/** New sessions, as the product writes them. $1 account, $2 brand, $3 count. */
const CREATE = `
  INSERT INTO sessions (id, account_id, brand_id, phone, country, test, status, channel, token_digest, client_challenge,
    brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata, entropy_key_version, created_at, expires_at)
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(n || random()::text), 1, 20))::uuid,
    $1, $2, '+14155552671', (ARRAY['US', 'GB', 'DE', 'BR', 'IN'])[1 + n % 5], false, 'pending', 'sms_fallback',
    sha256((n || random()::text)::bytea), repeat('ab', 32), 'BENCH', 'Bench', 'Send this.', '+14155550100', true, '{}', 1,
    at, at + interval '90 seconds'
  FROM generate_series(1, $3::int) AS n, (SELECT date_trunc('milliseconds', clock_timestamp()) AS at) AS clock`;

/** Approves two thirds of the sessions of a moment. $1 account, $2 and $3 its ids. */
const APPROVE = `
  UPDATE sessions SET status = 'approved', approved_by = 'mo', ended_at = date_trunc('milliseconds', clock_timestamp()),
    ended_xid = pg_current_xact_id()::text::bigint
  WHERE account_id = $1 AND id >= $2 AND id < $3 AND status = 'pending' AND right(id::text, 1) < 'a'`;

/** Creates sessions of one account at a constant rate until `stop`, and ends most of them. */
export class SteadyCreates {
  readonly #startedMs = performance.now();
  #created = 0;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly options: {
      readonly accountId: Uuid;
      readonly brandId: Uuid;
      readonly perSecond: number;
      /** The first id of a moment, in milliseconds since 1970. */
      readonly firstIdAt: (ms: number) => Uuid;
    },
  ) {
    this.#running = this.#run();
  }

  /** The rate that was reached. */
  get perSecond(): number {
    return (this.#created / (performance.now() - this.#startedMs)) * 1_000;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { accountId, brandId, perSecond, firstIdAt } = this.options;
    let endedMs = Date.now() - ENDED_AFTER_SECONDS * 1_000;
    while (!this.#stopped) {
      const due = Math.floor(((performance.now() - this.#startedMs) / 1_000) * perSecond) - this.#created;
      const untilMs = Date.now() - ENDED_AFTER_SECONDS * 1_000;
      await Promise.all([
        this.database.query(CREATE, [accountId, brandId, due]),
        this.database.query(APPROVE, [accountId, firstIdAt(endedMs), firstIdAt(untilMs)]),
      ]);
      this.#created += due;
      endedMs = untilMs;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
}
