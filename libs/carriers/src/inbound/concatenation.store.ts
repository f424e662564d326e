import { SEAL_OVERHEAD_OCTETS, type ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import {
  COUNT_WAITING_PARTS,
  DELETE_PARTS,
  LOCK_WHOLES,
  PURGE_WHOLES,
  READ_NEIGHBOURS,
  STORE_PARTS,
} from './concatenation.sql.js';

/** Parts further apart than this belong to two messages with the same reference; phones count to 255. */
export const PARTS_BELONG_SECONDS = 600;
/** Maximum length of stored edges in UTF-16 units; callers pass no more. */
export const MAX_STORED_PART_CHARACTERS = 640;
/**
 * Octets read on each side of a part: 64 UTF-16 units of 3 octets, more than any token. Of parts stored with their octets
 * this is a token too, if each has ten characters or more.
 */
const NEIGHBOUR_OCTETS = 192;
/** Parts read on each side of a part: enough if each has one character. */
const NEIGHBOUR_PARTS = 64;
const PURGE_BATCH = 500;
/** Maximum number of incomplete messages that are counted. */
const MAX_COUNTED = 10_000;

/** The common properties of the parts of one long message. */
export interface WholeMessage {
  readonly carrier: string;
  readonly source: string;
  readonly destination: string;
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  /** 1 to 255. */
  readonly total: number;
}

/** One part that was just received. */
export interface MessagePart extends WholeMessage {
  /** 1 to `total`. */
  readonly number: number;
  /** Start and end of its text, and of its octets where needed: they include any token that continues in a neighbour. */
  readonly edges: string;
}

/**
 * Edges by part number near a part that was added: its own, those of stored neighbours, and those of earlier parts of
 * the same call.
 */
export type NearbyParts = ReadonlyMap<number, string>;

interface KeyedPart {
  readonly part: MessagePart;
  /** Keys of its message under every version of the master key, the current one first. */
  readonly keys: readonly [string, ...string[]];
}

/**
 * The parts of long messages of all gateways. Texts are sealed; the key of a message is a keyed digest, so that a
 * database dump contains no number.
 *
 * During a rotation of the master key a message has one key per version. All of its keys are locked and read, so two
 * gateways that store under different versions still exclude each other; a part is stored under the current version
 * only.
 */
export class ConcatenationStore {
  constructor(private readonly keys: ServerKeys) {}

  /**
   * Adds parts in the caller's transaction and returns, in order, the edges near each. Reads only as much as one
   * token can span, however many parts the message has. Locks the messages in key order until the transaction ends.
   */
  async addParts(tx: Executor, parts: readonly MessagePart[]): Promise<NearbyParts[]> {
    if (parts.length === 0) return [];
    const keyed = parts.map((part) => ({ part, keys: this.keysOf(part) }));
    const present = await this.readLocked(tx, keyed);
    const nearby = keyed.map(({ part, keys }) => {
      const [current] = keys;
      const stored = keys.toReversed().flatMap((key) => [...(present.get(key) ?? [])]);
      const edges = new Map(stored).set(part.number, part.edges);
      present.set(current, edges);
      return edges;
    });
    await this.store(tx, keyed);
    return nearby;
  }

  /**
   * Deletes up to 500 messages without a new part for that time; returns the number. Call again while it returns 500.
   */
  async purgeOld(db: Executor, olderThanSeconds: number): Promise<number> {
    return (await db.query(PURGE_WHOLES, [olderThanSeconds, PURGE_BATCH])).length;
  }

  /** Number of parts whose message is incomplete, counting at most 10,000 messages. */
  async countWaitingParts(db: Executor): Promise<number> {
    return (await db.query<{ parts: number }>(COUNT_WAITING_PARTS, [MAX_COUNTED]))[0]?.parts ?? 0;
  }

  /** Stored edges by message and part number, near these parts; locks their messages. */
  private async readLocked(tx: Executor, keyed: readonly KeyedPart[]): Promise<Map<string, Map<number, string>>> {
    const entries = keyed.flatMap(({ part, keys }) => keys.map((key) => ({ part, key })));
    const totals = new Map(entries.map(({ part, key }) => [key, part.total]));
    const wholes = await tx.query<{ key: string; stale: boolean }>(LOCK_WHOLES, [
      [...totals.keys()].map(octetsOf),
      [...totals.values()],
      PARTS_BELONG_SECONDS,
    ]);
    const stale = wholes.filter((whole) => whole.stale).map(({ key }) => octetsOf(key));
    if (stale.length > 0) await tx.query(DELETE_PARTS, [stale]);
    const rows = await tx.query<{ key: string; number: number; textSealed: Buffer }>(READ_NEIGHBOURS, [
      entries.map(({ key }) => octetsOf(key)),
      entries.map(({ part }) => part.number),
      SEAL_OVERHEAD_OCTETS,
      NEIGHBOUR_PARTS,
      NEIGHBOUR_OCTETS,
    ]);
    const present = new Map<string, Map<number, string>>();
    for (const { key, number, textSealed } of rows) {
      const edges = present.get(key) ?? new Map<number, string>();
      present.set(key, edges.set(number, this.open(key, number, textSealed)));
    }
    return present;
  }

  private async store(tx: Executor, keyed: readonly KeyedPart[]): Promise<void> {
    const entries = keyed.map(({ part, keys: [key] }) => ({ part, key }));
    // The same part twice in one call: the later one is stored, as it would be in two calls.
    const latest = [...new Map(entries.map((entry) => [contextOf(entry.key, entry.part.number), entry])).values()];
    await tx.query(STORE_PARTS, [
      latest.map(({ key }) => octetsOf(key)),
      latest.map(({ part }) => part.number),
      latest.map(({ key, part }) => this.seal(key, part)),
      keyed.flatMap(({ keys }) => keys.map(octetsOf)),
    ]);
  }

  /** The message's key under every version of the master key, the current one first. */
  private keysOf(whole: WholeMessage): readonly [string, ...string[]] {
    const { carrier, source, destination, reference, referenceBits, total } = whole;
    const named = JSON.stringify([carrier, source, destination, reference, referenceBits, total]);
    const [current, ...others] = this.keys.digests('concatenation', named);
    return [current.toString('hex'), ...others.map((digest) => digest.toString('hex'))];
  }

  private seal(key: string, { number, edges }: MessagePart): Buffer {
    return this.keys.seal('message-text', edges.slice(0, MAX_STORED_PART_CHARACTERS), contextOf(key, number));
  }

  private open(key: string, number: number, sealed: Buffer): string {
    return this.keys.open('message-text', sealed, contextOf(key, number)).toString('utf8');
  }
}

function contextOf(key: string, number: number): string {
  return `${key}:${number}`;
}

function octetsOf(key: string): Buffer {
  return Buffer.from(key, 'hex');
}
