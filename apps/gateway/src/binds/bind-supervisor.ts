import { setTimeout as delay } from 'node:timers/promises';
import type { Bind, BindHost } from '@countersign/carriers/config';
import type { BindLease } from '@countersign/carriers/leases';
import type { ConnectionState, ConnectionStatus } from '@countersign/carriers/status';
import { elapsedMs } from '@countersign/schedule';
import { NotSentError, type MessageAnswer, type SmppLink } from '@countersign/smpp/link';
import {
  STATUS,
  statusName,
  type MessagePdu,
  type Outgoing,
  type Pdu,
  type ResponsePdu,
  type SubmitSm,
} from '@countersign/smpp/pdu';
import type { MessageRouter } from '../inbound/message.router.js';
import type { InboundLink } from '../links/inbound-link.js';
import type { ConnectionHistory } from '../leases/connection-history.js';
import type { LeasedConnection } from '../leases/lease-renewer.js';
import type { LeaseGuard } from '../leases/lease-guard.js';
import type { LinkView } from '../links/link.metrics.js';
import { NOT_TRUSTED, type LinkSender } from '../links/link-sender.js';
import {
  afterAttempt,
  afterFailback,
  afterRefusedFailback,
  failbackWaitMs,
  initialState,
  preferredHost,
  type AttemptEnd,
  type ReconnectState,
} from './backoff.js';
import type { LinkSource } from './accepted-connection.js';
import type { DialedLinkHandlers } from './bind-dialer.js';
import { isSameConnection, isSamePeer, type PasswordsOf } from './bind-options.js';
import { DRAIN_MS } from '../composition/phases.js';
import type { ConnectionGauge } from './connection-gauge.js';

/** Reason of a state change and time of the next attempt; without secrets. */
export interface BindNote {
  readonly host?: string;
  readonly reason?: string;
  readonly retryInMs?: number;
  /** No attempt follows until the carrier connects. */
  readonly awaitsOutbind?: true;
}

/** Sends over a bound connection, while its lease is held. */
export interface BindSender extends LinkSender {
  readonly bind: Bind;
  readonly link: BindLease;
}

/** Reason shown for a connection that fails back. */
const RETURNS = 'returns to its preferred host';
/** Statuses by which a carrier refuses a bind beside another of the same system_id: already bound, bind failed. */
const EXCLUSIVE_STATUSES: ReadonlySet<number> = new Set([STATUS.ESME_RALYBND, STATUS.ESME_RBINDFAIL]);

export interface BindListener {
  /** Called with every state change. */
  onState(bind: Bind, to: ConnectionState, note: BindNote): void;
  /** Called when a code got no response in time, and when the link ended before the response. */
  onUnanswered(bind: Bind, error: unknown): void;
}

const NO_LISTENER: BindListener = { onState: () => undefined, onUnanswered: () => undefined };

/**
 * Keeps one connection of a bind bound while its lease is held: tries its hosts in turn, with backoff and standoff, until
 * stopped or fenced. Over a connection that the carrier has opened it binds once. Bound at another host than its preferred
 * one, it returns there when that host accepts a bind. Without the lease no PDU is sent, accepted or stored.
 */
export class BindSupervisor implements LeasedConnection {
  #bind: Bind;
  #inbound: InboundLink;
  #reconnectState: ReconnectState;
  /** The link that sends; null before it is open. */
  #link: SmppLink | null = null;
  /** Aborted when the row has another peer, or there is none: then the open links are of a former one. */
  #peerAbort = new AbortController();
  /** All open links: `#link`, one that is being bound at the preferred host, and one that it has replaced. */
  readonly #links = new Set<SmppLink>();
  /** Time of the bind on the monotonic clock; null unless bound. */
  #boundAtMs: number | null = null;
  #stopping = false;
  /** Aborted to end the present attempt or delay at once; each attempt has its own. */
  #attemptAbort = new AbortController();
  /** Aborted when the present link ends, and to stay at its host. */
  #failbackAbort = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #listener = NO_LISTENER;

  constructor(
    readonly guard: LeaseGuard,
    bind: Bind,
    private readonly source: LinkSource,
    private readonly messages: Pick<MessageRouter, 'acceptMessage' | 'pauseMs'>,
    private readonly gauge: ConnectionGauge,
  ) {
    this.#bind = bind;
    this.#inbound = { ...bind, peer: bind.name, lease: guard.lease };
    this.#reconnectState = initialState(guard.lease.slot, this.hosts.length);
  }

