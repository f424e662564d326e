import { Inject, Injectable } from '@nestjs/common';
import { slotKey, type BindSlotName } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { PduRing, type LinkEnds, type RecordedPdu } from './pdu-ring.js';

/** Maximum recorded connections; the least recently connected one is dropped first. 64 MiB at most. */
const MAX_CONNECTIONS = 256;

/** A bind connection for the lifetime of one link. */
export interface TappedLink extends BindSlotName {
  readonly ends: LinkEnds;
  /** Time until which texts are recorded, from the row; null: no texts. */
  readonly fullUntil: () => Date | null;
}

export interface RecordedConnection {
  readonly slot: number;
  readonly pdus: readonly RecordedPdu[];
}

interface Recording extends BindSlotName {
  readonly ring: PduRing;
  readonly fullUntil: () => Date | null;
}

/**
 * Records the last PDUs of every bind connection, for analysis with a carrier. Records outlive the links, so that they show
 * why a link ended. Passwords are never recorded, texts only while an engineer has enabled full traces.
 */
@Injectable()
export class FlightRecorder {
  readonly #recordings = new Map<string, Recording>();

  /** Times are of the database, so that records can be compared with rows. */
  constructor(@Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>) {}

  /** Starts recording a link; returns the listener for its octets. The text of a confidential PDU is never recorded. */
  tap(link: TappedLink): (direction: 'in' | 'out', octets: Buffer, isConfidential?: boolean) => void {
    const { ends } = link;
    const { ring } = this.startRecording(link);
    return (direction, octets, isConfidential = false) => {
      const atMs = this.clock.nowMs();
      ring.add({ atMs, direction, octets, ends }, isFull(link, atMs), isConfidential);
    };
  }

  /** Recorded PDUs of a bind's connections, by slot, including connections that this gateway held before. */
  recordedConnections(bindId: Uuid): RecordedConnection[] {
    const own = [...this.#recordings.values()].filter((recording) => recording.bindId === bindId);
    for (const recording of own) if (!isFull(recording, this.clock.nowMs())) recording.ring.redactTexts();
    return own.map(({ slot, ring }) => ({ slot, pdus: ring.pdus() })).sort((a, b) => a.slot - b.slot);
  }

  private startRecording({ bindId, slot, fullUntil }: TappedLink): Recording {
    const key = slotKey({ bindId, slot });
    const ring = this.#recordings.get(key)?.ring ?? new PduRing();
    const recording = { bindId, slot, ring, fullUntil };
    // Deleted and set again, so that it is the newest entry.
    this.#recordings.delete(key);
    this.#recordings.set(key, recording);
    const [oldest] = this.#recordings.keys();
    if (this.#recordings.size > MAX_CONNECTIONS && oldest !== undefined) this.#recordings.delete(oldest);
    return recording;
  }
}

const isFull = ({ fullUntil }: Pick<TappedLink, 'fullUntil'>, nowMs: number): boolean =>
  (fullUntil()?.getTime() ?? 0) > nowMs;
