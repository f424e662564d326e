import { once } from 'node:events';
import smpp, { type PDU, type PduValues, type Server } from 'smpp';
import { SmscLink } from '../../apps/simulator/src/smsc/smsc.link.js';

const OK = 0;

/** The response of a carrier to a submit: fields, or none (`mute`). */
export type SubmitResponse = PduValues | 'mute';

/** A carrier on npm `smpp`, an independent stack, with scripted responses to submits. */
export class Carrier {
  /** Every received submit_sm, in order. */
  readonly submits: PDU[] = [];
  /** Responses to the next submits; after them every submit is accepted. */
  readonly script: ((pdu: PDU) => SubmitResponse)[] = [];
  readonly #links = new Set<SmscLink>();
  readonly #server: Server;
  /** The response to a submit without a script. */
  respond: (pdu: PDU) => SubmitResponse = () => ({});
  /** The status of the next binds. */
  authenticate: () => number = () => OK;
  readonly #events = {
    authenticate: (): number => this.authenticate(),
    answersEnquireLink: (): boolean => true,
    onSubmit: (pdu: PDU, link: SmscLink): void => this.#submitted(pdu, link),
    onClosed: (link: SmscLink): void => void this.#links.delete(link),
  };
  #count = 0;

  constructor(
    readonly name: string,
    /** Another version of the stack. */
    stack = smpp,
  ) {
    this.#server = stack.createServer((session) => this.#accept(new SmscLink(session, this.#events)));
  }

  /** Resolves with the port; 0 for any. */
  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this.#server.address().port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#links].map((link) => link.unbind()));
    await closed;
  }

  /** Number of bound connections. */
  get links(): number {
    return [...this.#links].filter(({ bindType }) => bindType !== null).length;
  }

  get isBound(): boolean {
    return [...this.#links].some(({ bindType }) => bindType !== null);
  }

  /** Destroys all connections, as in a crash of the carrier. */
  drop(): void {
    for (const link of this.#links) link.destroy('dropped by the test');
  }

  /** The message id of the submit with this number, from 0. */
  idOf(submit: number): string {
    return `${this.name}-${submit}`;
  }

  /** Sends a receipt over a bound link and returns the command_status of its response. */
  sendReceipt(id: string, stat: string, err = '000'): Promise<number> {
    return this.deliver(receiptOf(id, stat, err));
  }

  /** Sends a deliver_sm over a bound link and returns the command_status of its response. */
  async deliver(values: PduValues): Promise<number> {
    const [link] = [...this.#links].filter(({ receives }) => receives);
    if (link === undefined) throw new Error('no link is bound as receiver');
    return link.deliver(values);
  }

  #accept(link: SmscLink): void {
    this.#links.add(link);
  }

  #submitted(pdu: PDU, link: SmscLink): void {
    this.submits.push(pdu);
    const id = this.idOf(this.#count++);
    const response = (this.script.shift() ?? this.respond)(pdu);
    if (response !== 'mute') link.answer(pdu, { message_id: id, ...response });
  }
}

/** The deliver_sm of a receipt in text form, without TLVs (SMPP 3.4, appendix B). */
export function receiptOf(id: string, stat: string, err = '000'): PduValues {
  const text = `id:${id} sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:${stat} err:${err} text:`;
  return {
    esm_class: 0x04,
    source_addr: '14155552671',
    destination_addr: '14155550100',
    short_message: Buffer.from(text),
  };
}
