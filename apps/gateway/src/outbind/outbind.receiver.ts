import { setTimeout as delay } from 'node:timers/promises';
import type { Bind } from '@countersign/carriers/config';
import { Injectable } from '@nestjs/common';
import { BindConnections } from '../binds/bind-connections.js';
import { OnStop } from '../composition/phases.js';
import { LeaseRenewer } from '../leases/lease-renewer.js';
import { REFUSED_BIND_MS } from '../listener/bind-authenticator.js';
import type { ReceivedOutbind } from '../listener/received-outbind.js';
import { SystemLinks } from '../listener/system-links.js';
import type { OutbindRefusal } from './judge-outbind.js';
import { OutbindBinds } from './outbind-binds.js';
import { OutbindReporter } from './outbind.reporter.js';

/**
 * Binds over connections that carriers open: an outbind claims a free connection of its bind, and the bind is sent over the
 * same connection (SMPP 3.4, 4.1.7). A refused one is closed after the delay of a refused bind.
 */
@Injectable()
export class OutbindReceiver {
  #stopping = false;

  constructor(
    private readonly binds: OutbindBinds,
    private readonly connections: BindConnections,
    private readonly leases: LeaseRenewer,
    private readonly reporter: OutbindReporter,
    links: SystemLinks,
  ) {
    links.onOutbind((outbind) => void this.receive(outbind));
  }

  /** From now on refuses every outbind: the carrier connects to another gateway. */
  @OnStop('stop accepting')
  stopAccepting(): void {
    this.#stopping = true;
  }

  private async receive(outbind: ReceivedOutbind): Promise<void> {
    const startedMs = performance.now();
    try {
      const refusal = await this.bindOver(outbind);
      if (refusal !== null) await this.refuse(outbind, refusal, startedMs);
    } catch (error) {
      await this.refuse(outbind, 'unavailable', startedMs, error);
    }
  }

  /** Null when the bind has begun. Rejects when the database is unreachable, or when a password cannot be opened. */
  private async bindOver(outbind: ReceivedOutbind): Promise<OutbindRefusal | null> {
    const verdict = this.binds.judge(outbind);
    if (!verdict.accepted) return verdict.refusal;
    for (const bind of verdict.binds) {
      if (this.#stopping) return 'unavailable';
      if (await this.openConnection(outbind, bind)) return null;
    }
    return 'no_free_connection';
  }

  private async openConnection(outbind: ReceivedOutbind, bind: Bind): Promise<boolean> {
    const { address: host, port } = outbind.peer;
    const accepted = { from: { host, port }, releaseSocket: () => outbind.releaseSocket() };
    const claimed = await this.leases.claimOutbindLease(bind, (guard, events) =>
      this.connections.openAccepted(guard, bind, events, accepted),
    );
    if (claimed) this.reporter.reportAccepted(outbind, bind.name);
    return claimed;
  }

  /** `err`: why it could not be decided. */
  private async refuse(
    outbind: ReceivedOutbind,
    refusal: OutbindRefusal,
    startedMs: number,
    err?: unknown,
  ): Promise<void> {
    const isGuess = refusal === 'unknown_system' || refusal === 'wrong_password';
    const delayMs = isGuess ? this.binds.recordFailure(outbind) : REFUSED_BIND_MS;
    this.reporter.reportRefused(outbind, refusal, err);
    await delay(Math.max(0, startedMs + delayMs - performance.now()), undefined, { ref: false });
    outbind.close('the outbind was refused');
  }
}
