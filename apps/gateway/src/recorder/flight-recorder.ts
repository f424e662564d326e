import { slotKey, type BindSlotName } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { PduRing, type LinkEnds, type RecordedPdu } from './pdu-ring.js';

/** Connections that are remembered; the one that was made longest ago is forgotten first. 64 MiB at most. */
const MAX_CONNECTIONS = 256;

/** A connection of a bind, for as long as its link lives. */
export interface TappedLink extends BindSlotName {
  readonly ends: LinkEnds;
  /** Until when its texts are to be kept, as its row says now; null for not at all. */
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
 * The last PDUs of every connection of our binds, for whoever must tell a carrier what was said. Outlives the links, so
 * that it can be read why one ended. Passwords are never kept, texts only for the time that an engineer has asked for.
 */
export class FlightRecorder {
  readonly #recordings = new Map<string, Recording>();

  /** `nowMs` is the database's time: what is recorded can be laid beside its rows. */
  constructor(private readonly nowMs: () => number) {}

  /** The listener for the octets of a link that begins. */
  tap(link: TappedLink): (direction: 'in' | 'out', octets: Buffer) => void {
    const { ends } = link;
    const { ring } = this.startRecording(link);
    return (direction, octets) => {
      const atMs = this.nowMs();
      ring.add({ atMs, direction, octets, ends }, isFull(link, atMs));
    };
  }

  /** What is known of a bind's connections, by slot; of those that other gateways hold, what was said while this one did. */
  recordedConnections(bindId: Uuid): RecordedConnection[] {
    const own = [...this.#recordings.values()].filter((recording) => recording.bindId === bindId);
    for (const recording of own) if (!isFull(recording, this.nowMs())) recording.ring.redactTexts();
    return own.map(({ slot, ring }) => ({ slot, pdus: ring.pdus() })).sort((a, b) => a.slot - b.slot);
  }

  private startRecording({ bindId, slot, fullUntil }: TappedLink): Recording {
    const key = slotKey({ bindId, slot });
    const ring = this.#recordings.get(key)?.ring ?? new PduRing();
    const recording = { bindId, slot, ring, fullUntil };
    // Again behind the others: it is the newest now.
    this.#recordings.delete(key);
    this.#recordings.set(key, recording);
    const [longestAgo] = this.#recordings.keys();
    if (this.#recordings.size > MAX_CONNECTIONS && longestAgo !== undefined) this.#recordings.delete(longestAgo);
    return recording;
  }
}

const isFull = ({ fullUntil }: Pick<TappedLink, 'fullUntil'>, nowMs: number): boolean =>
  (fullUntil()?.getTime() ?? 0) > nowMs;