  private readonly passwordsOf: PasswordsOf = (bind) => this.source.passwordsOf(bind);

  /** Begins the first attempt. */
  start(listener: BindListener): void {
    this.#listener = listener;
    this.#ended = this.runAttempts();
  }

  /** Whether the carrier has opened the connection: after its end no other is opened. */
  get isAccepted(): boolean {
    return this.source.acceptedFrom !== null;
  }

  /** Resolves when no attempt is made any more and every link has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  get state(): ConnectionState {
    return this.gauge.state;
  }

  get history(): ConnectionHistory {
    return this.gauge.history;
  }

  status(): ConnectionStatus {
    return this.gauge.snapshot(performance.now(), this.#link);
  }

  view(): LinkView {
    const boundMs = this.#boundAtMs === null ? null : performance.now() - this.#boundAtMs;
    const { name: peer, sendWindow: window } = this.#bind;
    return { peer, state: this.state, windowUsed: this.#link?.windowUsed ?? 0, window, boundMs };
  }

  /** Null unless bound, able to send and holding the lease. */
  get sender(): BindSender | null {
    const link = this.#link;
    if (this.state !== 'bound' || link === null || this.#bind.bindType === 'receiver') return null;
    if (!this.holdsLease()) return null;
    const bind = this.#bind;
    return {
      bind,
      terms: bind,
      link: this.guard.lease,
      window: bind.sendWindow,
      perSecond: bind.submitPerSecond / bind.connections,
      submit: (pdu, endsMs) => this.submit(link, pdu, endsMs),
    };
  }

  /** Applies a changed row. Reconnects only if the row needs a different connection. */
  async applyRow(bind: Bind, drainMs: number): Promise<void> {
    const before = this.#bind;
    this.adoptRow(bind);
    if (isSameConnection(before, bind, this.passwordsOf)) {
      if (before.sendWindow !== bind.sendWindow) this.#link?.setWindow(bind.sendWindow);
      return;
    }
    this.#reconnectState = initialState(this.guard.lease.slot, this.hosts.length);
    await this.closeLink(drainMs);
  }

  /**
   * Judges the messages of the open links, which may be draining, by a changed row. When it has another peer, or there is none any
   * more, they get a status to try again with: what the row says, such as its trust, is not about their sender.
   */
  adoptRow(bind: Bind | undefined): void {
    if (bind === undefined || !isSamePeer(this.#bind, bind, this.passwordsOf)) {
      this.#peerAbort.abort();
      this.#peerAbort = new AbortController();
    }
    if (bind === undefined) return;
    this.#bind = bind;
    this.#inbound = { ...bind, peer: bind.name, lease: this.guard.lease };
  }

  /** Makes no further attempt; a bound link stays until it ends. */
  stopReconnecting(): void {
    this.#stopping = true;
    if (this.state === 'bound') this.#failbackAbort.abort();
    else this.#attemptAbort.abort();
  }

  /** Finishes the window, answers received messages and unbinds within the time limit; makes no further attempt. */
  async stop(drainMs: number): Promise<void> {
    this.#stopping = true;
    await this.closeLink(drainMs);
    await this.#ended;
  }

  /** The lease is lost: another gateway may hold it, so the socket is destroyed at once. */
  fence(reason: string): void {
    this.#stopping = true;
    this.#attemptAbort.abort();
    this.destroyLinks(reason);
  }

  private get hosts(): readonly BindHost[] {
    return this.source.acceptedFrom === null ? this.#bind.hosts : [this.source.acceptedFrom];
  }

  private holdsLease(): boolean {
    return this.guard.isHeld(elapsedMs());
  }

  /** Last lease check before sending. Requests waiting for a window slot are checked with the response that frees the slot. */
  private submit(link: SmppLink, pdu: Outgoing<SubmitSm>, endsMs: number): Promise<ResponsePdu> {
    if (elapsedMs() >= endsMs) return Promise.reject(new NotSentError('the claim of the code has ended'));
    if (pdu.isConfidential === true && !this.#bind.trustedForMo) return Promise.reject(new NotSentError(NOT_TRUSTED));
    if (this.holdsLease()) return link.request(pdu).catch((error: unknown) => this.failSubmit(error));
    this.fence('the lease is not held');
    return Promise.reject(new NotSentError('the lease is not held'));
  }

  private failSubmit(error: unknown): never {
    if (!(error instanceof NotSentError)) {
      this.gauge.countUnanswered();
      this.#listener.onUnanswered(this.#bind, error);
    }
    throw error;
  }

  /** Fences on a PDU received without the lease, after a pause of the process: it is not answered, and the carrier resends it. */
  private onPdu(direction: 'in' | 'out', pdu: Pdu): void {
    const nowMs = performance.now();
    if (direction === 'in' && !this.holdsLease()) this.fence('the lease is not held');
    this.gauge.countPdu(this.#bind.name, direction, pdu, nowMs);
  }

  /**
   * If the lease expires between the commit and the response, no response is sent: the message is stored, and the carrier
   * resends it to the present holder of the lease.
   */
  private async acceptMessage(pdu: MessagePdu, isFormerPeer: boolean): Promise<MessageAnswer> {
    if (isFormerPeer || !this.holdsLease()) return { status: this.#bind.retryableMoStatus };
    const answer = await this.messages.acceptMessage(pdu, this.#inbound);
    if (!this.holdsLease()) this.fence('the lease is not held');
    return answer;
  }

  private async closeLink(drainMs: number): Promise<void> {
    // Aborted first, so that the end of the link does not count as a failure.
    this.#attemptAbort.abort();
    if (this.state === 'draining') return;
    if (this.state === 'bound') {
      this.setState('draining', {});
      await Promise.all([...this.#links].map((link) => link.unbind(drainMs).catch(() => undefined)));
    }
    this.destroyLinks('the bind was stopped or changed');
  }

  private destroyLinks(reason: string): void {
    for (const link of this.#links) link.destroy(reason);
  }

  private async runAttempts(): Promise<void> {
    while (!this.isStopping()) {
      this.#attemptAbort = new AbortController();
      const { signal } = this.#attemptAbort;
      const { end, reason } = await this.connectAndBind(signal);
      this.#link = null;
      this.#boundAtMs = null;
      if (signal.aborted || this.isStopping()) {
        this.setState('unbound', { reason });
        if (this.isAccepted) break;
        continue;
      }
      if (this.isAccepted) {
        this.endAccepted(reason);
        break;
      }
      const next = afterAttempt(this.#reconnectState, end, this.hosts.length, Math.random());
      this.#reconnectState = next.state;
      this.gauge.recordFailure(reason);
      this.setState(next.standoff ? 'standoff' : 'unbound', { reason, retryInMs: next.waitMs });
      await delay(next.waitMs, undefined, { signal }).catch(() => undefined);
    }
    // A link that was replaced by one to the preferred host may still be unbinding.
    await Promise.all([...this.#links].map(({ closed }) => closed));
  }

  /** The carrier opens the next connection, at any gateway. */
  private endAccepted(reason: string): void {
    this.gauge.recordFailure(reason);
    this.setState('unbound', { reason, awaitsOutbind: true });
  }

  /** One connection, from connecting to its end. */
  private async connectAndBind(signal: AbortSignal): Promise<LinkEnd> {
    const bind = this.#bind;
    const at = this.hosts[this.#reconnectState.host % this.hosts.length];
    if (at === undefined) return { end: { kind: 'unreachable' }, reason: 'the bind has no host' };
    const host = nameOf(at);
    try {
      // Before connecting: without the password no connection is made.
      const call = this.source.bindCall(bind);
      this.setState('connecting', { host });
      this.#link = await this.openLink(at, signal);
      this.setState('binding', { host });
      const { status } = await this.#link.bind(call);
      if (status !== STATUS.ESME_ROK) {
        this.#link.destroy('the bind was refused');
        return { end: { kind: 'refused', status }, reason: refusalReason(status) };
      }
      this.enterBound(this.#link, { host });
      return await this.waitUntilClosed(signal);
    } catch (error) {
      this.#link?.destroy('the bind failed');
      return { end: { kind: 'unreachable' }, reason: error instanceof Error ? error.message : 'failed' };
    }
  }

  private async openLink(at: BindHost, signal: AbortSignal): Promise<SmppLink> {
    const link = await this.source.openLink(this.#bind, at, this.guard.lease, this.linkHandlers(), signal);
    this.#links.add(link);
    void link.closed.then(() => this.#links.delete(link));
    // Nobody destroys a link that was opened in the moment of a stop or a change.
    if (signal.aborted) link.destroy('the bind was stopped or changed');
    return link;
  }

  private linkHandlers(): DialedLinkHandlers {
    const peer = this.#peerAbort.signal;
    return {
      mayWrite: () => this.holdsLease(),
      onMessage: (pdu) => this.acceptMessage(pdu, peer.aborted),
      pauseMs: () => this.messages.pauseMs(this.#inbound),
      retryableStatus: () => this.#bind.retryableMoStatus,
      onPdu: (direction, pdu) => this.onPdu(direction, pdu),
      fullUntil: () => this.#bind.fullTraceUntil,
    };
  }

  private enterBound(link: SmppLink, note: BindNote): void {
    this.#link = link;
    this.#boundAtMs = performance.now();
    // The row may have changed during the bind.
    link.setWindow(this.#bind.sendWindow);
    this.setState('bound', note);
  }

  /** From the bind until the link is closed, or the one at the preferred host that has replaced it. */
  private async waitUntilClosed(signal: AbortSignal): Promise<LinkEnd> {
    this.#failbackAbort = new AbortController();
    const moved = this.failBack(AbortSignal.any([signal, this.#failbackAbort.signal]));
    let link: SmppLink | null;
    let reason = 'closed';
    do {
      link = this.#link;
      if (link !== null) ({ reason } = await link.closed);
    } while (link !== this.#link);
    this.#failbackAbort.abort();
    const host = await moved;
    if (host !== null) return { end: { kind: 'moved', host }, reason: RETURNS };
    return { end: { kind: 'lost', boundMs: performance.now() - (this.#boundAtMs ?? 0) }, reason };
  }

  /**
   * Tries to bind at the preferred host until that succeeds or `signal` aborts. Resolves with its index when the present link
   * was unbound first, because the carrier permits no second one beside it; otherwise with null.
   */
  private async failBack(signal: AbortSignal): Promise<number | null> {
    const preferred = preferredHost(this.guard.lease.slot, this.hosts.length);
    const at = this.hosts[preferred];
    while (at !== undefined && this.#reconnectState.host !== preferred) {
      const waitMs = failbackWaitMs(this.#reconnectState, Math.random());
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return null;
      const status = await this.bindBeside(at, signal).catch((error: unknown) => {
        this.gauge.recordError(`${nameOf(at)}: ${error instanceof Error ? error.message : 'failed'}`);
        return null;
      });
      if (status === STATUS.ESME_ROK) {
        this.#reconnectState = afterFailback(this.#reconnectState, preferred);
      } else if (status !== null) {
        this.#reconnectState = afterRefusedFailback(this.#reconnectState);
        if (!EXCLUSIVE_STATUSES.has(status)) continue;
        await this.#link?.unbind(DRAIN_MS);
        return preferred;
      }
    }
    return null;
  }

  /**
   * Binds beside the present link and, when that is accepted, replaces it. Returns the status of the bind; rejects when the
   * host is unreachable, or when `signal` aborts before the link is replaced.
   */
  private async bindBeside(at: BindHost, signal: AbortSignal): Promise<number> {
    const call = this.source.bindCall(this.#bind);
    const link = await this.openLink(at, signal);
    const destroy = (): void => link.destroy('the present link was closed');
    signal.addEventListener('abort', destroy, { once: true });
    const { status } = await link.bind(call).finally(() => signal.removeEventListener('abort', destroy));
    // The present link may have closed after the response to the bind was received.
    if (signal.aborted) destroy();
    signal.throwIfAborted();
    if (status !== STATUS.ESME_ROK) {
      link.destroy('the bind was refused');
      this.gauge.recordError(`${nameOf(at)}: ${refusalReason(status)}`);
      return status;
    }
    // Both are bound: new codes use the new link, the old one finishes its window and then unbinds.
    const before = this.#link;
    this.enterBound(link, { host: nameOf(at), reason: RETURNS });
    void before?.unbind(DRAIN_MS).catch(() => undefined);
    return status;
  }

  private setState(state: ConnectionState, note: BindNote): void {
    this.gauge.setState(state, note.host);
    this.#listener.onState(this.#bind, state, note);
  }

  private isStopping(): boolean {
    return this.#stopping;
  }
}

interface LinkEnd {
  readonly end: AttemptEnd;
  readonly reason: string;
}

const nameOf = ({ host, port }: BindHost): string => `${host}:${port}`;
const refusalReason = (status: number): string => `the bind was refused with ${statusName(status)}`;
