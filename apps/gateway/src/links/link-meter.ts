import type { Pdu } from '@countersign/smpp/pdu';
import { isThrottle } from './throttle.js';

/** Our requests whose response time is measured. */
const TIMED = new Set(['submit_sm', 'deliver_sm', 'enquire_link'] as const);
export type TimedCommand = typeof TIMED extends Set<infer Command> ? Command : never;
/** Responses to them. */
const STOPS: ReadonlySet<string> = new Set(['submit_sm_resp', 'deliver_sm_resp', 'enquire_link_resp', 'generic_nack']);
const isTimed = (command: string): command is TimedCommand => (TIMED as ReadonlySet<string>).has(command);

const BINDS: ReadonlySet<string> = new Set(['bind_transmitter', 'bind_receiver', 'bind_transceiver']);
/** Maximum requests timed at once; the oldest is dropped for a new one. Windows are rarely as large. */
const MAX_TIMED = 2_000;

const MS_PER_SECOND = 1_000;

export type Direction = 'in' | 'out';

/** The metrics of one peer. */
export interface PeerCounts {
  countPdu(direction: Direction, pdu: Pdu): void;
  countThrottle(direction: Direction): void;
  observeResponse(command: TimedCommand, seconds: number): void;
}

/** Counts the PDUs of one link by status and measures response times. */
export class LinkMeter {
  readonly #sent = new Map<number, { readonly command: TimedCommand; readonly atMs: number }>();

  #peer: string;
  #counts: PeerCounts;

  constructor(
    private readonly countsOf: (peer: string) => PeerCounts,
    peer: string,
  ) {
    this.#peer = peer;
    this.#counts = countsOf(peer);
  }

  /** Sets the peer of the following PDUs: a connection has none before its bind, and a bind can be renamed. */
  setPeer(peer: string): void {
    if (peer === this.#peer) return;
    this.#peer = peer;
    this.#counts = this.countsOf(peer);
  }

  /** `nowMs` of the monotonic clock. */
  countPdu(direction: Direction, pdu: Pdu, nowMs: number): void {
    this.#counts.countPdu(direction, pdu);
    if (isThrottle(pdu)) this.#counts.countThrottle(direction);
    // A bind is the first PDU of a connection, and sequence numbers restart.
    if (BINDS.has(pdu.command)) this.#sent.clear();
    if (direction === 'out' && isTimed(pdu.command)) this.startTimer(pdu.sequence, pdu.command, nowMs);
    else if (direction === 'in' && this.#sent.size > 0) this.stopTimer(pdu, nowMs);
  }

  private startTimer(sequence: number, command: TimedCommand, nowMs: number): void {
    if (this.#sent.size >= MAX_TIMED) {
      const [oldest] = this.#sent.keys();
      if (oldest !== undefined) this.#sent.delete(oldest);
    }
    this.#sent.set(sequence, { command, atMs: nowMs });
  }

  /** Ignores requests of the peer: each side numbers its own, so sequence numbers can be equal. */
  private stopTimer({ command, sequence }: Pdu, nowMs: number): void {
    if (!STOPS.has(command)) return;
    const sent = this.#sent.get(sequence);
    if (sent === undefined) return;
    this.#sent.delete(sequence);
    this.#counts.observeResponse(sent.command, Math.max(0, nowMs - sent.atMs) / MS_PER_SECOND);
  }
}
