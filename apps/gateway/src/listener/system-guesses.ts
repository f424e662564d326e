import type { SmppSystem } from '@countersign/carriers/config';
import { FAILURE_WINDOW_MS } from './bind-lockout.js';
import { peerNetwork } from './networks.js';

/** Wrong passwords of one system within the window, over all addresses, from which the system is guarded. */
export const MAX_SYSTEM_FAILURES = 20;
/** Interval between password comparisons of a guarded system, shared by all unknown peers. */
export const BETWEEN_COMPARISONS_MS = 10_000;
/** How long a peer stays known after the system's last connection from it. */
export const KNOWN_PEER_MS = 24 * 60 * 60 * 1_000;
/** Maximum known peers of one system; the least recently bound one is evicted for a new one. */
const MAX_KNOWN_PEERS = 100;
/** Maximum systems with failures or known peers; the least recently updated one is evicted for a new one. */
const MAX_SYSTEMS = 10_000;

type System = Pick<SmppSystem, 'id' | 'passwordDigest' | 'digestVersion'>;

interface SystemRecord {
  /**
   * A changed password makes all peers unknown and ends the failures. A digest under another version of the master key counts
   * as the same password: digests are renewed during a rotation.
   */
  password: Pick<SmppSystem, 'passwordDigest' | 'digestVersion'>;
  /** Times of wrong passwords, oldest first, at most `MAX_SYSTEM_FAILURES`. */
  failures: readonly number[];
  comparedMs: number;
  /** Time of the last connection by peer (see `peerNetwork`), oldest first. */
  readonly knownPeers: Map<string, number>;
}

/**
 * Limits password guesses per system, over all addresses. A guarded system refuses binds of unknown peers without comparing
 * the password, except one per `BETWEEN_COMPARISONS_MS`, so guessing from many addresses is not faster than that. Peers that
 * have bound before are not affected. Times are of a monotonic clock.
 */
export class SystemGuesses {
  readonly #systems = new Map<string, SystemRecord>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Whether the password of a bind from this address may be compared now. True consumes the comparison of the interval. */
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

  /** Records a wrong password; returns whether the system is guarded now. */
  recordFailure(system: System): boolean {
    const record = this.getOrCreateRecord(system);
    const nowMs = this.nowMs();
    record.failures = [...recent(record.failures, nowMs), nowMs].slice(-MAX_SYSTEM_FAILURES);
    return isGuarded(record, nowMs);
  }

  /** Records a bind of the system from this address. */
  recordBind(system: System, address: string): void {
    this.rememberPeer(this.getOrCreateRecord(system), address);
  }

  /** Records the end of a connection from this address. Ignored if the password changed since its bind. */
  recordDisconnect(system: System, address: string): void {
    const record = this.#systems.get(system.id);
    if (record !== undefined && !isOfAnotherPassword(record, system)) this.rememberPeer(record, address);
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

/** Sets an entry as the last one, and deletes the first when there are more than `most`. */
function setLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
