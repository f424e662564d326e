import { setTimeout as delay } from 'node:timers/promises';
import { PubSub, TOPICS } from '@countersign/bus';
import { CarrierDirectory, type SmppSystem } from '@countersign/carriers/config';
import { lacksTrustProof } from '@countersign/carriers/credentials';
import type { Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { LinkMetrics } from '../links/link.metrics.js';
import { GuessLimits } from './guess-limits.js';
import { NetworkSet } from './networks.js';

/** Interval at which the rows are read; a change takes effect within it. */
const REFRESH_MS = 1_000;
/**
 * How long the rows count as current while they cannot be read again. Then MOs of trusted systems are answered with their
 * retryable status: nobody knows whether they are still trusted. Bounds several reads, each with the time limit of a statement.
 */
export const CURRENT_MS = 10_000;
/** Minimum time between reads caused by connections from unknown addresses. */
const BETWEEN_READS_MS = 200;
const WITHOUT_PROOF =
  'MOs of this system are not trusted although trustedForMo is true: set allowedCidrs to networks no wider than /16 ' +
  '(IPv6: /32), or tlsRequired with a client certificate that names it (/docs/a-carrier-calls#trusted-systems)';

/** All systems, with their rows at most a second old: one statement a second, however many are bound. */
@Injectable()
export class SystemCache {
  #systems: ReadonlyMap<string, SmppSystem> | null = null;
  #systemsById: ReadonlyMap<Uuid, SmppSystem> = new Map();
  #networks = NetworkSet.of([]);
  #credentials: ReadonlyMap<string, Pick<SmppSystem, 'digestVersion' | 'passwordDigest'>> | null = null;
  /** The system_ids of enabled systems with `trustedForMo` that are not trusted because their rows require no proof. */
  #withoutProof: readonly string[] = [];
  #pollLoop: PollLoop | undefined;
  #startedMs = Number.NEGATIVE_INFINITY;
  /** Start of the last read that succeeded, or of the process. */
  #readMs = performance.now();
  #reportedOutdated = false;
  /** A read that has not started; concurrent callers share it and see rows that are current at its start. */
  #next: Promise<void> | null = null;
  /** The current or last read. Reads do not overlap, so an older result never replaces a newer one. */
  #current: Promise<void> = Promise.resolve();
  readonly #readListeners: ((startedMs: number) => void)[] = [];

  constructor(
    @Inject(CarrierDirectory) private readonly carriers: Pick<CarrierDirectory, 'listSystems'>,
    @Inject(GuessLimits) private readonly guesses: Pick<GuessLimits, 'clearFailures'>,
    @Inject(PubSub) bus: Pick<PubSub, 'subscribe'>,
    metrics: LinkMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    bus.subscribe(TOPICS.systems, () => this.trigger());
    metrics.setWithoutProofSource(() => this.#withoutProof.length);
    metrics.setSystemsAgeSource(() => performance.now() - this.#readMs);
  }

  /** Reads the rows, and again every second. */
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: REFRESH_MS,
      work: async () => {
        await this.refresh();
        return false;
      },
      onError: (error) => this.reportUnread(error),
    });
    this.#pollLoop.trigger();
  }

  /** Reads the rows at once, after a notification of a change. */
  private trigger(): void {
    this.#pollLoop?.trigger();
  }

  async stop(): Promise<void> {
    await this.#pollLoop?.stop();
  }

  /** Registers a listener called after every read with its start on the monotonic clock. Must not throw. */
  onRead(listener: (startedMs: number) => void): void {
    this.#readListeners.push(listener);
  }

  /** The system as last read; undefined when there is none, or before the first read. */
  find(systemId: string): SmppSystem | undefined {
    return this.#systems?.get(systemId);
  }

  /** The same by the id of its row. */
  findById(id: Uuid): SmppSystem | undefined {
    return this.#systemsById.get(id);
  }

  /** Whether an enabled system of the last read allows this address. */
  knowsAddress(address: string): boolean {
    return this.#networks.includes(address);
  }

  /**
   * Whether an enabled system allows this address. The rows are read again for an address that none allows, so that a
   * system just created is admitted. If they cannot be read, the last result holds; before the first read every address is
   * allowed, since the bind reads the database too.
   */
  async allowsAddress(address: string): Promise<boolean> {
    if (this.knowsAddress(address)) return true;
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
    const systems = await this.carriers.listSystems();
    this.#readMs = startedMs;
    this.#reportedOutdated = false;
    this.#systems = new Map(systems.map((system) => [system.systemId, system]));
    this.#systemsById = new Map(systems.map((system) => [system.id, system]));
    this.#networks = NetworkSet.of(systems.filter(({ enabled }) => enabled).map(({ allowedCidrs }) => allowedCidrs));
    this.compareCredentials(systems);
    this.compareProofs(systems);
    for (const listener of this.#readListeners) listener(startedMs);
  }

  private reportUnread(err: unknown): void {
    if (this.#reportedOutdated || performance.now() - this.#readMs <= CURRENT_MS) {
      this.logger.debug({ err }, 'system cache: rows could not be read; retrying');
      return;
    }
    this.#reportedOutdated = true;
    this.logger.warn(
      { err },
      'systems cannot be read: MOs of trusted systems are answered with their retryable status',
    );
  }

  private compareProofs(systems: readonly SmppSystem[]): void {
    const withoutProof = systems.filter((system) => system.enabled && lacksTrustProof(system));
    const systemIds = withoutProof.map(({ systemId }) => systemId);
    for (const systemId of systemIds) {
      if (this.#withoutProof.includes(systemId)) continue;
      this.logger.warn({ systemId }, WITHOUT_PROOF);
    }
    this.#withoutProof = systemIds;
  }

  /** A digest whose version changed too was renewed during a key rotation; its password is treated as unchanged. */
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
    if (known.size !== systems.length || !systems.every(isKnown)) this.guesses.clearFailures();
  }
}
