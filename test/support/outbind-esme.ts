import { once } from 'node:events';
import smpp, { type PDU, type PduValues, type Session } from 'smpp';
import { PASSWORD } from './gateway-harness.js';
import type { BindKind } from './esme.js';

const OK = 0;

/** One connection of a gateway to the system. */
export interface CalledConnection {
  readonly session: Session;
  /** The status of the answer to its bind; null before it. */
  status: number | null;
  isClosed: boolean;
}

/** An aggregator on npm `smpp` to which gateways connect: after an outbind it binds over the same connection. */
export class OutbindEsme {
  readonly connections: CalledConnection[] = [];
  /** The outbinds that it received. */
  readonly outbinds: PDU[] = [];
  /** The codes that it received. */
  readonly codes: PDU[] = [];
  /** Credentials and type of its bind; `mute` for no bind. */
  bind: { systemId: string; password?: string; kind?: BindKind } | 'mute';
  readonly #server = smpp.createServer((session) => this.#accept(session));

  constructor(systemId: string) {
    this.bind = { systemId };
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this.#server.address().port;
  }

  async close(): Promise<void> {
    for (const { session } of this.connections) session.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get bound(): CalledConnection[] {
    return this.connections.filter(({ status, isClosed }) => status === OK && !isClosed);
  }

  /** Sends a message over a bound connection, and returns the command_status of its response. */
  send(values: PduValues): Promise<number> {
    const [connection] = this.bound;
    if (connection === undefined) throw new Error('no connection is bound');
    return new Promise((resolve) => {
      connection.session.deliver_sm(values, ({ command_status: status }) => resolve(status));
    });
  }

  #accept(session: Session): void {
    const connection: CalledConnection = { session, status: null, isClosed: false };
    this.connections.push(connection);
    session.on('error', () => undefined);
    session.on('close', () => (connection.isClosed = true));
    session.on('enquire_link', (pdu) => session.send(pdu.response()));
    session.on('unbind', (pdu) => session.send(pdu.response()));
    session.on('deliver_sm', (pdu) => session.send(pdu.response({ message_id: `called-${this.codes.push(pdu) - 1}` })));
    session.on('outbind', (pdu) => {
      this.outbinds.push(pdu);
      if (this.bind === 'mute') return;
      const { systemId: system_id, password = PASSWORD, kind = 'bind_transceiver' } = this.bind;
      const values = { system_id, password, interface_version: 0x34 };
      session[kind](values, ({ command_status: status }) => (connection.status = status));
    });
  }
}
