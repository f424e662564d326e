import { JobNotifier, queueConnection } from '@countersign/bus';
import type { NewBind, NewRoute } from '@countersign/carriers/config';
import { OutboundStore } from '@countersign/carriers/outbound';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import { Queue } from 'bullmq';
import type { Carrier } from './carrier.js';
import { GatewayHarness, INBOUND_NUMBER } from './gateway-harness.js';
import { until } from './until.js';

export const CODE_TEXT = '123456 is your Acme code. Do not share it.';
const BOUND_WITHIN_MS = 20_000;
/** A carrier has 1 s to answer, there are pauses between attempts, a lost ring costs 2 s, and a machine may be busy. */
const DONE_WITHIN_MS = 20_000;

/** What is stored of a code. */
export interface StoredCode {
  readonly state: string;
  readonly networkError: string | null;
  readonly attempts: number;
  readonly unknownFates: number;
  readonly carrier: string | null;
  readonly source: string | null;
  readonly smscMessageId: string | null;
  readonly costUsd: string | null;
  readonly hasText: boolean;
}

const READ_CODE = `
  SELECT state, network_error AS "networkError", attempts, unknown_fates AS "unknownFates", carrier, source,
    smsc_message_id AS "smscMessageId", cost_usd::text AS "costUsd", text_sealed IS NOT NULL AS "hasText"
  FROM outbound_messages WHERE id = $1`;

/** Both steps of a message may happen in one millisecond, in which ids have no order: `submitted` comes first. */
const READ_TOLD = `
  SELECT data::text AS data FROM events
  WHERE type = 'verification.otp_delivery' AND data->>'messageId' = $1
  ORDER BY occurred_at, data->>'state' = 'submitted' DESC, id`;

export interface Way {
  readonly carrier: Pick<Carrier, 'name' | 'listen' | 'isBound'>;
  readonly bind?: Partial<NewBind>;
  readonly route?: Partial<NewRoute>;
}

/** A gateway with ways to send codes by. */
export class OutboundHarness {
  readonly #store = new OutboundStore();

  readonly #notifier: JobNotifier;

  private constructor(
    readonly gateway: GatewayHarness,
    /** Of the bell that the control plane rings. */
    readonly queueOfCodes: Queue,
  ) {
    this.#notifier = new JobNotifier(queueOfCodes, () => undefined);
  }

  /** Opens a gateway that is bound to these carriers, each with a route for every number unless it says otherwise. */
  static async open(ways: readonly Way[], redisUrl: string | null = null): Promise<OutboundHarness> {
    const gateway = await GatewayHarness.open(redisUrl === null ? {} : { REDIS_URL: redisUrl });
    const { carriers, harness } = gateway;
    for (const { carrier, bind, route } of ways) {
      const hosts = [{ host: '127.0.0.1', port: await carrier.listen() }];
      const { name } = carrier;
      const { id } = await gateway.bind({ name, carrier: name, hosts, responseTimeoutSeconds: 1, ...bind });
      await carriers.createRoute(harness.database, { prefix: '+', bindId: id, ...route });
    }
    await until('all are bound', BOUND_WITHIN_MS, () => ways.every(({ carrier }) => carrier.isBound));
    // The copies of the routes that it took while they were written are as old as that by now.
    await gateway.stop();
    await gateway.start();
    await until('all are bound', BOUND_WITHIN_MS, () => ways.every(({ carrier }) => carrier.isBound));
    const connection = queueConnection({ redisUrl, databaseUrl: harness.url }, 'producer');
    const queue = new Queue(QUEUES.outbound, { connection, prefix: QUEUE_PREFIX });
    queue.on('error', () => undefined);
    return new OutboundHarness(gateway, queue);
  }

  async close(): Promise<void> {
    await this.#notifier.close();
    await this.queueOfCodes.close();
    await this.gateway.close();
  }

  /** Queues a code for a session, and rings. */
  async queue(
    session: Session,
    changes: { readonly text?: string; readonly test?: boolean; readonly validMs?: number } = {},
  ): Promise<Uuid> {
    const { clock, database, keys } = this.gateway.harness;
    const { text = CODE_TEXT, test = false, validMs } = changes;
    const id = clock.newId();
    const createdAt = new Date(clock.nowMs());
    await this.#store.insert(database, {
      id,
      sessionId: session.id,
      accountId: session.accountId,
      test,
      destination: session.phone,
      country: 'US',
      sender: INBOUND_NUMBER,
      textSealed: keys.seal('message-text', text, id),
      createdAt,
      expiresAt: validMs === undefined ? session.expiresAt : new Date(createdAt.getTime() + validMs),
    });
    this.#notifier.notify([id]);
    return id;
  }

  async code(id: Uuid): Promise<StoredCode> {
    const [row] = await this.gateway.harness.database.query<StoredCode>(READ_CODE, [id]);
    if (row === undefined) throw new Error('no such code');
    return row;
  }

  /** The code once it has come to that state. */
  async reaches(id: Uuid, state: string): Promise<StoredCode> {
    await until(`the code is ${state}`, DONE_WITHIN_MS, async () => (await this.code(id)).state === state);
    return this.code(id);
  }

  /** The data of every event about the code, in order. */
  async told(id: Uuid): Promise<Record<string, unknown>[]> {
    const rows = await this.gateway.harness.database.query<{ data: string }>(READ_TOLD, [renderId('msg', id)]);
    return rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  }

  /** The states that the code was told to be in, in order. */
  async statesTold(id: Uuid): Promise<unknown[]> {
    return (await this.told(id)).map(({ state }) => state);
  }

  /** Runs SQL beside the gateway. */
  async sql(statement: string, values: readonly unknown[] = []): Promise<void> {
    await this.gateway.harness.database.query(statement, values);
  }
}
