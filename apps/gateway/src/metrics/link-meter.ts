import type { Pdu } from '@countersign/smpp/pdu';
import { isThrottle } from './throttle.js';

/** Commands of ours whose answers are timed. */
const TIMED = new Set(['submit_sm', 'enquire_link'] as const);
export type TimedCommand = typeof TIMED extends Set<infer Command> ? Command : never;
const isTimed = (command: string): command is TimedCommand => (TIMED as ReadonlySet<string>).has(command);

const BINDS: ReadonlySet<string> = new Set(['bind_transmitter', 'bind_receiver', 'bind_transceiver']);
/** A mute carrier's requests are forgotten one by one, the oldest first; a window is seldom as wide. */
const MAX_TIMED = 2_000;

const MS_PER_SECOND = 1_000;

export type Direction = 'in' | 'out';

/** Where the figures of one peer go. */
export interface PeerCounts {
  countPdu(direction: Direction, pdu: Pdu): void;
  countThrottle(direction: Direction): void;
  observeResponse(command: TimedCommand, seconds: number): void;
}

/** Sees every PDU of one link: how many, how they were answered, and how soon those of ours were. */
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

  /** Whose link it is from here on: a connection is nobody's until it binds, and a bind may get another name. */
  setPeer(peer: string): void {
    if (peer === this.#peer) return;
    this.#peer = peer;
    this.#counts = this.countsOf(peer);
  }

  /** `nowMs` by the monotonic clock. */
  countPdu(direction: Direction, pdu: Pdu, nowMs: number): void {
    this.#counts.countPdu(direction, pdu);
    if (isThrottle(pdu)) this.#counts.countThrottle(direction);
    // A bind is the first of its connection, whose numbers begin anew.
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

  /** Both sides count for themselves: a request of the peer may have the number of one of ours. */
  private stopTimer({ command, sequence }: Pdu, nowMs: number): void {
    if (command !== 'submit_sm_resp' && command !== 'enquire_link_resp' && command !== 'generic_nack') return;
    const sent = this.#sent.get(sequence);
    if (sent === undefined) return;
    this.#sent.delete(sequence);
    this.#counts.observeResponse(sent.command, Math.max(0, nowMs - sent.atMs) / MS_PER_SECOND);
  }
}
