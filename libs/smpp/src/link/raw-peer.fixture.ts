import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { EsmeEndpoint, LinkHandlers, LinkLimits, LinkOptions, SmscEndpoint } from './link-options.js';
import type { BindType, LinkRole } from './link-state.js';
import { STATUS } from '../pdu/dictionary.js';
import { ID, RESP, bind, cstring, pdu, tlv, uint8 } from '../codec/octets.fixture.js';
import type { BindParts } from '../codec/octets.fixture.js';
import { SmppLink } from './smpp-link.js';

/** A PDU as read by a raw peer. */
export interface RawPdu {
  readonly id: number;
  readonly status: number;
  readonly sequence: number;
  readonly octets: Buffer;
}

/** The other side of a link, without an SMPP engine: sends any octets, splits answers by command_length only. */
export class RawPeer {
  readonly #received: RawPdu[] = [];
  #partial = Buffer.alloc(0);
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.#partial = Buffer.concat([this.#partial, chunk]);
      this.#cut();
    });
    socket.on('end', () => socket.end());
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#isClosed = true;
        this.#wake();
      });
    }
  }

  /** Connects to a port of this machine; over TLS with `ca`, the PEM of the authority to trust. */
  static async connect(port: number, ca?: string): Promise<RawPeer> {
    const at = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = ca === undefined ? connect(at) : connectTls({ ...at, ca });
    const peer = new RawPeer(socket);
    await once(socket, ca === undefined ? 'connect' : 'secureConnect');
    return peer;
  }

  /** Sends a bind, as transceiver by default, and returns its response. */
  bind(
    systemId: string,
    password: string,
    changes: { readonly id?: number; readonly version?: number } = {},
  ): Promise<RawPdu> {
    this.send(bind(changes.id, { systemId, password, ...changes }));
    return this.answer(1);
  }

  /** Sends FIN: the other side can still answer. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  send(...octets: readonly Uint8Array[]): void {
    if (this.socket.writable) this.socket.write(Buffer.concat(octets));
  }

  /** The next PDU that matches, at any position; `closed` when the connection ends without one. */
  async receive(fits: (pdu: RawPdu) => boolean = () => true): Promise<RawPdu | 'closed'> {
    for (;;) {
      const at = this.#received.findIndex(fits);
      const found = at === -1 ? undefined : this.#received.splice(at, 1)[0];
      if (found !== undefined) return found;
      if (this.#isClosed) return 'closed';
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The response with that sequence number. */
  async answer(sequence: number): Promise<RawPdu> {
    const pdu = await this.receive((received) => received.id >= 0x8000_0000 && received.sequence === sequence);
    if (pdu === 'closed') throw new Error(`closed before the answer to ${sequence}`);
    return pdu;
  }

  /** The next request of that command_id from the link under test. */
  async request(id: number): Promise<RawPdu> {
    const pdu = await this.receive((received) => received.id === id);
    if (pdu === 'closed') throw new Error(`closed before a request 0x${id.toString(16)}`);
    return pdu;
  }

  /** The PDUs that were received and not read. */
  get unread(): readonly RawPdu[] {
    return this.#received;
  }

  /** Waits for the connection to close; returns how many PDUs were still unread. */
  async closed(): Promise<number> {
    while (!this.#isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#received.length;
  }

  #cut(): void {
    while (this.#partial.length >= 16 && this.#partial.length >= this.#partial.readUInt32BE(0)) {
      const octets = this.#partial.subarray(0, this.#partial.readUInt32BE(0));
      this.#partial = this.#partial.subarray(octets.length);
      const [id, status, sequence] = [octets.readUInt32BE(4), octets.readUInt32BE(8), octets.readUInt32BE(12)];
      this.#received.push({ id, status, sequence, octets });
    }
    this.#wake();
  }
}

export const CREDENTIALS = { systemId: 'esme', password: 'secret' };

/** Timers that never fire within a test. */
export const PATIENT = {
  sessionInitMs: 20_000,
  pduReadMs: 20_000,
  enquireLinkMs: 20_000,
  responseMs: 20_000,
  inactivityMs: 0,
};

/** The options of a link under test in one flat object; those of the endpoint of the other role are ignored. */
export type FlatLinkOptions = LinkHandlers &
  LinkLimits &
  Pick<LinkOptions, 'timers'> & { readonly role: LinkRole } & Omit<EsmeEndpoint, 'role'> &
  Omit<SmscEndpoint, 'role'>;

export function linkOptions(changed: Partial<FlatLinkOptions> = {}): LinkOptions {
  const all: FlatLinkOptions = {
    role: 'smsc',
    timers: PATIENT,
    window: 10,
    maxInbound: 10,
    interfaceVersion: 0x34,
    systemId: 'gateway',
    authenticate: () => Promise.resolve({ status: STATUS.ESME_ROK }),
    onMessage: () => Promise.resolve({ status: STATUS.ESME_ROK, messageId: 'id-1' }),
    ...changed,
  };
  const endpoint = all.role === 'esme' ? { ...all, role: all.role } : { ...all, role: all.role };
  return { endpoint, timers: all.timers, limits: all, handlers: all };
}

/** Pairs of connected loopback sockets: a link on the near side, a peer of the test's choice on the far side. */
export class Loopback {
  readonly #links: SmppLink[] = [];
  readonly #far: Socket[] = [];

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Loopback> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Loopback(server);
  }

  async sockets(): Promise<{ near: Socket; far: Socket }> {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    const accepted = once(this.server, 'connection');
    // A peer may close its sending side and still read.
    const far = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true });
    this.#far.push(far);
    const [near] = (await accepted) as [Socket];
    return { near, far };
  }

  async link(options: LinkOptions): Promise<{ link: SmppLink; peer: RawPeer }> {
    const { near, far } = await this.sockets();
    const link = new SmppLink(near, options);
    this.#links.push(link);
    return { link, peer: new RawPeer(far) };
  }

  /** An SMSC link and a raw ESME bound to it. */
  async boundSmsc(
    changed: Partial<FlatLinkOptions> = {},
    id: number = ID.bind_transceiver,
    parts: BindParts = {},
  ): Promise<{ link: SmppLink; peer: RawPeer }> {
    const pair = await this.link(linkOptions(changed));
    pair.peer.send(bind(id, parts));
    await pair.peer.answer(1);
    return pair;
  }

  /** An ESME link bound to a raw SMSC. */
  async boundEsme(
    bindType: BindType,
    changed: Partial<FlatLinkOptions> = {},
    answerTlvs: readonly Uint8Array[] = [tlv(0x0210, uint8(0x34))],
  ): Promise<{ link: SmppLink; peer: RawPeer }> {
    const { link, peer } = await this.link(linkOptions({ role: 'esme', ...changed }));
    const bound = link.bind({ bindType, ...CREDENTIALS });
    const { sequence } = await peer.request(ID[`bind_${bindType}`]);
    peer.send(pdu(RESP + ID[`bind_${bindType}`], sequence, [cstring('smsc'), ...answerTlvs]));
    await bound;
    return { link, peer };
  }

  /** Two links connected to each other. */
  async links(smsc: LinkOptions, esme: LinkOptions): Promise<{ smsc: SmppLink; esme: SmppLink }> {
    const { near, far } = await this.sockets();
    const pair = { smsc: new SmppLink(near, smsc), esme: new SmppLink(far, esme) };
    this.#links.push(pair.smsc, pair.esme);
    return pair;
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.destroy('the test is over');
    for (const socket of this.#far) socket.destroy();
    await Promise.all(this.#links.map((link) => link.closed));
    this.server.close();
    await once(this.server, 'close');
  }
}
