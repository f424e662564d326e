import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { redactPdu } from '@countersign/smpp/capture';
import { SmppLink, type LinkOptions, type LinkRole } from '@countersign/smpp/link';
import { concatenationOf, parseReceipt } from '@countersign/smpp/messages';
import { deliverSm, submitSm } from '@countersign/smpp/pdu';
import { Random } from '../support/random.js';
import { framedMutant, mutant } from './mutator.js';

/** Mutants per connection before the probe. */
const MUTANTS_PER_CONNECTION = 100;
/** One connection in this many ends with PDUs whose command_length is wrong; the probe may then become part of one. */
const UNFRAMED_ONE_IN = 4;
const UNFRAMED_PDUS = 5;
const PROBE = 0x7070_7070;
/** Time without an answer or a close after which a connection has failed. */
const DEAF_MS = 20_000;
/** A PDU of a wrong length may end exactly with the probe and contain it: the probe is repeated. */
const PROBE_AGAIN_MS = 500;
const PDU_READ_MS = 100;
const RESPONSE_MS = 30_000;
const OUR_REQUESTS = 3;

const BIND = Buffer.from('0000002400000009000000000000000165736d6500736563726574004f54500034000000', 'hex');
const BIND_RESP = Buffer.from('00000015800000090000000000000001736d736300', 'hex');

export interface ConnectionOutcome {
  /** PDUs that the link read, malformed ones included. */
  readonly read: number;
  readonly end: 'answered' | 'closed';
}

function enquireLink(): Buffer {
  const octets = Buffer.alloc(16);
  octets.writeUInt32BE(16, 0);
  octets.writeUInt32BE(0x15, 4);
  octets.writeUInt32BE(PROBE, 12);
  return octets;
}

/** Resolves when the link has answered the probe or the connection has ended. */
function answered(socket: Socket): Promise<ConnectionOutcome['end']> {
  return new Promise((resolve) => {
    let unread = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      while (unread.length >= 16 && unread.length >= unread.readUInt32BE(0)) {
        if (unread.readUInt32BE(4) === 0x8000_0015 && unread.readUInt32BE(12) === PROBE) resolve('answered');
        unread = unread.subarray(unread.readUInt32BE(0));
      }
    });
    for (const event of ['end', 'close', 'error']) socket.on(event, () => resolve('closed'));
  });
}

/** Real connections over loopback, each with a link at one end and mutants from the other. */
export class LinkRun {
  readonly #errors: unknown[] = [];

  private constructor(
    private readonly server: Server,
    private readonly pdus: readonly Buffer[],
    private readonly random: Random,
  ) {}

  static async open(pdus: readonly Buffer[], seed: number): Promise<LinkRun> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LinkRun(server, pdus, new Random(seed));
  }

  /** Errors thrown by handlers and listeners: none, if all values passed to them were usable. */
  get errors(): readonly unknown[] {
    return this.#errors;
  }

  /** Throws when the link does not respond, or when one of its requests does not settle. */
  async connection(role: LinkRole): Promise<ConnectionOutcome> {
    const { near, far } = await this.#sockets();
    let read = 0;
    const link = new SmppLink(
      near,
      this.#options(role, () => read++),
    );
    const end = answered(far);
    const requests = await this.#bind(role, link, far);
    const unframed = this.random.below(UNFRAMED_ONE_IN) === 0 ? UNFRAMED_PDUS : 0;
    const wild = Array.from({ length: unframed }, () => mutant(this.pdus, this.random));
    this.#write(far, Buffer.concat([...this.#mutants(), ...wild, enquireLink()]));
    const again = setInterval(() => far.write(enquireLink()), PROBE_AGAIN_MS);
    try {
      return { read, end: await Promise.race([end, this.#deaf(end)]) };
    } finally {
      clearInterval(again);
      far.destroy();
      await link.closed;
      await Promise.all(requests);
    }
  }

  async close(): Promise<void> {
    this.server.close();
    await once(this.server, 'close');
  }

  async #deaf(end: Promise<unknown>): Promise<never> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('a link that is open and deaf')), DEAF_MS);
    });
    void end.finally(() => clearTimeout(timer));
    return late;
  }

  async #sockets(): Promise<{ near: Socket; far: Socket }> {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    const accepted = once(this.server, 'connection') as Promise<[Socket]>;
    const far = connect(address.port, '127.0.0.1');
    const [near] = await accepted;
    return { near, far };
  }

  #options(role: LinkRole, onRead: () => void): LinkOptions {
    const use = (work: () => unknown): void => {
      try {
        work();
      } catch (error) {
        this.#errors.push(error);
      }
    };
    return {
      endpoint:
        role === 'esme'
          ? { role, interfaceVersion: 0x34 }
          : { role, interfaceVersion: 0x34, authenticate: () => Promise.resolve({ status: 0 }) },
      timers: { sessionInitMs: 0, pduReadMs: PDU_READ_MS, enquireLinkMs: 0, responseMs: RESPONSE_MS, inactivityMs: 0 },
      limits: { window: OUR_REQUESTS, maxInbound: 50 },
      handlers: {
        onMessage: (pdu) => {
          use(() => [concatenationOf(pdu), parseReceipt(pdu)]);
          return this.random.below(2) === 0 ? { status: 0, messageId: '1' } : Promise.resolve({ status: 0x58 });
        },
        onPdu: (direction, pdu) => {
          if (direction === 'in') onRead();
          use(() => redactPdu(pdu));
        },
        onMalformed: onRead,
      },
    };
  }

  /** Binds, and leaves requests of the link pending for mutated answers; each of them settles. */
  async #bind(role: LinkRole, link: SmppLink, far: Socket): Promise<readonly Promise<unknown>[]> {
    if (role === 'smsc') {
      far.write(BIND);
    } else {
      const bound = link.bind({ bindType: 'transceiver', systemId: 'esme', password: 'secret' });
      far.write(BIND_RESP);
      await bound;
    }
    while (link.state !== 'bound_trx') await new Promise(setImmediate);
    const pdu = role === 'smsc' ? deliverSm({}) : submitSm({});
    return Array.from({ length: OUR_REQUESTS }, () => link.request(pdu).catch(() => undefined));
  }

  #mutants(): Buffer[] {
    return Array.from({ length: MUTANTS_PER_CONNECTION }, () => {
      const octets = framedMutant(this.pdus, this.random);
      // Small numbers are those of pending requests.
      if (this.random.below(2) === 0) octets.writeUInt32BE(1 + this.random.below(2 * OUR_REQUESTS), 12);
      return octets;
    });
  }

  /** In pieces of any length, so that reads split PDUs. */
  #write(socket: Socket, octets: Buffer): void {
    for (let at = 0; at < octets.length;) {
      const end = at + 1 + this.random.below(4_000);
      if (socket.writable) socket.write(octets.subarray(at, end));
      at = end;
    }
  }
}
