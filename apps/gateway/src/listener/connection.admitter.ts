import type { Socket } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { BindLockout } from './bind-lockout.js';
import { ConnectionLimit, nameOf } from './connection-limit.js';
import { ListenerMetrics } from './listener.metrics.js';
import { SystemCache } from './system-cache.js';

type RejectionReason = 'shut_out' | 'full' | 'peer_full' | 'evicted' | 'network';

/** Admits connections of systems before the first octet is read. */
@Injectable()
export class ConnectionAdmitter {
  readonly #connections = new ConnectionLimit<Socket>();
  #isOfCarrier: (address: string) => boolean = () => false;

  constructor(
    private readonly lockout: BindLockout,
    private readonly systemCache: SystemCache,
    private readonly metrics: ListenerMetrics,
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

  /** The connection of this name (`nameOf`) is authenticated: it is not evicted any more. */
  markBound(name: string): void {
    this.#connections.markBound(name);
  }

  destroyAll(): void {
    for (const socket of this.#connections.connections) socket.destroy();
  }

  private async rejectionReason(socket: Socket): Promise<RejectionReason | null> {
    const address = socket.remoteAddress ?? '';
    const name = nameOf(socket);
    if (this.lockout.isLockedOut(address)) return 'shut_out';
    const admission = this.#connections.add(name, address, socket);
    if (!admission.admitted) return admission.reason;
    socket.once('close', () => this.#connections.remove(name));
    if (admission.evicted !== null) this.rejectConnection(admission.evicted, 'evicted');
    if (this.#isOfCarrier(address) || (await this.systemCache.allowsAddress(address))) return null;
    return 'network';
  }

  private rejectConnection(socket: Socket, reason: RejectionReason): void {
    this.metrics.rejectedConnections.inc({ reason });
    this.logger.debug({ address: socket.remoteAddress, reason }, 'listener: connection rejected');
    socket.destroy();
  }
}
