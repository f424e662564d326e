import type { Socket } from 'node:net';
import type { SmppSystem } from '@countersign/carriers/config';
import type { SystemConnection } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { elapsedMs } from '@countersign/schedule';
import { NotSentError, SmppLink } from '@countersign/smpp/link';
import { deliverSm, STATUS } from '@countersign/smpp/pdu';
import type { BindRequest, LinkState, LinkTimers, MessageAnswer } from '@countersign/smpp/link';
import type {
  DataSm,
  DeliverSm,
  MessagePdu,
  OutbindFields,
  Outgoing,
  Pdu,
  ResponsePdu,
  SubmitSm,
} from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import type { MessageRouter } from '../inbound/message.router.js';
import type { LinkView } from '../links/link.metrics.js';
import type { LinkMeter } from '../links/link-meter.js';
import { connectionRefusal, isTrustedPeer, sameConnectionTerms } from './admission.js';
import { tokensOf } from './message-rate.js';
import { isReceiptImpossible, RequestedReceipts, type DueReceipt } from './receipt-request.js';
import { LastError } from '../links/last-error.js';
import { ThroughputMeter } from '../links/throughput-meter.js';
import type { Peer, BindAuthenticator } from './bind-authenticator.js';
import { CURRENT_MS } from './system-cache.js';
import type { CountedConnection } from './system-connections.js';
import type { SystemLinkReporter } from './system-link.reporter.js';

/**
 * Before the bind; then those of the system's row apply. No inactivity timeout: idle peers are normal, and enquire_link
 * detects dead ones.
 */
const TIMERS: LinkTimers = {
  sessionInitMs: 10_000,
  pduReadMs: 10_000,
  enquireLinkMs: 30_000,
  responseMs: 10_000,
  inactivityMs: 0,
};
/** Maximum messages of one link being stored; at the limit the socket is not read, and TCP slows the sender. */
const MAX_INBOUND = 1_000;
/** Maximum of our unanswered requests before the bind. */
const WINDOW = 1;
/** The highest that is agreed: a system that binds with less gets that. */
const INTERFACE_VERSION = 0x50;
/** The first version with data_sm. */
const DATA_SM_VERSION = 0x34;
const OUR_SYSTEM_ID = 'countersign';
const MS_PER_SECOND = 1_000;

/** Rate and counters of a connection since its bind. */
interface BoundSession {
  readonly connection: CountedConnection;
  readonly throughput: ThroughputMeter;
  readonly sinceMs: number;
  readonly errors: LastError;
  throttled: number;
  unanswered: number;
}

/** One connection of a system that connected in: authentication, terms and messages. */
export class SystemLink {
  readonly #link: SmppLink;
  readonly #meter: LinkMeter;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  #system: SmppSystem | null = null;
  /** Link data passed with every message; built once per row. */
  #inbound: InboundLink | null = null;
  #bound: BoundSession | null = null;
  #refusedStatus: number | null = null;
  /** When the read of the row in use began, on the monotonic clock. */
  #readMs = Number.NEGATIVE_INFINITY;
  #state: LinkState = 'open';
  #knowsDataSm = false;
  #onBound: () => void = () => undefined;
  #onReceiptDue: (systemId: Uuid, due: DueReceipt) => void = () => undefined;
  #onOutbind: (fields: OutbindFields) => void = () => this.destroy('no bind waits for an outbind');
  readonly #requestedReceipts = new RequestedReceipts();
  /** Codes and receipts without a response. */
  #codesOut = 0;
  #receiptsOut = 0;
  #closing: Promise<void> | undefined;
  /** The system may no longer be connected: its messages are refused until the link has ended. */
  #isEvicted = false;
  /** The first end of the claims of codes that are not written to the socket yet, on the monotonic clock. */
  #writeBeforeMs = Infinity;

