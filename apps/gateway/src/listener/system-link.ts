import type { Socket } from 'node:net';
import type { SmppSystem } from '@countersign/carriers/config';
import { isTrustedConnection } from '@countersign/carriers/credentials';
import type { SystemConnection } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { SmppLink } from '@countersign/smpp/link';
import { STATUS } from '@countersign/smpp/pdu';
import type { BindRequest, LinkState, LinkTimers, MessageAnswer } from '@countersign/smpp/link';
import type { MessagePdu } from '@countersign/smpp/pdu';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../metrics/gateway.metrics.js';
import type { InboundLink } from '../links/inbound-link.js';
import type { InboundService } from '../inbound/inbound.service.js';
import type { LinkView } from '../metrics/link.metrics.js';
import type { LinkMeter } from '../metrics/link-meter.js';
import { connectionRefusal, sameConnectionTerms } from './admission.js';
import type { MessageRate } from './message-rate.js';
import { ThroughputMeter } from '../metrics/throughput-meter.js';
import type { Peer, BindAuthenticator } from './bind-authenticator.js';

/** The gateway is the SMSC. No inactivity timeout: idle peers are normal, and enquire_link detects dead ones. */
const TIMERS: LinkTimers = {
  sessionInitMs: 10_000,
  pduReadMs: 10_000,
  enquireLinkMs: 30_000,
  responseMs: 10_000,
  inactivityMs: 0,
};
/** Maximum messages of one link being stored; at the limit the socket is not read, and TCP slows the sender. */
const MAX_INBOUND = 1_000;
/** Maximum of our unanswered requests; only enquire_link and unbind are sent. */
const WINDOW = 10;
const INTERFACE_VERSION = 0x34;
const OUR_SYSTEM_ID = 'countersign';

export interface SystemLinkOptions {
  readonly authenticator: BindAuthenticator;
  readonly inbound: InboundService;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  /** Called when the peer has bound. */
  readonly onBound: () => void;
}

/** Rate and counters of a connection since its bind. */
interface BoundSession {
  readonly rate: MessageRate;
  readonly throughput: ThroughputMeter;
  readonly removeConnection: () => void;
  readonly sinceMs: number;
  throttled: number;
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
  #state: LinkState = 'open';
  #closing: Promise<void> | undefined;

