import smpp, { type PDU, type PduValues, type Session } from 'smpp';

const ANSWER_WITHIN_MS = 10_000;
const UNBIND_WITHIN_MS = 1_000;
const INTERFACE_VERSION = 0x34;
const BIND_TYPES = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
} as const;

export type BindType = (typeof BIND_TYPES)[keyof typeof BIND_TYPES];

/** The peer has disconnected, or cannot be written to. */
export class LinkLost extends Error {}
/** The peer did not answer within 10 s. */
export class AnswerOverdue extends Error {}

export interface LinkEvents {
  /** The command_status of the answer to a bind. */
  authenticate(systemId: string, password: string): number;
  /** Answers a submit_sm, or leaves it unanswered. */
  onSubmit(pdu: PDU, link: SmscLink): void;
  answersEnquireLink(): boolean;
  onClosed(link: SmscLink, reason: string): void;
}

interface Waiting {
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * One connection of npm `smpp`: after a bad PDU or a listener that throws its session receives nothing more, so each of them
 * closes this connection, and nothing else.
 */
export class SmscLink {
  readonly since = new Date();
  #bindType: BindType | null = null;
  #systemId = '';
  #closeReason: string | null = null;
  #octetsRead = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(
    private readonly session: Session,
    private readonly events: LinkEvents,
  ) {
    session.socket.setNoDelay(true);
    session.on('error', (error) => this.destroy(error.message));
    session.on('close', () => this.#closed());
    session.on('pdu', (pdu) => this.#receive(pdu));
  }

  get bindType(): BindType | null {
    return this.#bindType;
  }

  get systemId(): string {
    return this.#systemId;
  }

  /** Whether the peer accepts deliver_sm. */
  get receives(): boolean {
    return this.#bindType === 'receiver' || this.#bindType === 'transceiver';
  }

  /** Whether octets have arrived that are not a PDU yet. */
  get hasUndecodedOctets(): boolean {
    return this.session.socket.bytesRead > this.#octetsRead;
  }

  get unanswered(): number {
    return this.#waiting.size;
  }

  /** Sends a deliver_sm and resolves with the command_status of its answer. Rejects with LinkLost or AnswerOverdue. */
  deliver(values: PduValues): Promise<number> {
    return this.#request((answered) => this.session.deliver_sm(values, answered));
  }

  answer(pdu: PDU, values: PduValues): void {
    this.session.send(pdu.response(values));
  }

  /** Sends unbind, waits at most a second for the answer, then closes. */
  async unbind(): Promise<void> {
    const overdue = new Promise((resolve) => setTimeout(resolve, UNBIND_WITHIN_MS).unref());
    const answered = this.#request((onResponse) => this.session.unbind({}, onResponse)).catch(() => undefined);
    if (this.#bindType !== null) await Promise.race([answered, overdue]);
    this.destroy('unbound');
  }

  destroy(reason: string): void {
    this.#closeReason ??= reason;
    this.session.destroy();
  }

  #request(send: (onResponse: (response: PDU) => void) => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => finish(() => reject(new AnswerOverdue('no answer within 10 s'))),
        ANSWER_WITHIN_MS,
      );
      const waiting: Waiting = { reject, timer };
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        settle();
      };
      this.#waiting.add(waiting);
      try {
        const sent = send(({ command_status }) => finish(() => resolve(command_status)));
        if (!sent) finish(() => reject(new LinkLost('the link is closed')));
      } catch (error) {
        finish(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    });
  }

  #receive(pdu: PDU): void {
    this.#octetsRead += pdu.command_length;
    try {
      this.#dispatch(pdu);
    } catch (error) {
      this.destroy(`while handling ${pdu.command}: ${String(error)}`);
    }
  }

  #dispatch(pdu: PDU): void {
    switch (pdu.command) {
      case 'bind_transmitter':
      case 'bind_receiver':
      case 'bind_transceiver':
        this.#bind(pdu, BIND_TYPES[pdu.command]);
        return;
      case 'enquire_link':
        if (this.events.answersEnquireLink()) this.answer(pdu, {});
        return;
      case 'unbind':
        this.answer(pdu, {});
        this.#end('unbound by the other side');
        return;
      case 'submit_sm':
        this.#submit(pdu);
        return;
      default:
        if (!pdu.isResponse()) this.#refuse(pdu);
    }
  }

  #bind(pdu: PDU, bindType: BindType): void {
    if (this.#bindType !== null) {
      this.answer(pdu, { command_status: smpp.errors.ESME_RALYBND });
      return;
    }
    const { system_id = '', password = '', interface_version = 0 } = pdu;
    const status = this.events.authenticate(system_id, password);
    if (status !== smpp.errors.ESME_ROK) {
      this.answer(pdu, { command_status: status });
      this.#end(`bind of ${JSON.stringify(system_id)} refused with status ${status}`);
      return;
    }
    this.#bindType = bindType;
    this.#systemId = system_id;
    const takesTlvs = interface_version >= INTERFACE_VERSION;
    this.answer(pdu, { system_id: 'SIMULATOR', ...(takesTlvs ? { sc_interface_version: INTERFACE_VERSION } : {}) });
  }

  #submit(pdu: PDU): void {
    if (this.#bindType === 'transmitter' || this.#bindType === 'transceiver') this.events.onSubmit(pdu, this);
    else this.answer(pdu, { command_status: smpp.errors.ESME_RINVBNDSTS });
  }

  /** Sends a generic_nack: npm `smpp` throws when it builds the answer to a command that has none. */
  #refuse(pdu: PDU): void {
    const values = { command_status: smpp.errors.ESME_RINVCMDID, sequence_number: pdu.sequence_number };
    this.session.send(new smpp.PDU('generic_nack', values));
  }

  /** Closes after pending writes are flushed. */
  #end(reason: string): void {
    this.#closeReason ??= reason;
    this.session.close();
  }

  #closed(): void {
    const reason = this.#closeReason ?? 'closed by the other side';
    for (const { reject, timer } of this.#waiting) {
      clearTimeout(timer);
      reject(new LinkLost(reason));
    }
    this.#waiting.clear();
    this.events.onClosed(this, reason);
  }
}
