import { once } from 'node:events';
import smpp, { type PDU, type PduValues, type SessionOptions } from 'smpp';
import { SmscLink } from '../../apps/simulator/src/smsc/smsc.link.js';
import { PASSWORD } from './gateway-harness.js';

const OK = 0;

export interface OutbindCall {
  readonly port: number;
  readonly systemId?: string;
  readonly password?: string;
  /** The status of the answer to the bind. */
  readonly bindStatus?: number;
  /** The responses to codes are sent when it resolves. */
  readonly answersAfter?: Promise<unknown>;
  readonly connection?: SessionOptions;
}

/** A carrier on npm `smpp` that connects to the gateway, sends outbind and waits for a bind. One connection. */
export class OutbindSmsc {
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
  /** The binds that it received. */
  readonly binds: PDU[] = [];
  readonly submits: PDU[] = [];
  #link: SmscLink;
  #isClosed = false;
  /** Whether the gateway has sent unbind. */
  hasUnbound = false;

  private constructor(
    private readonly session: ReturnType<typeof smpp.connect>,
    bindStatus: number,
    answersAfter: Promise<unknown>,
  ) {
    this.#link = new SmscLink(session, {
      authenticate: () => bindStatus,
      answersEnquireLink: () => true,
      onSubmit: (pdu, link) => {
        this.submits.push(pdu);
        const messageId = `out-${this.submits.length}`;
        void answersAfter.then(() => link.answer(pdu, { message_id: messageId }));
      },
      onClosed: () => undefined,
    });
    for (const bind of ['bind_transceiver', 'bind_receiver', 'bind_transmitter'] as const)
      session.on(bind, (pdu: PDU) => void this.binds.push(pdu));
    session.on('unbind', () => (this.hasUnbound = true));
    this.closed = new Promise((resolve) =>
      session.on('close', () => {
        this.#isClosed = true;
        resolve();
      }),
    );
  }

  /** Connects and sends outbind. */
  static async outbind({
    port,
    systemId = 'smsc',
    password = PASSWORD,
    bindStatus = OK,
    answersAfter = Promise.resolve(),
    connection,
  }: OutbindCall): Promise<OutbindSmsc> {
    const session = smpp.connect({ host: '127.0.0.1', port, ...connection });
    session.on('error', () => undefined);
    const smsc = new OutbindSmsc(session, bindStatus, answersAfter);
    await Promise.race([once(session, 'connect'), smsc.closed]);
    smsc.sendOutbind(systemId, password);
    return smsc;
  }

  sendOutbind(systemId = 'smsc', password = PASSWORD): void {
    this.session.send(new smpp.PDU('outbind', { system_id: systemId, password }));
  }

  get isBound(): boolean {
    return !this.#isClosed && this.#link.bindType !== null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a deliver_sm and returns the command_status of its response. */
  deliver(values: PduValues): Promise<number> {
    return this.#link.deliver(values);
  }

  destroy(): void {
    this.session.destroy();
  }
}
