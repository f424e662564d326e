import { randomBytes } from 'node:crypto';
import { SealError, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { SET_FULL_TRACE } from './bind-trace.sql.js';

export const TRACE_FORMATS = ['json', 'pcap'] as const;
export type TraceFormat = (typeof TRACE_FORMATS)[number];

/** Allowed duration of full tracing, in seconds. */
export const FULL_TRACE_SECONDS = { min: 1, max: 3_600 } as const;

/** A trace request to a gateway over the bus, as JSON. */
export interface TraceQuestion {
  readonly bindId: Uuid;
  readonly format: TraceFormat;
  /** Random, of this question alone: its answer is sealed for it. Null from an earlier release, which sends none. */
  readonly nonce: string | null;
}

/** Octets of a question's nonce. */
const NONCE_OCTETS = 16;

export const newTraceNonce = (): string => randomBytes(NONCE_OCTETS).toString('hex');

/** A PDU as a gateway recorded it. */
export interface TracedPdu {
  /** RFC 3339. */
  readonly at: string;
  /** `in` from the carrier. */
  readonly direction: 'in' | 'out';
  /** Both endpoints of the connection, `address:port`. */
  readonly local: string;
  readonly remote: string;
  /** The SMPP name; null for an unknown command. */
  readonly command: string | null;
  /** The SMPP name, `ESME_ROK`. */
  readonly status: string;
  readonly sequence: number;
  /** By name; texts as their lengths, empty if malformed. */
  readonly fields: object;
  readonly tlvs: object;
  /** The decoding error; null for a valid PDU. */
  readonly fault: string | null;
  /** The whole PDU in hexadecimal; redacted octets are `2a`. */
  readonly octets: string;
}

export interface TracedConnection {
  /** Slot of the bind's connection, from 0. */
  readonly slot: number;
  /** Oldest first. */
  readonly pdus: readonly TracedPdu[];
}

/** A gateway's answer in JSON format; in pcap format it is a capture file. */
export interface TraceAnswer {
  readonly connections: readonly TracedConnection[];
}

/**
 * Seals questions and answers for the bus: an answer holds phone numbers and, while texts are recorded, codes. The context
 * of the seal names gateway and direction, so a replayed question yields a sealed answer only; that of an answer also
 * names the nonce of its question, so an answer to another question does not open.
 */
export class TraceSeal {
  constructor(
    private readonly keys: ServerKeys,
    private readonly gatewayId: Uuid,
  ) {}

  question(question: TraceQuestion): Buffer {
    return this.keys.seal('trace', JSON.stringify(question), `question:${this.gatewayId}`);
  }

  answer(octets: string | Uint8Array, { nonce }: Pick<TraceQuestion, 'nonce'>): Buffer {
    return this.keys.seal('trace', octets, this.answerContext(nonce));
  }

  /** Null for what no holder of the master key has sealed. */
  openQuestion(sealed: Uint8Array): Buffer | null {
    return this.open(sealed, `question:${this.gatewayId}`);
  }

  /**
   * Null for what no holder of the master key has sealed for this question. A gateway of an earlier release seals for any
   * question; one of this release does so only for a control plane of an earlier release. A gateway's id is of one
   * process, so after an upgrade there is no such answer that could be replayed.
   */
  openAnswer(sealed: Uint8Array, { nonce }: Pick<TraceQuestion, 'nonce'>): Buffer | null {
    return this.open(sealed, this.answerContext(nonce)) ?? this.open(sealed, this.answerContext(null));
  }

  private answerContext(nonce: string | null): string {
    return `answer:${this.gatewayId}${nonce === null ? '' : `:${nonce}`}`;
  }

  private open(sealed: Uint8Array, context: string): Buffer | null {
    try {
      return this.keys.open('trace', sealed, context);
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}

/**
 * Records texts for that many seconds from now, by the database's clock; returns the end. Null for an unknown bind.
 */
export async function recordFully(tx: Executor, bindId: Uuid, seconds: number): Promise<Date | null> {
  const [row] = await tx.query<{ fullTraceUntil: Date }>(SET_FULL_TRACE, [bindId, seconds]);
  return row?.fullTraceUntil ?? null;
}
