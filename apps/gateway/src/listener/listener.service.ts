import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { connectionName } from '@countersign/tls';
import { OnStart, OnStop } from '../composition/phases.js';
import type { Peer } from './bind-authenticator.js';
import { ConnectionAdmitter } from './connection.admitter.js';
import { ConnectionRegistry } from './connection-registry.js';
import { SmppPorts } from './smpp-ports.js';
import { SystemCache } from './system-cache.js';
import { SystemLinks } from './system-links.js';

/** Listens for carriers and aggregators that connect in. */
@Injectable()
export class ListenerService {
  constructor(
    private readonly ports: SmppPorts,
    private readonly admitter: ConnectionAdmitter,
    private readonly links: SystemLinks,
    private readonly systemCache: SystemCache,
    private readonly registry: ConnectionRegistry,
  ) {}

  /** Whether every port is open, for readiness. */
  get isListening(): boolean {
    return this.ports.areListening;
  }

  /** Opens the ports. Rejects with an error that names the port and the remedy when a port cannot be opened. */
  @OnStart('open the SMPP ports')
  async listen(): Promise<void> {
    this.registry.start();
    const findSystem = (systemId: string) => this.systemCache.find(systemId);
    this.systemCache.onRead((startedMs) => this.links.applyRows(findSystem, startedMs));
    this.systemCache.start();
    await this.ports.open((socket, over) => this.openLink(socket, over));
  }

  /** Accepts no new connection; open connections stay. */
  @OnStop('stop accepting')
  stopAccepting(): void {
    this.ports.close();
  }

  /** Answers received messages, unbinds and closes every link within the time limit. */
  @OnStop('unbind')
  async unbindAll(): Promise<void> {
    await this.systemCache.stop();
    await this.links.closeAll();
    await this.registry.stop();
  }

  /** Closes what is left, after the unbind: carriers have opened connections of binds too, which finish their windows. */
  @OnStop('drain batchers')
  destroyConnections(): void {
    this.admitter.destroyAll();
  }

  private openLink(socket: Socket, over: Pick<Peer, 'overTls' | 'certificateNames'>): void {
    if (socket.destroyed) return;
    // Read now: a socket that is closing has no address.
    const name = connectionName(socket);
    this.links.openLink(socket, over, () => this.admitter.markBound(name));
    socket.resume();
  }
}
