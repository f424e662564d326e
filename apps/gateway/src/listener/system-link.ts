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

/** We are the SMSC here. A peer that keeps quiet is normal, so only enquire_link tells whether it lives. */
const TIMERS: LinkTimers = {
  sessionInitMs: 10_000,
  pduReadMs: 10_000,
  enquireLinkMs: 30_000,
  responseMs: 10_000,
  inactivityMs: 0,
};
/** Messages of one link that are being stored; beyond it the socket is not read, and TCP slows the sender. */
const MAX_INBOUND = 1_000;
/** Requests of ours that may be unanswered; none are sent yet but enquire_link and unbind. */
const WINDOW = 10;
const INTERFACE_VERSION = 0x34;
const OUR_SYSTEM_ID = 'countersign';

export interface SystemLinkOptions {
  readonly authenticator: BindAuthenticator;
  readonly inbound: InboundService;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  /** The peer is known from here on. */
  readonly onBound: () => void;
}

/** Who is bound, and what it did since. */
interface BoundSession {
  readonly rate: MessageRate;
  readonly seen: ThroughputMeter;
  readonly leave: () => void;
  readonly sinceMs: number;
  throttled: number;
}

/** One connection of a system that connects in: who it is, what it may do, and its messages. */
export class SystemLink {
  readonly #link: SmppLink;
  readonly #meter: LinkMeter;
  /** Settles when the connection is over. */
  readonly ended: Promise<void>;
  #system: SmppSystem | null = null;
  /** What messages are treated by: made once for many of them. */
  #inbound: InboundLink | null = null;
  #bound: BoundSession | null = null;
  #state: LinkState = 'open';
  #closing: Promise<void> | undefined;

  constructor(
    socket: Socket,
    /** Of the connection, not of the system. */
    private readonly id: Uuid,
    private readonly peer: Peer,
    private readonly o: SystemLinkOptions,
  ) {
    const meter = o.metrics.links.meter('listener');
    this.#meter = meter;
    this.#link = new SmppLink(socket, {
      role: 'smsc',
      timers: TIMERS,
      window: WINDOW,
      maxInbound: MAX_INBOUND,
      interfaceVersion: INTERFACE_VERSION,
      systemIdOfServer: OUR_SYSTEM_ID,
      authenticate: (request) => this.authenticate(request),
      onMessage: (pdu) => this.accept(pdu),
      retryableStatus: () => this.#system?.retryableMoStatus ?? STATUS.ESME_RSYSERR,
      onChange: (state) => this.moveTo(state),
      onPdu: (direction, pdu) => meter.see(direction, pdu, performance.now()),
      onMalformed: ({ of, reason }) => o.logger.debug({ address: peer.address, of, reason }, 'malformed PDU'),
    });
    this.ended = this.#link.closed.then(({ reason }) => this.end(reason));
  }

  /** The system that is bound here; null before the bind. */
  get system(): SmppSystem | null {
    return this.#system;
  }

  /** Since when, by the monotonic clock; null unless it is bound. */
  get boundSinceMs(): number | null {
    return this.#bound?.sinceMs ?? null;
  }

  /** What others are told of it; null unless it is bound. */
  get connection(): SystemConnection | null {
    const { bindType, state, windowUsed, enquireLinkRttMs, lastError } = this.#link;
    if (this.#system === null || this.#bound === null || bindType === null) return null;
    const { seen, throttled } = this.#bound;
    return {
      id: this.id,
      systemId: this.#system.id,
      address: `${this.peer.address}:${this.peer.port}`,
      bindType,
      status: {
        state: state === 'unbinding' ? 'draining' : 'bound',
        tls: this.peer.overTls,
        windowUsed,
        submitPerSecond: seen.perSecond(performance.now()),
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

  /** May the peer stay connected by what the system's row says now? */
  meets(system: SmppSystem): boolean {
    return this.hasTermsOf(system) || connectionRefusal(system, this.peer) === null;
  }

  /** Takes on what the system's row says now; messages from here on are treated by it. */
  adopt(system: SmppSystem): void {
    this.follow(system);
    this.o.authenticator.limit(system);
  }

  /** Whether the row asks the same of connections as the row that this link follows now. */
  private hasTermsOf(system: SmppSystem): boolean {
    return this.#system !== null && sameConnectionTerms(this.#system, system);
  }

  /** The row is read every second. Trust is computed again only when the connection terms have changed. */
  private follow(system: SmppSystem): void {
    const unchanged = this.hasTermsOf(system);
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

  /** Answers what came in, unbinds and closes, within that time. Asked again, it waits for the first close. */
  close(withinMs: number): Promise<void> {
    this.#closing ??= this.unbind(withinMs);
    return this.#closing;
  }

  private async unbind(withinMs: number): Promise<void> {
    if (this.#system !== null) await this.#link.unbind(withinMs).catch(() => undefined);
    this.#link.destroy('the gateway closed the link');
    await this.ended;
  }

  private async authenticate(request: BindRequest): Promise<{ status: number }> {
    const { authenticator, logger, metrics } = this.o;
    const about = { systemId: request.systemId, bindType: request.bindType, ...this.peer };
    const admission = await authenticator.admit(request, this.peer);
    if (!admission.admitted) {
      metrics.links.refusedBinds.inc({ refusal: admission.refusal });
      // A password is only ever wrong of a system that exists, so the label takes no name that a peer made up.
      if (admission.refusal === 'wrong_password') metrics.links.countWrongPassword(request.systemId);
      logger.warn({ ...about, refusal: admission.refusal }, 'a bind was refused');
      return { status: admission.status };
    }
    // The connection may have gone while the database was asked: nobody would leave then.
    if (this.#state === 'closed') {
      admission.leave();
      return { status: STATUS.ESME_RBINDFAIL };
    }
    const { system, rate, leave } = admission;
    this.follow(system);
    this.#meter.belongsTo(system.systemId);
    const sinceMs = performance.now();
    this.#bound = { rate, leave, sinceMs, seen: new ThroughputMeter(sinceMs), throttled: 0 };
    logger.info({ ...about, carrier: system.carrier }, 'a system bound');
    return { status: STATUS.ESME_ROK };
  }

  private accept(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer {
    // The engine hands on no message before the bind.
    if (this.#inbound === null || this.#bound === null) return { status: STATUS.ESME_RINVBNDSTS };
    const nowMs = performance.now();
    this.#bound.seen.count(nowMs);
    if (this.#bound.rate.take(nowMs)) return this.o.inbound.accept(pdu, this.#inbound);
    this.#bound.throttled += 1;
    this.o.metrics.retryableResponses.inc({ reason: 'throttled' });
    return { status: STATUS.ESME_RTHROTTLED };
  }

  private moveTo(state: LinkState): void {
    const wasKnown = this.#state !== 'open' && this.#state !== 'binding';
    this.#state = state;
    if (this.#bound !== null && !wasKnown && state !== 'closed') this.o.onBound();
  }

  private end(reason: string): void {
    if (this.#state !== 'closed') this.moveTo('closed');
    this.#bound?.leave();
    this.#bound = null;
    const about = { systemId: this.#system?.systemId, address: this.peer.address, reason };
    if (this.#system === null) this.o.logger.debug(about, 'a connection ended unbound');
    else this.o.logger.info(about, 'a system is gone');
  }
}
