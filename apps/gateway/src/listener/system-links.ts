import type { Socket } from 'node:net';
import type { SmppSystem } from '@countersign/carriers/config';
import type { SystemConnection } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Injectable } from '@nestjs/common';
import { DatabaseClock } from '@countersign/postgres';
import { MessageRouter } from '../inbound/message.router.js';
import { DRAIN_MS } from '../composition/phases.js';
import { LinkMetrics } from '../links/link.metrics.js';
import type { CalledSystem } from './admission.js';
import { BindAuthenticator, type Peer } from './bind-authenticator.js';
import type { DueReceipt } from './receipt-request.js';
import type { ReceivedOutbind } from './received-outbind.js';
import { SystemLink } from './system-link.js';
import { SystemLinkReporter } from './system-link.reporter.js';

/** Time limit for closing a link whose system may no longer be connected. */
const EVICT_MS = 5_000;

/** The end of a connection to a system that was called. */
export interface CallEnd {
  /** How long it was bound; null when it never was. */
  readonly boundMs: number | null;
  /** The status by which its bind was refused; null for none. */
  readonly refusedStatus: number | null;
}

/** The connections of systems, with the id of each. */
@Injectable()
export class SystemLinks {
  readonly #links = new Map<SystemLink, Uuid>();
  /** Links that can receive, by system. */
  readonly #receivers = new Map<Uuid, Set<SystemLink>>();
  readonly #changeListeners: (() => void)[] = [];
  readonly #receiverListeners: (() => void)[] = [];
  readonly #receiptListeners: ((systemId: Uuid, due: DueReceipt) => void)[] = [];
  #outbindListener: (outbind: ReceivedOutbind) => void = (outbind) => outbind.close('no bind waits for an outbind');

  constructor(
    private readonly authenticator: BindAuthenticator,
    private readonly messages: MessageRouter,
    private readonly reporter: SystemLinkReporter,
    private readonly clock: DatabaseClock,
    metrics: LinkMetrics,
  ) {
    metrics.setLinkSource('listener', () => [...this.#links.keys()].map((link) => link.view()));
  }

  /** Registers a listener called after a bind, and after the end of a bound link. Must not throw. */
  onChange(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** Registers a listener called after a bind as receiver or transceiver. Must not throw. */
  onReceiverBound(listener: () => void): void {
    this.#receiverListeners.push(listener);
  }

  /** Registers a listener called with each requested receipt, once the response to its message is encoded. Must not throw. */
  onReceiptDue(listener: (systemId: Uuid, due: DueReceipt) => void): void {
    this.#receiptListeners.push(listener);
  }

  /** Sets the listener called with each outbind of a peer that has not bound; by default the connection is closed. Must not throw. */
  onOutbind(listener: (outbind: ReceivedOutbind) => void): void {
    this.#outbindListener = listener;
  }

  /** The links of a system, by its row's id, that can receive now. */
  receiversOf(id: Uuid): SystemLink[] {
    return [...(this.#receivers.get(id) ?? [])].filter(({ receives }) => receives);
  }

  /** `onBound` is called when the peer is authenticated. */
  openLink(socket: Socket, over: Pick<Peer, 'overTls' | 'certificateNames'>, onBound: () => void): void {
    const peer = { ...addressOf(socket), ...over };
    const link = this.addLink(socket, peer, onBound);
    link.onOutbind((fields) =>
      this.#outbindListener({
        ...fields,
        peer,
        releaseSocket: () => {
          const released = link.releaseSocket();
          if (released !== null) onBound();
          return released;
        },
        close: (reason) => link.destroy(reason),
      }),
    );
  }

  /**
   * Sends outbind over a connection that this gateway has opened to a system, which then binds. Resolves when the connection
   * has ended.
   */
  async callSystem(socket: Socket, called: CalledSystem, password: string): Promise<CallEnd> {
    const over = { overTls: called.outbind.tls.enabled, certificateNames: null, called };
    let boundAtMs = Infinity;
    const link = this.addLink(socket, { ...addressOf(socket), ...over }, () => (boundAtMs = performance.now()));
    link.sendOutbind({ systemId: called.outbind.systemId, password });
    await link.ended;
    const boundMs = performance.now() - boundAtMs;
    return { boundMs: Number.isFinite(boundMs) ? boundMs : null, refusedStatus: link.refusedStatus };
  }

  private addLink(socket: Socket, peer: Peer, onBound: () => void): SystemLink {
    const link = new SystemLink(socket, peer, this.authenticator, this.messages, this.reporter);
    link.onBound(() => {
      onBound();
      this.addReceiver(link);
      this.reportChange();
    });
    link.onReceiptDue((systemId, due) => this.#receiptListeners.forEach((listener) => listener(systemId, due)));
    this.#links.set(link, this.clock.newId());
    void link.ended.then(() => {
      this.#links.delete(link);
      this.removeReceiver(link);
      if (link.system !== null) this.reportChange();
    });
    return link;
  }

  /** Bound connections, as written for other processes. */
  boundConnections(): SystemConnection[] {
    return [...this.#links].map(([link, id]) => link.connection(id)).filter((connection) => connection !== null);
  }

  /**
   * Applies changed rows to bound links, so that trust, limits and `enabled` hold for the next message: a link that is no
   * longer allowed is closed, and its messages are refused until then. `readMs`: start of the read of the rows.
   */
  applyRows(findSystem: (systemId: string) => SmppSystem | undefined, readMs: number): void {
    for (const link of this.#links.keys()) {
      // A link bound after the read began may belong to a system that was not read.
      if (link.system === null || link.boundSinceMs === null || link.boundSinceMs > readMs) continue;
      const system = findSystem(link.system.systemId);
      // Compared by id: a system deleted and created again under the same system_id must bind again.
      const isAllowed = system?.enabled === true && system.id === link.system.id && link.isAllowedBy(system);
      if (isAllowed) link.applyRow(system, readMs);
      else void link.evict(EVICT_MS);
    }
  }

  /** Answers received messages, unbinds and closes every link within the time limit. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#links.keys()].map((link) => link.close(DRAIN_MS)));
  }

  private addReceiver(link: SystemLink): void {
    if (link.system === null || !link.receives) return;
    const { id } = link.system;
    this.#receivers.set(id, (this.#receivers.get(id) ?? new Set()).add(link));
    for (const listener of this.#receiverListeners) listener();
  }

  private removeReceiver(link: SystemLink): void {
    if (link.system === null) return;
    const { id } = link.system;
    const receivers = this.#receivers.get(id);
    receivers?.delete(link);
    if (receivers?.size === 0) this.#receivers.delete(id);
  }

  private reportChange(): void {
    for (const listener of this.#changeListeners) listener();
  }
}

const addressOf = (socket: Socket): Pick<Peer, 'address' | 'port'> => ({
  address: socket.remoteAddress ?? '',
  port: socket.remotePort ?? 0,
});
