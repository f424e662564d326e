import type { SmppSystem } from '@countersign/carriers/config';
import { FAILURE_WINDOW_MS } from './bind-lockout.js';
import { peerNetwork } from './networks.js';

/** Wrong passwords of one system within the window, from all addresses together, from which on it is guarded. */
export const MAX_SYSTEM_FAILURES = 20;
/** Interval between password comparisons of a guarded system, shared by all peers that are not known. */
export const BETWEEN_COMPARISONS_MS = 10_000;
/** How long a peer stays known after the system's last connection from it. */
export const KNOWN_PEER_MS = 24 * 60 * 60 * 1_000;
/** Peers of one system; the one that bound longest ago is forgotten for a new one. */
const MAX_KNOWN_PEERS = 100;
/** Systems with failures or known peers; the least recently updated one is evicted for a new one. */
const MAX_SYSTEMS = 10_000;

type System = Pick<SmppSystem, 'id' | 'passwordDigest' | 'digestVersion'>;

interface SystemRecord {
  /**
   * With another password its peers have to show that they know it. A digest under another version of the master key is
   * taken for one of the same password: digests are renewed during a rotation.
   */
  password: Pick<SmppSystem, 'passwordDigest' | 'digestVersion'>;
  /** When its password was wrong, oldest first, at most as many as matter. */
  failures: readonly number[];
  comparedMs: number;
  /** When the system was last connected from a peer, by peer (see `peerNetwork`), oldest first. */
  readonly knownPeers: Map<string, number>;
}

/**
 * Guesses of the password of each system, from however many addresses. A guarded system refuses binds of peers that it is
 * not known by without comparing the password, except one in `BETWEEN_COMPARISONS_MS`: guessing from many addresses does
 * not go faster than that, and peers that have bound before are not affected. Times are of a monotonic clock.
 */
export class SystemGuesses {
  readonly #systems = new Map<string, SystemRecord>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** May the password of a bind from this address be compared now? Yes uses up the one comparison. */
  mayComparePassword(system: System, address: string): boolean {
    const record = this.findRecord(system);
    const nowMs = this.nowMs();
    if (record === undefined || !isGuarded(record, nowMs)) return true;
    const knownMs = record.knownPeers.get(peerNetwork(address)) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - knownMs < KNOWN_PEER_MS) return true;
    if (nowMs - record.comparedMs < BETWEEN_COMPARISONS_MS) return false;
    record.comparedMs = nowMs;
    return true;
  }

  /** Counts a wrong password; answers whether the system is guarded with it. */
  recordFailure(system: System): boolean {
    const record = this.getOrCreateRecord(system);
    const nowMs = this.nowMs();
    record.failures = [...recent(record.failures, nowMs), nowMs].slice(-MAX_SYSTEM_FAILURES);
    return isGuarded(record, nowMs);
  }

  /** The system has bound from this address. */
  recordBind(system: System, address: string): void {
    this.rememberPeer(this.getOrCreateRecord(system), address);
  }

  /** A connection of the system from this address has ended. Ignored if the password was changed since it bound. */
  recordDisconnect(system: System, address: string): void {
    const record = this.#systems.get(system.id);
    if (record !== undefined && !isOfAnotherPassword(record, system)) this.rememberPeer(record, address);
  }

  /** Failures of all systems are void: a password or a system has just been made or changed. Known peers stay. */
  clearFailures(): void {
    for (const record of this.#systems.values()) record.failures = [];
  }

  private rememberPeer({ knownPeers }: SystemRecord, address: string): void {
    setLast(knownPeers, peerNetwork(address), this.nowMs(), MAX_KNOWN_PEERS);
  }

  private findRecord(system: System): SystemRecord | undefined {
    const record = this.#systems.get(system.id);
    if (record === undefined || isOfAnotherPassword(record, system)) return undefined;
    record.password = system;
    return record;
  }

  private getOrCreateRecord(system: System): SystemRecord {
    const record = this.findRecord(system) ?? {
      password: system,
      failures: [],
      comparedMs: Number.NEGATIVE_INFINITY,
      knownPeers: new Map<string, number>(),
    };
    setLast(this.#systems, system.id, record, MAX_SYSTEMS);
    return record;
  }
}

const isOfAnotherPassword = ({ password }: SystemRecord, system: System): boolean =>
  password.digestVersion === system.digestVersion && !password.passwordDigest.equals(system.passwordDigest);

const recent = (failures: readonly number[], nowMs: number): readonly number[] =>
  failures.filter((atMs) => nowMs - atMs < FAILURE_WINDOW_MS);

const isGuarded = ({ failures }: SystemRecord, nowMs: number): boolean =>
  recent(failures, nowMs).length >= MAX_SYSTEM_FAILURES;

/** Sets an entry behind all others, and deletes the first of more than `most`. */
function setLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
