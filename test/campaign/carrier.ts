import type { PDU } from 'smpp';
import { Carrier, receiptOf, type SubmitResponse } from '../support/carrier.js';
import { textOf } from '../support/witness-carrier.js';
import type { Random } from '../support/random.js';

const CODE = /\b\d{6}\b/;
/** ESME_RTHROTTLED, ESME_RMSGQFUL. */
const BUSY: readonly [number, number] = [0x58, 0x14];
/** Of the submits, those that are answered busy, or not at all. */
const BUSY_SHARE = 0.03;
const MUTE_SHARE = 0.01;
/** Of the accepted ones, those that get a receipt. */
const RECEIPT_SHARE = 0.5;

/** A carrier that receives codes: it is sometimes busy, sometimes does not answer, and sends receipts of some. */
export class CodeCarrier {
  readonly #carrier = new Carrier('north');
  readonly #codes = new Map<string, string[]>();
  /** Receipts that are under way. */
  readonly #receipts = new Set<Promise<unknown>>();
  #ids = 0;

  constructor(private readonly random: Random) {
    this.#carrier.respond = (pdu) => this.#respond(pdu);
  }

  listen(): Promise<number> {
    return this.#carrier.listen();
  }

  async close(): Promise<void> {
    await Promise.all(this.#receipts);
    await this.#carrier.close();
  }

  /** Breaks all connections. */
  drop(): void {
    this.#carrier.drop();
  }

  get isBound(): boolean {
    return this.#carrier.isBound;
  }

  /** The codes that a phone has received, each as often as its SMS came. */
  codesOf(phone: string): readonly string[] {
    return this.#codes.get(phone) ?? [];
  }

  #respond(pdu: PDU): SubmitResponse {
    if (this.random.chance(BUSY_SHARE)) return { command_status: this.random.pick(BUSY) };
    const phone = `+${String(pdu.destination_addr).replace('+', '')}`;
    const [code = ''] = CODE.exec(textOf(pdu)) ?? [];
    this.#codes.set(phone, [...this.codesOf(phone), code]);
    if (this.random.chance(MUTE_SHARE)) return 'mute';
    const id = `c${++this.#ids}`;
    if (this.random.chance(RECEIPT_SHARE)) this.#sendReceipt(id);
    return { message_id: id };
  }

  /** Follows the response; it is lost with the connection. */
  #sendReceipt(id: string): void {
    const sending = new Promise((resolve) => setImmediate(resolve))
      .then(() => this.#carrier.deliver(receiptOf(id, 'DELIVRD')))
      .catch(() => undefined)
      .finally(() => this.#receipts.delete(sending));
    this.#receipts.add(sending);
  }
}