  constructor(
    socket: Socket,
    /** Id of the connection, not of the system. */
    private readonly id: Uuid,
    private readonly peer: Peer,
    private readonly o: SystemLinkOptions,
  ) {
    const meter = o.metrics.links.createMeter('listener');
    this.#meter = meter;
    this.#link = new SmppLink(socket, {
      role: 'smsc',
      timers: TIMERS,
      window: WINDOW,
      maxInbound: MAX_INBOUND,
      interfaceVersion: INTERFACE_VERSION,
      systemIdOfServer: OUR_SYSTEM_ID,
      authenticate: (request) => this.authenticateBind(request),
      onMessage: (pdu) => this.acceptMessage(pdu),
      retryableStatus: () => this.#system?.retryableMoStatus ?? STATUS.ESME_RSYSERR,
      onChange: (state) => this.onStateChange(state),
      onPdu: (direction, pdu) => meter.countPdu(direction, pdu, performance.now()),
      onMalformed: ({ of, reason }) => o.logger.debug({ address: peer.address, of, reason }, 'malformed PDU'),
    });
    this.ended = this.#link.closed.then(({ reason }) => this.onLinkClosed(reason));
  }

  /** The bound system; null before the bind. */
  get system(): SmppSystem | null {
    return this.#system;
  }

  /** Time of the bind on the monotonic clock; null unless bound. */
  get boundSinceMs(): number | null {
    return this.#bound?.sinceMs ?? null;
  }

  /** The connection as written for other processes; null unless bound. */
  get connection(): SystemConnection | null {
    const { bindType, state, windowUsed, enquireLinkRttMs, lastError } = this.#link;
    if (this.#system === null || this.#bound === null || bindType === null) return null;
    const { throughput, throttled } = this.#bound;
    return {
      id: this.id,
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
      },
    };
  }

  view(): LinkView {
    const { state, windowUsed } = this.#link;
    const boundMs = this.#bound === null ? null : performance.now() - this.#bound.sinceMs;
    return { peer: this.#system?.systemId ?? '', state, windowUsed, window: WINDOW, boundMs };
  }

  /** Whether the present row of the system allows the peer to stay connected. */
  isAllowedBy(system: SmppSystem): boolean {
    return this.hasSameTerms(system) || connectionRefusal(system, this.peer) === null;
  }

  /** Applies the system's row to the following messages. */
  applyRow(system: SmppSystem): void {
    this.setSystem(system);
    this.o.authenticator.setSystemRate(system);
  }

  /** Whether the row has the same connection terms as the row in use. */
  private hasSameTerms(system: SmppSystem): boolean {
    return this.#system !== null && sameConnectionTerms(this.#system, system);
  }

  /** The row is read every second. Trust is computed again only when the connection terms have changed. */
  private setSystem(system: SmppSystem): void {
    const unchanged = this.hasSameTerms(system);
    const trustedForMo =
      unchanged && this.#inbound !== null
        ? this.#inbound.trustedForMo
        : isTrustedConnection(system, this.peer.certificateNames);
    if (system.trustedForMo && !trustedForMo && !unchanged) {
      const about = { systemId: system.systemId, address: this.peer.address };
      this.o.logger.warn(
        about,
        'MOs of this connection are not trusted: neither its address nor a certificate proves it',
      );
    }
    this.#system = system;
    this.#inbound = { ...system, trustedForMo, peer: system.systemId };
  }

  /** Answers received messages, unbinds and closes within the time limit. A second call waits for the first. */
  close(withinMs: number): Promise<void> {
    this.#closing ??= this.unbind(withinMs);
    return this.#closing;
  }

  private async unbind(withinMs: number): Promise<void> {
    if (this.#system !== null) await this.#link.unbind(withinMs).catch(() => undefined);
    this.#link.destroy('the gateway closed the link');
    await this.ended;
  }

  private async authenticateBind(request: BindRequest): Promise<{ status: number }> {
    const { authenticator, logger, metrics } = this.o;
    const about = { systemId: request.systemId, bindType: request.bindType, ...this.peer };
    const admission = await authenticator.authenticateBind(request, this.peer);
    if (!admission.admitted) {
      metrics.links.refusedBinds.inc({ refusal: admission.refusal });
      // Only an existing system can have a wrong password, so peers cannot create label values.
      if (admission.refusal === 'wrong_password') metrics.links.countWrongPassword(request.systemId);
      logger.warn({ ...about, refusal: admission.refusal }, 'listener: bind refused');
      return { status: admission.status };
    }
    // The connection may have closed during the database read: it would never be removed.
    if (this.#state === 'closed') {
      admission.removeConnection();
      return { status: STATUS.ESME_RBINDFAIL };
    }
    const { system, rate, removeConnection } = admission;
    this.setSystem(system);
    this.#meter.setPeer(system.systemId);
    const sinceMs = performance.now();
    this.#bound = { rate, removeConnection, sinceMs, throughput: new ThroughputMeter(sinceMs), throttled: 0 };
    logger.info({ ...about, carrier: system.carrier }, 'listener: system bound');
    return { status: STATUS.ESME_ROK };
  }

  private acceptMessage(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer {
    // SmppLink delivers no message before the bind.
    if (this.#inbound === null || this.#bound === null) return { status: STATUS.ESME_RINVBNDSTS };
    const nowMs = performance.now();
    this.#bound.throughput.count(nowMs);
    if (this.#bound.rate.takeToken(nowMs)) return this.o.inbound.acceptMessage(pdu, this.#inbound);
    this.#bound.throttled += 1;
    this.o.metrics.countRetryableResponse('throttled');
    return { status: STATUS.ESME_RTHROTTLED };
  }

  private onStateChange(state: LinkState): void {
    const wasBound = this.#state !== 'open' && this.#state !== 'binding';
    this.#state = state;
    if (this.#bound !== null && !wasBound && state !== 'closed') this.o.onBound();
  }

  private onLinkClosed(reason: string): void {
    if (this.#state !== 'closed') this.onStateChange('closed');
    this.#bound?.removeConnection();
    this.#bound = null;
    const about = { systemId: this.#system?.systemId, address: this.peer.address, reason };
    if (this.#system === null) this.o.logger.debug(about, 'listener: connection ended before a bind');
    else this.o.logger.info(about, 'listener: system disconnected');
  }
}