  constructor(
    socket: Socket,
    private readonly peer: Peer,
    private readonly authenticator: Pick<BindAuthenticator, 'authenticateBind'>,
    private readonly messages: Pick<MessageRouter, 'acceptMessage' | 'pauseMs'>,
    private readonly reporter: SystemLinkReporter,
  ) {
    const meter = reporter.createMeter();
    this.#meter = meter;
    this.#link = new SmppLink(socket, {
      endpoint: {
        role: 'smsc',
        interfaceVersion: INTERFACE_VERSION,
        systemId: OUR_SYSTEM_ID,
        authenticate: (request) => this.authenticateBind(request),
        onOutbind: (fields) => this.#onOutbind(fields),
      },
      timers: TIMERS,
      limits: { window: WINDOW, maxInbound: MAX_INBOUND },
      handlers: {
        onMessage: (pdu) => this.acceptMessage(pdu),
        pauseMs: () => (this.#inbound === null ? 0 : messages.pauseMs(this.#inbound)),
        retryableStatus: () => this.#system?.retryableMoStatus ?? STATUS.ESME_RSYSERR,
        onChange: (state) => this.onStateChange(state),
        mayWrite: () => this.mayWrite(),
        onPdu: (direction, pdu) => this.onPdu(direction, pdu),
        onMalformed: (pdu) => reporter.reportMalformed(peer, pdu),
      },
    });
    this.ended = this.#link.closed.then(({ reason }) => this.onLinkClosed(reason));
  }

  /** Sets the listener called when the peer has bound. */
  onBound(listener: () => void): void {
    this.#onBound = listener;
  }

  /** Sets the listener called with a requested receipt, once the response to its message is encoded. */
  onReceiptDue(listener: (systemId: Uuid, due: DueReceipt) => void): void {
    this.#onReceiptDue = listener;
  }

  /** Sets the listener called with an outbind of a peer that has not bound; by default the connection is closed. */
  onOutbind(listener: (fields: OutbindFields) => void): void {
    this.#onOutbind = listener;
  }

  /** The socket of a connection that has sent outbind, see `SmppLink.releaseSocket`. */
  releaseSocket(): Socket | null {
    return this.#link.releaseSocket();
  }

  /** Closes at once, without an unbind. */
  destroy(reason: string): void {
    this.#link.destroy(reason);
  }

  /** Sends outbind: asks the peer to bind. Throws InvalidPduError when a field does not fit. */
  sendOutbind(fields: OutbindFields): void {
    this.#link.outbind(fields);
  }

  /** The status by which its bind was refused; null for none. */
  get refusedStatus(): number | null {
    return this.#refusedStatus;
  }

  /** The bound system; null before the bind. */
  get system(): SmppSystem | null {
    return this.#system;
  }

  /** Time of the bind on the monotonic clock; null unless bound. */
  get boundSinceMs(): number | null {
    return this.#bound?.sinceMs ?? null;
  }

  /** The connection as written for other processes, under this id; null unless bound. */
  connection(id: Uuid): SystemConnection | null {
    const { bindType, state, windowUsed, enquireLinkRttMs, lastError } = this.#link;
    if (this.#system === null || this.#bound === null || bindType === null) return null;
    const { throughput, throttled, unanswered, errors } = this.#bound;
    return {
      id,
      systemId: this.#system.id,
      address: `${this.peer.address}:${this.peer.port}`,
      bindType,
      status: {
        state: state === 'unbinding' ? 'draining' : 'bound',
        tls: this.peer.overTls,
        windowUsed,
        submitPerSecond: throughput.perSecond(performance.now()),
        throttled,
        enquireLinkMs: enquireLinkRttMs === null ? null : Math.round(enquireLinkRttMs),
        lastError,
        lastErrorAt: errors.seen(lastError)?.at ?? null,
        unanswered,
      },
    };
  }

  /** Whether it can receive messages now: bound as receiver or transceiver. */
  get receives(): boolean {
    const { state } = this.#link;
    return state === 'bound_rx' || state === 'bound_trx';
  }

  /** Whether the peer bound with a version that has data_sm: 3.4 or later. */
  get knowsDataSm(): boolean {
    return this.#knowsDataSm;
  }

  /** Whether it is trusted for MO: its system is, and it has proved to be of it. */
  get isTrusted(): boolean {
    return this.#inbound?.trustedForMo === true;
  }

  /** Maximum codes that may wait for their responses. */
  get codeWindow(): number {
    return this.window - this.#receiptsOut;
  }

  /** Codes that can be sent without waiting for a response; negative after the window has become smaller. */
  get freeSlots(): number {
    return this.codeWindow - this.#codesOut;
  }

  /** Receipts that can be sent now: at most half of the window. They may wait within the link for the response to a code. */
  get receiptSlots(): number {
    return Math.max(1, Math.floor(this.window / 2)) - this.#receiptsOut;
  }

  /** See `LinkSender.submit`. */
  async deliverCode({ fields, tlvs, isConfidential }: Outgoing<SubmitSm>, endsMs: number): Promise<ResponsePdu> {
    if (elapsedMs() >= endsMs) throw new NotSentError('the claim of the code has ended');
    this.#writeBeforeMs = Math.min(this.#writeBeforeMs, endsMs);
    this.#codesOut += 1;
    try {
      // The period is unused in deliver_sm, and empty (SMPP 3.4, 4.6.1).
      const pdu = deliverSm({ ...fields, validityPeriod: '' }, tlvs);
      return await this.#link.request(isConfidential === undefined ? pdu : { ...pdu, isConfidential });
    } catch (error) {
      if (!(error instanceof NotSentError)) this.countUnanswered(error);
      throw error;
    } finally {
      this.#codesOut -= 1;
    }
  }

  /** Rejects as `SmppLink.request`. */
  async deliverReceipt(pdu: Outgoing<DeliverSm | DataSm>): Promise<ResponsePdu> {
    this.#receiptsOut += 1;
    try {
      return await this.#link.request(pdu);
    } finally {
      this.#receiptsOut -= 1;
    }
  }

  view(): LinkView {
    const { state, windowUsed } = this.#link;
    const boundMs = this.#bound === null ? null : performance.now() - this.#bound.sinceMs;
    const window = this.#system?.sendWindow ?? WINDOW;
    return { peer: this.#system?.systemId ?? '', state, windowUsed, window, boundMs };
  }

  /** Whether the present row of the system allows the peer to stay connected. */
  isAllowedBy(system: SmppSystem): boolean {
    const { bindType } = this.#link;
    // A peer that bound before the system was trusted may have had another password than the one that the owner has set.
    if (system.trustedForMo && this.#system?.trustedForMo === false) return false;
    if (bindType !== null && !system.bindTypes.includes(bindType)) return false;
    return this.hasSameTerms(system) || connectionRefusal(system, this.peer) === null;
  }

  /** Applies the system's row to the following messages. `readMs`: start of its read, on the monotonic clock. */
  applyRow(system: SmppSystem, readMs: number): void {
    this.setSystem(system, readMs);
    this.#bound?.connection.setSystemRate(system);
  }

  /** Whether the row has the same connection terms as the row in use. */
  private hasSameTerms(system: SmppSystem): boolean {
    return this.#system !== null && sameConnectionTerms(this.#system, system);
  }

  /** The row is read every second. Trust is computed again only when the connection terms have changed. */
  private setSystem(system: SmppSystem, readMs: number): void {
    this.#readMs = readMs;
    const unchanged = this.hasSameTerms(system);
    const trustedForMo =
      unchanged && this.#inbound !== null ? this.#inbound.trustedForMo : isTrustedPeer(system, this.peer);
    if (system.trustedForMo && !trustedForMo && !unchanged) this.reporter.reportUntrusted(system.systemId, this.peer);
    this.#system = system;
    this.#inbound = { ...system, trustedForMo, peer: system.systemId };
    this.#link.setWindow(system.sendWindow);
    this.#link.setTimers(timersOf(system));
  }

  /** Answers received messages, unbinds and closes within the time limit. A second call waits for the first. */
  close(withinMs: number): Promise<void> {
    this.#closing ??= this.unbind(withinMs);
    return this.#closing;
  }

  /**
   * Closes as `close`, for a system that may no longer be connected: from now on its messages are answered with the retryable
   * status, and those that are received are not stored.
   */
  evict(withinMs: number): Promise<void> {
    this.#isEvicted = true;
    return this.close(withinMs);
  }

  private countUnanswered(error: unknown): void {
    if (this.#bound !== null) this.#bound.unanswered += 1;
    if (this.#system !== null) this.reporter.reportUnanswered(this.#system.systemId, error);
  }

  private get window(): number {
    return this.#system?.sendWindow ?? 0;
  }

  private onPdu(direction: 'in' | 'out', pdu: Pdu): void {
    this.#meter.countPdu(direction, pdu, performance.now());
    if (direction === 'in' || this.#system === null) return;
    const due = this.#requestedReceipts.takeDue(pdu);
    if (due !== null) this.#onReceiptDue(this.#system.id, due);
  }

  /** False after a pause of the process in which the claim of a code ended: another gateway may send it. */
  private mayWrite(): boolean {
    const isInTime = performance.now() < this.#writeBeforeMs;
    this.#writeBeforeMs = Infinity;
    return isInTime;
  }

  private async unbind(withinMs: number): Promise<void> {
    if (this.#system !== null) await this.#link.unbind(withinMs).catch(() => undefined);
    this.#link.destroy('the gateway closed the link');
    await this.ended;
  }

  private async authenticateBind(request: BindRequest): Promise<{ status: number }> {
    const readMs = performance.now();
    const admission = await this.authenticator.authenticateBind(request, this.peer);
    if (!admission.admitted) {
      this.#refusedStatus = admission.status;
      this.reporter.reportRefusedBind(request, this.peer, admission.refusal);
      return { status: admission.status };
    }
    const { system, connection } = admission;
    // The connection may have closed during the database read: it would never be removed.
    if (this.#state === 'closed') {
      connection.remove();
      return { status: STATUS.ESME_RBINDFAIL };
    }
    this.setSystem(system, readMs);
    this.#knowsDataSm = request.interfaceVersion >= DATA_SM_VERSION;
    this.#meter.setPeer(system.systemId);
    const sinceMs = performance.now();
    const errors = new LastError(() => this.reporter.now());
    const throughput = new ThroughputMeter(sinceMs);
    this.#bound = { connection, sinceMs, throughput, errors, throttled: 0, unanswered: 0 };
    this.reporter.reportBound(request, this.peer, system.carrier);
    return { status: STATUS.ESME_ROK };
  }

  private acceptMessage(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer {
    // SmppLink delivers no message before the bind.
    if (this.#inbound === null || this.#bound === null) return { status: STATUS.ESME_RINVBNDSTS };
    const nowMs = performance.now();
    this.#bound.throughput.count(nowMs);
    // The peer need not answer the unbind: without this its messages would still approve until the time limit.
    if (this.#isEvicted) {
      this.reporter.countEvicted();
      return { status: this.#inbound.retryableMoStatus };
    }
    // The system may have been disabled since, or may not be trusted any more.
    if (this.#inbound.trustedForMo && nowMs - this.#readMs > CURRENT_MS) {
      this.reporter.countOutdated();
      return { status: this.#inbound.retryableMoStatus };
    }
    if (!this.#bound.connection.rate.takeTokens(nowMs, tokensOf(pdu))) {
      this.#bound.throttled += 1;
      this.reporter.countThrottled();
      return { status: STATUS.ESME_RTHROTTLED };
    }
    if (isReceiptImpossible(pdu, this.#knowsDataSm)) return { status: STATUS.ESME_RINVREGDLVFLG };
    this.#requestedReceipts.add(pdu, nowMs);
    return this.messages.acceptMessage(pdu, this.#inbound);
  }

  private onStateChange(state: LinkState): void {
    const wasBound = this.#state !== 'open' && this.#state !== 'binding';
    this.#state = state;
    if (this.#bound !== null && !wasBound && state !== 'closed') this.#onBound();
  }

  private onLinkClosed(reason: string): void {
    if (this.#state !== 'closed') this.onStateChange('closed');
    this.#bound?.connection.remove();
    this.#bound = null;
    this.reporter.reportEnd(this.#system?.systemId, this.peer, reason);
  }
}

/** The timers that a row sets. */
const timersOf = (system: SmppSystem): Pick<LinkTimers, 'enquireLinkMs' | 'responseMs'> => ({
  enquireLinkMs: system.enquireLinkSeconds * MS_PER_SECOND,
  responseMs: system.responseTimeoutSeconds * MS_PER_SECOND,
});
