import { type Card, messageIdOf, type SendOutcome, type Verdict } from '@countersign/rcs/rules';
import { newId } from '@countersign/ids';
import smpp, { type PDU, type Session } from 'smpp';
import { RbmClient } from '../../apps/gateway/src/rcs/rbm/rbm-client.js';
import { loadServiceAccount } from '../../apps/gateway/src/rcs/rbm/service-account.js';
import { openRbmEmulator, type RbmEmulator } from './rbm-emulator.js';

const OK = 0;
const CARD_LIFE_MS = 90_000;
export const INBOUND_NUMBER = '+14155550199';

/** An SMS that a person sent from the phone. */
export interface SentSms {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** The simulator alone; the harness acts as the product: a bound link, and a client of RCS. */
export class SimulatorHarness {
  /** SMS of the phones, as a gateway would receive them. */
  readonly received: SentSms[] = [];
  /** The status of the next answers. */
  commandStatus = OK;
  #session: Session | null = null;

  private constructor(
    private readonly emulator: RbmEmulator,
    private readonly rbm: RbmClient,
  ) {}

  static async open(): Promise<SimulatorHarness> {
    const emulator = await openRbmEmulator();
    const account = loadServiceAccount(emulator.serviceAccountFile);
    const rbm = new RbmClient({ baseUrl: emulator.url, account, nowMs: Date.now, onProblem: () => undefined });
    return new SimulatorHarness(emulator, rbm);
  }

  get url(): string {
    return this.emulator.url;
  }

  async close(): Promise<void> {
    this.unbind();
    await this.rbm.stop();
    await this.emulator.close();
  }

  /** Before the bind, SMS of the phones have no receiver. */
  async bind(): Promise<void> {
    const { port, systemId, password } = this.emulator.smpp;
    const session = smpp.connect({ host: '127.0.0.1', port });
    session.on('error', () => undefined);
    session.on('deliver_sm', (pdu) => {
      this.received.push(sentSms(pdu));
      session.send(pdu.response({ command_status: this.commandStatus }));
    });
    await new Promise((resolve) => session.bind_transceiver({ system_id: systemId, password }, resolve));
    this.#session = session;
  }

  unbind(): void {
    this.#session?.destroy();
    this.#session = null;
  }

  /** Sends an SMS of the service to a phone. */
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

  async setPhone(phone: string, changes: object): Promise<void> {
    const { status, body } = await this.emulator.admin('PUT', `/_admin/phones/${phone}`, changes);
    if (status !== 200) throw new Error(`${phone}: ${status} ${JSON.stringify(body)}`);
  }

  /** Sends a card as a gateway does, with these buttons. */
  async sendCard(card: Card, texts: readonly string[] = ['Approve', 'Deny']): Promise<SendOutcome> {
    const suggestions = texts.map((text, index) => ({ text, postback: `v1.${index}.${card.id}` }));
    return this.rbm.sendCard(card, suggestions);
  }

  revoke(card: Card): Promise<unknown> {
    return this.rbm.revoke(card);
  }

  /** Sends the message that a gateway sends after a tap. */
  closeCard(card: Card, verdict: Verdict): Promise<unknown> {
    return this.rbm.sendClosingText(card, verdict);
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
    originProcess: newId(now),
    agentId: 'countersign_demo',
    phone,
    brandName: 'Acme',
    logoUrl: 'https://acme.example/logo.png',
    numberMatching,
    keyVersion: 1,
    expiresAt: new Date(now + CARD_LIFE_MS),
    messageId: messageIdOf(id, 'card'),
  };
}

function sentSms(pdu: PDU): SentSms {
  const { source_addr: from, destination_addr: to, short_message: content } = pdu;
  const text: unknown = typeof content === 'object' && 'message' in content ? content.message : content;
  return { from: `+${String(from)}`, to: `+${String(to)}`, text: typeof text === 'string' ? text : '' };
}
