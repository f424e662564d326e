import { setTimeout as delay } from 'node:timers/promises';
import type { CarrierDirectory, SmppSystem } from '@countersign/carriers/config';
import { lacksTrustProof } from '@countersign/carriers/credentials';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { NetworkSet } from './networks.js';

/** How soon a system that was changed is treated as such. */
const REFRESH_MS = 1_000;
/** Connections from nowhere make the rows be read again, but not more often than this. */
const BETWEEN_READS_MS = 200;
const WITHOUT_PROOF =
  'MOs of this system are not trusted although trustedForMo is true: set allowedCidrs to networks no wider than /16 ' +
  '(IPv6: /32), or tlsRequired with a client certificate that names it (/docs/a-carrier-calls#trusted-systems)';

export interface SystemCacheOptions {
  readonly carriers: Pick<CarrierDirectory, 'listSystems'>;
  /** A system was made or deleted, or got a password. */
  readonly onCredentials: () => void;
  readonly logger: Logger;
}

/** Every system that may connect in, as its row said a moment ago: one statement a second, however many are bound. */
export class SystemCache {
  #systems: ReadonlyMap<string, SmppSystem> | null = null;
  #networks = NetworkSet.of([]);
  #credentials: ReadonlyMap<string, Pick<SmppSystem, 'digestVersion' | 'passwordDigest'>> | null = null;
  #withoutProof: readonly string[] = [];
  #pollLoop: PollLoop | undefined;
  #startedMs = Number.NEGATIVE_INFINITY;
  /** A read that has not begun: who joins it sees what is true now. */
  #next: Promise<void> | null = null;
  /** The one under way, or the last; never two at a time, so that none brings back what an older one saw. */
  #current: Promise<void> = Promise.resolve();
  readonly #readListeners: ((startedMs: number) => void)[] = [];

  constructor(private readonly o: SystemCacheOptions) {}

  /** Reads the rows, and again every second. */
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: REFRESH_MS,
      work: async () => {
        await this.refresh();
        return false;
      },
      onError: (error) => this.o.logger.debug({ err: error }, 'systems could not be read again'),
    });
    this.#pollLoop.trigger();
  }

  /** Rows have changed, it is said. */
  trigger(): void {
    this.#pollLoop?.trigger();
  }

  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
  }

  /** Hears of every read, and when by the monotonic clock it was begun. Must not throw. */
  onRead(listener: (startedMs: number) => void): void {
    this.#readListeners.push(listener);
  }

  /** The system as it was read last; undefined when there was none of that system_id, or nothing was read yet. */
  find(systemId: string): SmppSystem | undefined {
    return this.#systems?.get(systemId);
  }

  /** The system_ids of enabled systems that are to be trusted, and are not because their rows ask for no proof. */
  get withoutProof(): readonly string[] {
    return this.#withoutProof;
  }

  /**
   * May a peer of this address be one of the systems? An address that no system may come from is looked for again in the
   * rows of now: a system that was just made is let in. While they cannot be read, what was read last holds; before the
   * first read everyone may come as far as the bind, which asks the database too.
   */
  async allowsAddress(address: string): Promise<boolean> {
    if (this.#networks.includes(address)) return true;
    await this.refresh().catch(() => undefined);
    return this.#systems === null || this.#networks.includes(address);
  }

  private refresh(): Promise<void> {
    this.#next ??= this.refreshAfterCurrent();
    return this.#next;
  }

  private async refreshAfterCurrent(): Promise<void> {
    await this.#current.catch(() => undefined);
    await delay(Math.max(0, this.#startedMs + BETWEEN_READS_MS - performance.now()));
    this.#next = null;
    this.#current = this.readSystems();
    await this.#current;
  }

  private async readSystems(): Promise<void> {
    const startedMs = performance.now();
    this.#startedMs = startedMs;
    const systems = await this.o.carriers.listSystems();
    this.#systems = new Map(systems.map((system) => [system.systemId, system]));
    this.#networks = NetworkSet.of(systems.filter(({ enabled }) => enabled).map(({ allowedCidrs }) => allowedCidrs));
    this.compareCredentials(systems);
    this.compareProofs(systems);
    for (const listener of this.#readListeners) listener(startedMs);
  }

  private compareProofs(systems: readonly SmppSystem[]): void {
    const withoutProof = systems.filter((system) => system.enabled && lacksTrustProof(system));
    const systemIds = withoutProof.map(({ systemId }) => systemId);
    for (const systemId of systemIds) {
      if (this.#withoutProof.includes(systemId)) continue;
      this.o.logger.warn({ systemId }, WITHOUT_PROOF);
    }
    this.#withoutProof = systemIds;
  }

  /** A digest whose version changed with it was renewed, and its password is taken for the same. */
  private compareCredentials(systems: readonly SmppSystem[]): void {
    const known = this.#credentials;
    this.#credentials = new Map(systems.map((system) => [system.id, system]));
    if (known === null) return;
    const isKnown = ({ id, digestVersion, passwordDigest }: SmppSystem): boolean => {
      const before = known.get(id);
      return (
        before !== undefined && (before.digestVersion !== digestVersion || before.passwordDigest.equals(passwordDigest))
      );
    };
    if (known.size !== systems.length || !systems.every(isKnown)) this.o.onCredentials();
  }
}
