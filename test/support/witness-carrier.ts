import { once } from 'node:events';
import smpp, { type PDU, type PduValues, type Session } from 'smpp';

const OK = 0;
/** Time after which a carrier without a response resends the message. */
const ANSWER_MS = 2_000;

/** One connection of a gateway with the times of its events, by the monotonic clock of this process. */
export interface WitnessedLink {
  readonly session: Session;
  readonly closed: Promise<void>;
  boundMs: number | null;
  unboundMs: number | null;
  closedMs: number | null;
  /** Last time at which the gateway sent a code or answered a message ESME_ROK. */
  lastActMs: number | null;
}

/** A carrier on npm `smpp` that accepts every code and records the activity of each connection. */
export class WitnessCarrier {
  /** All connections, in order of creation. */
  readonly links: WitnessedLink[] = [];
  /** Texts of the received codes, in order. */
  readonly codes: string[] = [];
  readonly #server = smpp.createServer((session) => this.#accept(session));
  #count = 0;

  /** `ignoresUnbind`: the gateway has to close the connection. */
  constructor(private readonly options: { readonly ignoresUnbind?: boolean } = {}) {}

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this.#server.address().port;
  }

  async close(): Promise<void> {
    for (const { session } of this.links) session.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The bound and open connections. */
  get bound(): WitnessedLink[] {
    return this.links.filter(({ boundMs, closedMs }) => boundMs !== null && closedMs === null);
  }

  /** Sends a message over the most recently created bound connection; true when answered ESME_ROK in time. */
  async deliver(values: PduValues): Promise<boolean> {
    const link = this.bound.at(-1);
    if (link === undefined) return false;
    return new Promise((resolve) => {
      const giveUp = (): void => resolve(false);
      const timer = setTimeout(giveUp, ANSWER_MS);
      void link.closed.then(giveUp);
      link.session.deliver_sm(values, ({ command_status: status }) => {
        clearTimeout(timer);
        // A late response counts too: it shows that the gateway acted.
        if (status === OK) link.lastActMs = performance.now();
        resolve(status === OK);
      });
    });
  }

  #accept(session: Session): void {
    const closed = new Promise<void>((resolve) => session.once('close', resolve));
    const link: WitnessedLink = { session, closed, boundMs: null, unboundMs: null, closedMs: null, lastActMs: null };
    this.links.push(link);
    void closed.then(() => (link.closedMs = performance.now()));
    session.on('error', () => undefined);
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('bind_transceiver', (pdu) => {
      link.boundMs = performance.now();
      session.send(pdu.response());
    });
    session.on('unbind', (pdu) => {
      link.unboundMs = performance.now();
      if (this.options.ignoresUnbind === true) return;
      session.send(pdu.response());
      session.close();
    });
    session.on('submit_sm', (pdu) => {
      link.lastActMs = performance.now();
      this.codes.push(textOf(pdu));
      this.#count += 1;
      session.send(pdu.response({ message_id: `w${this.#count}` }));
    });
  }
}

/** The text of a short message as npm `smpp` decodes it. */
export function textOf({ short_message: text }: PDU): string {
  if (text === undefined) return '';
  if (typeof text === 'string' || Buffer.isBuffer(text)) return text.toString();
  return text.message?.toString() ?? '';
}
