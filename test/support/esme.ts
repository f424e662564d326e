import smpp, { type PDU, type PduValues, type Session, type SessionOptions } from 'smpp';

export type BindKind = 'bind_transceiver' | 'bind_transmitter' | 'bind_receiver';
export type MessageCommand = 'submit_sm' | 'data_sm' | 'deliver_sm';

export interface EsmeAccount {
  readonly port: number;
  readonly systemId: string;
  readonly password: string;
  readonly bind?: BindKind;
  /** PEM of the authority to trust; plain without. */
  readonly ca?: string;
  readonly interfaceVersion?: number;
  /** Further options of the connection: local address, client certificate. */
  readonly connection?: SessionOptions;
  /** Another version of the stack. */
  readonly stack?: typeof smpp;
}

const ANSWER_MS = 30_000;

/** A peer that connects in, on npm `smpp`, an independent stack. One connection, without reconnection. */
export class Esme {
  /** Resolves when the connection is closed by either side. */
  readonly closed: Promise<void>;

  private constructor(readonly session: Session) {
    session.on('error', () => undefined);
    this.closed = new Promise((resolve) => session.on('close', resolve));
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('unbind', (pdu) => session.send(pdu.response()));
  }

  /** Connects without a bind. */
  static async connect(account: Pick<EsmeAccount, 'port' | 'ca' | 'connection' | 'stack'>): Promise<Esme> {
    const { port, ca, connection, stack = smpp } = account;
    const withTls = ca === undefined ? {} : { tls: true, ca, rejectUnauthorized: true };
    const session = stack.connect({ host: '127.0.0.1', port, ...withTls, ...connection });
    const esme = new Esme(session);
    await new Promise<void>((resolve, reject) => {
      session.once('connect', resolve);
      session.once('error', reject);
    });
    return esme;
  }

  /** Connects and binds; throws unless the bind is answered ESME_ROK. */
  static async bound(account: EsmeAccount): Promise<Esme> {
    const esme = await Esme.connect(account);
    const answer = await esme.bind(account);
    if (answer.command_status !== 0) throw new Error(`bind refused with status ${answer.command_status}`);
    return esme;
  }

  bind({
    systemId: system_id,
    password,
    bind = 'bind_transceiver',
    interfaceVersion = 0x34,
  }: EsmeAccount): Promise<PDU> {
    return this.#answered(bind, (onAnswer) =>
      this.session[bind]({ system_id, password, interface_version: interfaceVersion }, onAnswer),
    );
  }

  /** Sends a message unchanged and returns its response. */
  send(command: MessageCommand, values: PduValues): Promise<PDU> {
    return this.#answered(command, (onAnswer) => this.session[command](values, onAnswer));
  }

  enquireLink(): Promise<PDU> {
    return this.#answered('enquire_link', (onAnswer) => this.session.enquire_link({}, onAnswer));
  }

  destroy(): void {
    this.session.destroy();
  }

  #answered(what: string, send: (onAnswer: (answer: PDU) => void) => boolean): Promise<PDU> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${what}: no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
      void this.closed.then(() => reject(new Error(`${what}: the connection was closed`)));
      send((answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }
}
