import type { Socket } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { connectionName } from '@countersign/tls';
import { LOGGER } from '../injection/logger.token.js';
import { BindLockout } from './bind-lockout.js';
import { ConnectionLimit } from './connection-limit.js';
import { ListenerMetrics } from './listener.metrics.js';
import { SystemCache } from './system-cache.js';

type RejectionReason = 'shut_out' | 'full' | 'peer_full' | 'evicted' | 'network';

/** Admits connections of systems before the first octet is read. */
@Injectable()
export class ConnectionAdmitter {
  readonly #connections = new ConnectionLimit<Socket>();
  /** Those of addresses in no network that is known, while the networks are read again: they push out no others than their own. */
  readonly #ofUnknownAddresses = new ConnectionLimit<Socket>();
  #isOfCarrier: (address: string) => boolean = () => false;

  constructor(
    @Inject(BindLockout) private readonly lockout: Pick<BindLockout, 'isLockedOut'>,
    @Inject(SystemCache) private readonly systemCache: Pick<SystemCache, 'allowsAddress' | 'knowsAddress'>,
    @Inject(ListenerMetrics) private readonly metrics: Pick<ListenerMetrics, 'rejectedConnections'>,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Whether the connection is admitted and still open; otherwise it is destroyed. An admitted connection counts against the
   * limits until it closes.
   */
  async admitConnection(socket: Socket): Promise<boolean> {
    socket.on('error', () => undefined);
    const reason = await this.rejectionReason(socket);
    if (reason !== null) this.rejectConnection(socket, reason);
    return reason === null && !socket.destroyed;
  }

  /** Sets the test of addresses that are admitted besides those of systems. Must not throw. */
  admitAlso(isOfCarrier: (address: string) => boolean): void {
    this.#isOfCarrier = isOfCarrier;
  }

  /** The connection of this name (`connectionName`) is authenticated: it is not evicted any more. */
  markBound(name: string): void {
    this.#connections.markBound(name);
  }

  destroyAll(): void {
    for (const { connections } of [this.#connections, this.#ofUnknownAddresses])
      for (const socket of connections) socket.destroy();
  }

  private async rejectionReason(socket: Socket): Promise<RejectionReason | null> {
    const address = socket.remoteAddress ?? '';
    if (this.lockout.isLockedOut(address)) return 'shut_out';
    if (!this.#isOfCarrier(address) && !this.systemCache.knowsAddress(address)) {
      const refused = this.countIn(this.#ofUnknownAddresses, socket);
      if (refused !== null) return refused;
      const isAllowed = await this.systemCache.allowsAddress(address);
      this.#ofUnknownAddresses.remove(connectionName(socket));
      if (socket.destroyed) return null;
      if (!isAllowed) return 'network';
    }
    return this.countIn(this.#connections, socket);
  }

  /** Counts the connection until it closes. Null when it is within the limits. */
  private countIn(limit: ConnectionLimit<Socket>, socket: Socket): RejectionReason | null {
    const name = connectionName(socket);
    const admission = limit.add(name, socket.remoteAddress ?? '', socket);
    if (!admission.admitted) return admission.reason;
    socket.once('close', () => limit.remove(name));
    if (admission.evicted !== null) this.rejectConnection(admission.evicted, 'evicted');
    return null;
  }

  private rejectConnection(socket: Socket, reason: RejectionReason): void {
    this.metrics.rejectedConnections.inc({ reason });
    this.logger.debug({ address: socket.remoteAddress, reason }, 'listener: connection rejected');
    socket.destroy();
  }
}
