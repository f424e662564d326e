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
/** Covers 1 s for a response, delays between attempts, a poll interval of 2 s after a lost notification, and load. */
const DONE_WITHIN_MS = 20_000;

/** A stored code. */
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

/** `submitted` first: both events can have the same millisecond, within which ids have no order. */
const READ_DELIVERY_EVENTS = `
  SELECT data::text AS data FROM events
  WHERE type = 'verification.otp_delivery' AND data->>'messageId' = $1
  ORDER BY occurred_at, data->>'state' = 'submitted' DESC, id`;

export interface CarrierSetup {
  readonly carrier: Pick<Carrier, 'name' | 'listen' | 'isBound'>;
  readonly bind?: Partial<NewBind>;
  readonly route?: Partial<NewRoute>;
}

/** A gateway with carriers for codes. */
export class OutboundHarness {
  readonly #store = new OutboundStore();

  readonly #notifier: JobNotifier;

  private constructor(
    readonly gateway: GatewayHarness,
    /** The queue on which the control plane notifies gateways of codes. */
    readonly queueOfCodes: Queue,
  ) {
    this.#notifier = new JobNotifier(queueOfCodes, () => undefined);
  }

  /** Starts a gateway bound to these carriers, each by default with a route for every number. */
  static async open(setups: readonly CarrierSetup[], redisUrl: string | null = null): Promise<OutboundHarness> {
    const gateway = await GatewayHarness.open(redisUrl === null ? {} : { REDIS_URL: redisUrl });
    const { carriers, harness } = gateway;
    for (const { carrier, bind, route } of setups) {
      const hosts = [{ host: '127.0.0.1', port: await carrier.listen() }];
      const { name } = carrier;
      const { id } = await gateway.bind({ name, carrier: name, hosts, responseTimeoutSeconds: 1, ...bind });
      await carriers.createRoute(harness.database, { prefix: '+', bindId: id, ...route });
    }
    await until('all are bound', BOUND_WITHIN_MS, () => setups.every(({ carrier }) => carrier.isBound));
    // Restarted, so that no route cached during the setup is used.
    await gateway.stop();
    await gateway.start();
    await until('all are bound', BOUND_WITHIN_MS, () => setups.every(({ carrier }) => carrier.isBound));
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

  /** Queues a code for a session, and notifies the gateway. */
  async queueCode(
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
    if (row === undefined) throw new Error('code not found');
    return row;
  }

  /** Waits for a state of the code, and returns the code. */
  async waitForState(id: Uuid, state: string): Promise<StoredCode> {
    await until(`the code is ${state}`, DONE_WITHIN_MS, async () => (await this.code(id)).state === state);
    return this.code(id);
  }

  /** The data of every event about the code, in order. */
  async deliveryEvents(id: Uuid): Promise<Record<string, unknown>[]> {
    const rows = await this.gateway.harness.database.query<{ data: string }>(READ_DELIVERY_EVENTS, [
      renderId('msg', id),
    ]);
    return rows.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
  }

  /** The states in the events of the code, in order. */
  async deliveryStates(id: Uuid): Promise<unknown[]> {
    return (await this.deliveryEvents(id)).map(({ state }) => state);
  }

  /** Runs SQL beside the gateway. */
  async sql(statement: string, values: readonly unknown[] = []): Promise<void> {
    await this.gateway.harness.database.query(statement, values);
  }
}
