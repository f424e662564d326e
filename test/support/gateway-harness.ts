import { CarrierStore, type Bind, type NewBind, type NewSystem, type SmppSystem } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import type { CreateSession } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { fallbackText } from '@countersign/session/tokens';
import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import type { PduValues } from 'smpp';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { freePort } from '../../config/stack/postgres.mjs';
import { Esme, type EsmeAccount } from './esme.js';
import { lineTo, type Line } from './line.js';
import { openSessionHarness, PHONE, type SessionHarness } from './session-harness.js';
import { liveTenant } from './tenants.js';

export const PASSWORD = 'secret08';
export const INBOUND_NUMBER = '+14155550100';
/** High, since tests send many messages from one phone. */
const MANY_PER_SECOND = '1000000';
/** Network of all ESMEs of a test; narrow enough for trust. */
export const LOOPBACK = ['127.0.0.0/16'];
const MASTER_KEY = Buffer.alloc(32, 1);

/** A stored MO with its text opened. */
export interface StoredMessage {
  readonly id: Uuid;
  readonly fate: string;
  readonly text: string;
  readonly carrier: string;
  readonly linkId: Uuid;
  readonly source: string;
  readonly destination: string;
  readonly partNumber: number | null;
  readonly partTotal: number | null;
  readonly sessionId: Uuid | null;
}

const READ_MESSAGES = `
  SELECT id, fate, text_sealed AS "textSealed", carrier, link_id AS "linkId", source, destination,
    part_number AS "partNumber", part_total AS "partTotal", session_id AS "sessionId"
  FROM messages ORDER BY received_at, id`;

/** A gateway in this process on its own database, with calls for tests. */
export class GatewayHarness {
  /** Log lines of the gateway. */
  readonly log: string[] = [];
  readonly #esmes: Esme[] = [];
  #stop: (() => Promise<void>) | null = null;

  private constructor(
    readonly harness: SessionHarness,
    readonly carriers: CarrierStore,
    /** Proxy between the gateway and PostgreSQL; the harness's own connection bypasses it. */
    readonly line: Line,
    readonly ports: Readonly<Record<'smpp' | 'smppTls' | 'http' | 'ops', number>>,
    private readonly changes: Readonly<Record<string, string>>,
  ) {}

  /** Starts the gateway; `changes` are variables of its environment. */
  static async open(changes: Readonly<Record<string, string>> = {}): Promise<GatewayHarness> {
    const harness = await openSessionHarness();
    const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    await carriers.createInboundNumber(harness.database, { number: INBOUND_NUMBER, countries: ['*'] });
    const ports = { smpp: await freePort(), smppTls: await freePort(), http: await freePort(), ops: await freePort() };
    const gateway = new GatewayHarness(harness, carriers, await lineTo(harness.gatewayUrl), ports, changes);
    await gateway.start();
    return gateway;
  }

  async start(): Promise<void> {
    const settings = loadSettings(GatewaySettings, { ...this.environment(), ...this.changes });
    const logger = createLogger({
      app: 'gateway',
      level: 'debug',
      destination: { write: (line: string) => void this.log.push(line) },
    });
    const shutdown = await startGateway(settings, logger, () => undefined);
    this.#stop = () => shutdown.run('the test is over');
  }

  async stop(): Promise<void> {
    await this.#stop?.();
    this.#stop = null;
  }

