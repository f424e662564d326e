import { once } from 'node:events';
import smpp, { type PDU, type PduValues, type Server } from 'smpp';
import { SmscLink } from '../../apps/simulator/src/smsc/smsc.link.js';

const OK = 0;

/** How a carrier takes a submit: with these values in its response, or by saying nothing. */
export type Taken = PduValues | 'mute';

/** A carrier on npm `smpp`, a stack that is not ours, that does with submits what a test wants. */
export class Carrier {
  /** Every submit_sm that came, in order. */
  readonly submits: PDU[] = [];
  /** What becomes of the next submits; `takes` again after them. */
  readonly script: ((pdu: PDU) => Taken)[] = [];
  readonly #links = new Set<SmscLink>();
  readonly #server: Server;
  readonly #events = {
    authenticate: (): number => OK,
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

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this.#server.address().port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#links].map((link) => link.unbind()));
    await closed;
  }

  /** Connections that are bound now. */
  get links(): number {
    return [...this.#links].filter(({ bindType }) => bindType !== null).length;
  }

  get isBound(): boolean {
    return [...this.#links].some(({ bindType }) => bindType !== null);
  }

  /** The connections are gone, as when a carrier falls over. */
  drop(): void {
    for (const link of this.#links) link.destroy('dropped by the test');
  }

  /** The id that the submit with that number, from 0, was given. */
  idOf(submit: number): string {
    return `${this.name}-${submit}`;
  }

  /** Sends a receipt over a bound link and answers its command_status. */
  receipt(id: string, stat: string, err = '000'): Promise<number> {
    return this.deliver(receiptOf(id, stat, err));
  }

  /** Sends a deliver_sm over a bound link and answers its command_status. */
  async deliver(values: PduValues): Promise<number> {
    const [link] = [...this.#links].filter(({ receives }) => receives);
    if (link === undefined) throw new Error('nobody is bound who takes it');
    return link.deliver(values);
  }

  #accept(link: SmscLink): void {
    this.#links.add(link);
  }

  #submitted(pdu: PDU, link: SmscLink): void {
    this.submits.push(pdu);
    const id = this.idOf(this.#count++);
    const taken = this.script.shift()?.(pdu) ?? {};
    if (taken !== 'mute') link.answer(pdu, { message_id: id, ...taken });
  }
}

/** The deliver_sm of a receipt, in words alone (SMPP 3.4, appendix B). */
export function receiptOf(id: string, stat: string, err = '000'): PduValues {
  const text = `id:${id} sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:${stat} err:${err} text:`;
  return {
    esm_class: 0x04,
    source_addr: '14155552671',
    destination_addr: '14155550100',
    short_message: Buffer.from(text),
  };
}
