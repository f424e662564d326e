import { redactOctets, type CapturedPdu, type Endpoint } from '@countersign/smpp/capture';

/** Limits of the record of one connection; the oldest PDUs are dropped. */
export const RING_PDUS = 512;
export const RING_OCTETS = 256 * 1024;

/** The two ends of the link that carried a PDU. */
export interface LinkEnds {
  readonly local: Endpoint;
  readonly remote: Endpoint;
}

export interface RecordedPdu extends CapturedPdu {
  readonly ends: LinkEnds;
}

interface Entry {
  atMs: number;
  direction: 'in' | 'out';
  ends: LinkEnds;
  start: number;
  end: number;
  withText: boolean;
}

/**
 * Ring buffer of the last PDUs of one connection, redacted when added. One preallocated buffer, since every PDU is
 * recorded.
 */
export class PduRing {
  /** The operating system assigns zeroed memory only when it is written. */
  readonly #octets = Buffer.alloc(RING_OCTETS);
  readonly #entries: Entry[] = [];
  /** Index of the oldest entry and number of entries; the octets of the newest end at `#at`. */
  #first = 0;
  #count = 0;
  #at = 0;
  #withTexts = 0;

  /**
   * Adds a PDU; one larger than the ring is not recorded. `recordsTexts`: false redacts the texts of all others too.
   * `isConfidential`: never with its text.
   */
  add({ atMs, direction, octets, ends }: RecordedPdu, recordsTexts: boolean, isConfidential = false): void {
    if (octets.length > RING_OCTETS) return;
    if (!recordsTexts) this.redactTexts();
    const withText = recordsTexts && !isConfidential;
    const start = this.reserveSpace(octets.length);
    const end = start + octets.length;
    octets.copy(this.#octets, start);
    redactOctets(this.#octets.subarray(start, end), withText);
    const index = (this.#first + this.#count++) % RING_PDUS;
    this.#entries[index] = { atMs, direction, ends, start, end, withText };
    if (withText) this.#withTexts++;
    this.#at = end;
  }

  /** Redacts the texts of all recorded PDUs. */
  redactTexts(): void {
    if (this.#withTexts === 0) return;
    for (const entry of this.entries()) {
      if (entry.withText) redactOctets(this.#octets.subarray(entry.start, entry.end), false);
      entry.withText = false;
    }
    this.#withTexts = 0;
  }

  /** Copies, oldest first. */
  pdus(): RecordedPdu[] {
    return this.entries().map(({ atMs, direction, ends, start, end }) => {
      return { atMs, direction, ends, octets: Buffer.from(this.#octets.subarray(start, end)) };
    });
  }

  private entries(): Entry[] {
    const entries: Entry[] = [];
    for (let n = 0; n < this.#count; n++) {
      const entry = this.#entries[(this.#first + n) % RING_PDUS];
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  /** Start of `length` contiguous octets; drops the entries that overlap them. */
  private reserveSpace(length: number): number {
    if (this.#count === RING_PDUS) this.dropOldest();
    if (this.#at + length > RING_OCTETS) {
      // Entries between `#at` and the end are older than those at the start.
      while (this.#count > 0 && this.oldestStart() >= this.#at) this.dropOldest();
      this.#at = 0;
    }
    const start = this.#at;
    while (this.#count > 0 && this.oldestStart() >= start && this.oldestStart() < start + length) this.dropOldest();
    return start;
  }

  private oldestStart(): number {
    return this.#entries[this.#first]?.start ?? 0;
  }

  private dropOldest(): void {
    if (this.#entries[this.#first]?.withText === true) this.#withTexts--;
    this.#first = (this.#first + 1) % RING_PDUS;
    this.#count--;
  }
}
