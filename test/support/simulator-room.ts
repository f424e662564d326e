import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type Card, messageIdOf, type SendOutcome, type Verdict } from '@countersign/cards';
import { newId } from '@countersign/postgres';
import { loadSettings, SimulatorSettings } from '@countersign/settings';
import smpp, { type PDU, type Session } from 'smpp';
import { RbmClient } from '../../apps/gateway/src/rcs/rbm-client.js';
import { loadServiceAccount } from '../../apps/gateway/src/rcs/service-account.js';
import { openSimulator, type Simulator } from '../../apps/simulator/src/simulator.js';
import { freePort } from '../../config/stack/postgres.mjs';

const CREDENTIALS = { systemId: 'simulator', password: 'secret08' };
const OK = 0;
const CARD_LIFE_MS = 90_000;
export const INBOUND_NUMBER = '+14155550199';

/** What the person at the phone has sent. */
export interface SentSms {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** The simulator by itself, and in place of the product: a bound link, and the client of RCS. */
export class SimulatorRoom {
  /** SMS of the phones, as a gateway would get them. */
  readonly received: SentSms[] = [];
  /** How the next ones are answered. */
  commandStatus = OK;
  #session: Session | null = null;

  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly simulator: Simulator,
    private readonly smppPort: number,
    private readonly rbm: RbmClient,
  ) {}

  static async open(): Promise<SimulatorRoom> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-simulator-'));
    const [httpPort, smppPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${httpPort}`;
    const file = path.join(folder, 'service-account.json');
    writeFileSync(file, JSON.stringify(serviceAccount(url)), { mode: 0o600 });
    const settings = loadSettings(SimulatorSettings, {
      SIMULATOR_HTTP_PORT: String(httpPort),
      SIMULATOR_SMPP_PORT: String(smppPort),
      SIMULATOR_SYSTEM_ID: CREDENTIALS.systemId,
      SIMULATOR_PASSWORD: CREDENTIALS.password,
      SIMULATOR_RBM_SERVICE_ACCOUNT_FILE: file,
    });
    const simulator = await openSimulator(settings, () => undefined);
    const account = loadServiceAccount(file);
    const rbm = new RbmClient({ baseUrl: url, account, nowMs: Date.now, onProblem: () => undefined });
    return new SimulatorRoom(url, folder, simulator, smppPort, rbm);
  }

  async close(): Promise<void> {
    this.unbind();
    await this.rbm.stop();
    await this.simulator.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Until it is bound, SMS of the phones reach nobody. */
  async bind(): Promise<void> {
    const session = smpp.connect({ host: '127.0.0.1', port: this.smppPort });
    session.on('error', () => undefined);
    session.on('deliver_sm', (pdu) => {
      this.received.push(sentSms(pdu));
      session.send(pdu.response({ command_status: this.commandStatus }));
    });
    const { systemId: system_id, password } = CREDENTIALS;
    await new Promise((resolve) => session.bind_transceiver({ system_id, password }, resolve));
    this.#session = session;
  }

  unbind(): void {
    this.#session?.destroy();
    this.#session = null;
  }

  /** An SMS of the service to a phone. */
  async sendSms(to: string, text: string, from = INBOUND_NUMBER): Promise<void> {
    const values = {
      source_addr_ton: 1,
      source_addr_npi: 1,
      source_addr: from.slice(1),
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: to.slice(1),
      short_message: text,
    };
    await new Promise((resolve) => this.#session?.submit_sm(values, resolve));
  }

  setPhone(phone: string, changes: object): Promise<unknown> {
    return this.#put(`phones/${phone}`, changes);
  }

  /** A card as a gateway sends it, with these buttons. */
  async sendCard(card: Card, texts: readonly string[] = ['Approve', 'Deny']): Promise<SendOutcome> {
    const suggestions = texts.map((text, index) => ({ text, postback: `v1.${index}.${card.id}` }));
    return this.rbm.send(card, suggestions);
  }

  revoke(card: Card): Promise<unknown> {
    return this.rbm.revoke(card);
  }

  /** What a gateway says after a tap. */
  closeCard(card: Card, verdict: Verdict): Promise<unknown> {
    return this.rbm.close(card, verdict);
  }

  async #put(what: string, body: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/_admin/${what}`, { method: 'PUT', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

/** A card of the demo's brand. */
export function demoCard(phone: string, { numberMatching = false } = {}): Card {
  const now = Date.now();
  const id = newId(now);
  return {
    id,
    accountId: newId(now),
    brandId: newId(now),
    waiter: newId(now),
    agentId: 'countersign_demo',
    phone,
    brandName: 'Acme',
    logoUrl: 'https://acme.example/logo.png',
    numberMatching,
    expiresAt: new Date(now + CARD_LIFE_MS),
    messageId: messageIdOf(id, 'card'),
  };
}

/** A key file of nobody's but this run's. */
function serviceAccount(url: string): object {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return {
    type: 'service_account',
    project_id: 'test',
    private_key_id: 'k1',
    private_key: privateKey,
    client_email: 'gateway@test.example',
    token_uri: `${url}/token`,
  };
}

function sentSms(pdu: PDU): SentSms {
  const { source_addr: from, destination_addr: to, short_message: content } = pdu;
  const text: unknown = typeof content === 'object' && 'message' in content ? content.message : content;
  return { from: `+${String(from)}`, to: `+${String(to)}`, text: typeof text === 'string' ? text : '' };
}
