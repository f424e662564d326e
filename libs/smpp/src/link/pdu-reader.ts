import { LIMITS_OF_34, decodePdu } from '../codec/decode.js';
import { MAX_PDU_OCTETS } from '../codec/encode.js';
import { Framer } from '../codec/framer.js';
import type { MalformedPdu, Pdu } from '../pdu/pdu.js';
import type { LinkTap } from './link-tap.js';

/** Largest PDU before the bind, in octets: bounds memory for an unauthenticated peer. */
const MAX_PDU_OCTETS_BEFORE_BIND = 1_000;

interface PduReaderOptions {
  readonly tap: LinkTap;
  onReceived(pdu: Pdu | MalformedPdu): void;
  /**
   * One read of the socket was processed; `partial`: it ended inside a PDU, `completed`: it completed at least one.
   */
  onReadDone(read: { readonly partial: boolean; readonly completed: boolean }): void;
}

/** Finds and decodes the PDUs in the octets of one connection. */
export class PduReader {
  readonly #framer = new Framer(MAX_PDU_OCTETS_BEFORE_BIND);
  #limits = LIMITS_OF_34;
  #stopped = false;

  constructor(private readonly options: PduReaderOptions) {}

  /** Call after the bind: allows long messages, and the fields of the agreed version. */
  raiseLimits(limits: typeof LIMITS_OF_34): void {
    this.#limits = limits;
    this.#framer.limit = MAX_PDU_OCTETS;
  }

  /** No further PDU is decoded. */
  stop(): void {
    this.#stopped = true;
  }

  /** As `stop`, while a PDU is received; returns the octets behind it. */
  takeRest(): Buffer {
    this.#stopped = true;
    return this.#framer.takeRest();
  }

  /** False for a command_length outside its limits: no further PDU can be found. */
  read(chunk: Buffer): boolean {
    const framer = this.#framer;
    framer.push(chunk);
    let outcome = framer.next();
    const completed = outcome === 'frame';
    while (outcome === 'frame' && !this.#stopped) {
      this.#receive(framer.octets, framer.start, framer.end);
      outcome = framer.next();
    }
    if (this.#stopped) return true;
    if (outcome === 'lost') return false;
    this.options.onReadDone({ partial: framer.isPartial, completed });
    return true;
  }

  #receive(octets: Buffer, start: number, end: number): void {
    const { tap } = this.options;
    if (tap.takesOctets) tap.octets('in', octets.subarray(start, end));
    const pdu = decodePdu(octets, start, end, this.#limits);
    if (pdu.command !== 'malformed') tap.pdu('in', pdu);
    this.options.onReceived(pdu);
  }
}