  async close(): Promise<void> {
    for (const esme of this.#esmes) esme.destroy();
    await this.stop();
    await this.line.close();
    await this.harness.close();
  }

  /** Creates a system; by default trusted, from loopback. */
  system(changes: Partial<NewSystem> & { readonly systemId: string }): Promise<SmppSystem> {
    return this.carriers.createSystem(this.harness.database, {
      carrier: 'north',
      password: PASSWORD,
      trustedForMo: true,
      allowedCidrs: LOOPBACK,
      ...changes,
    });
  }

  bind(changes: Partial<NewBind> & Pick<NewBind, 'name' | 'hosts'>): Promise<Bind> {
    return this.carriers.createBind(this.harness.database, {
      carrier: 'north',
      systemId: 'us',
      password: PASSWORD,
      trustedForMo: true,
      ...changes,
    });
  }

  /** Connects and binds as that system. */
  async esme(systemId: string, changes: Partial<EsmeAccount> = {}): Promise<Esme> {
    const esme = await Esme.bound({ port: this.ports.smpp, systemId, password: PASSWORD, ...changes });
    this.#esmes.push(esme);
    return esme;
  }

  /** The status of a bind from this local address; null when the connection is closed without a response. */
  async bindFrom(localAddress: string, systemId: string, password = PASSWORD): Promise<number | null> {
    try {
      const esme = await this.connectUnbound({ connection: { localAddress } });
      return (await esme.bind({ port: this.ports.smpp, systemId, password })).command_status;
    } catch {
      return null;
    }
  }

  /** Connects without a bind, by default to the plain port. */
  async connectUnbound(changes: Partial<EsmeAccount> = {}): Promise<Esme> {
    const esme = await Esme.connect({ port: this.ports.smpp, ...changes });
    this.#esmes.push(esme);
    return esme;
  }

  create(changes: Partial<CreateSession> = {}): Promise<Session> {
    return this.harness.sessions.create(this.harness.draft(changes));
  }

  /** The text that the phone of this session sends. */
  textOf({ id, brandSlug, instruction }: Session): string {
    return fallbackText(brandSlug, this.harness.tokenOf(id).token, instruction);
  }

  async statusOf({ accountId, id }: Session): Promise<string | undefined> {
    return (await this.harness.sessions.find(liveTenant(accountId), id))?.status;
  }

  /** Every MO stored, in the order of arrival. */
  async messages(): Promise<StoredMessage[]> {
    const rows = await this.harness.database.query<Omit<StoredMessage, 'text'> & { textSealed: Buffer }>(READ_MESSAGES);
    return rows.map(({ textSealed, ...row }) => {
      return { ...row, text: this.harness.keys.open('message-text', textSealed, row.id).toString('utf8') };
    });
  }

  /** Sum of the metric lines with this prefix, such as `countersign_mo_total{fate="matched"`; 0 when absent. */
  async metric(beginning: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.ports.ops}/metrics`);
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith(beginning));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async readiness(): Promise<{ readonly status: number; readonly checks: Record<string, { ok: boolean }> }> {
    const response = await fetch(`http://127.0.0.1:${this.ports.ops}/readyz`);
    const { checks } = (await response.json()) as { checks: Record<string, { ok: boolean }> };
    return { status: response.status, checks };
  }

  /** Environment of a gateway of this harness. */
  environment(): Record<string, string> {
    return {
      DATABASE_URL: this.line.url,
      COUNTERSIGN_MASTER_KEY: MASTER_KEY.toString('base64'),
      MO_SENDER_PER_SECOND: MANY_PER_SECOND,
      GATEWAY_SMPP_PORT: String(this.ports.smpp),
      GATEWAY_SMPP_TLS_PORT: String(this.ports.smppTls),
      GATEWAY_HTTP_PORT: String(this.ports.http),
      GATEWAY_OPS_PORT: String(this.ports.ops),
    };
  }
}

/** The fields of an MO from the test phone to the inbound number; text as octets, so that npm `smpp` does not encode it. */
export function sms(text: string | Buffer, changes: PduValues = {}): PduValues {
  return {
    source_addr_ton: 1,
    source_addr_npi: 1,
    source_addr: PHONE.slice(1),
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: INBOUND_NUMBER.slice(1),
    short_message: Buffer.from(text),
    ...changes,
  };
}

/** One part of a long message, with an 8-bit reference in its user data header. */
export function partOfSms(
  text: string | Buffer,
  reference: number,
  total: number,
  part: number,
  changes: PduValues = {},
): PduValues {
  const header = Buffer.from([5, 0, 3, reference, total, part]);
  return sms(Buffer.concat([header, Buffer.from(text)]), { esm_class: 0x40, ...changes });
}
