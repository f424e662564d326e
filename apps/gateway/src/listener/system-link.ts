import type { Socket } from 'node:net';
import type { SmppSystem } from '@countersign/carriers';
import { SmppLink, STATUS } from '@countersign/smpp';
import type { BindRequest, LinkState, LinkTimers, MessageAnswer, MessagePdu } from '@countersign/smpp';
import type { Logger } from '@countersign/telemetry';
import type { GatewayMetrics } from '../gateway.metrics.js';
import type { InboundService } from '../inbound/inbound.service.js';
import type { Peer, SystemGate } from './system-gate.js';

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
  readonly gate: SystemGate;
  readonly inbound: InboundService;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
  /** The peer is known from here on. */
  readonly onBound: () => void;
}

/** One connection of a system that connects in: who it is, what it may do, and its messages. */
export class SystemLink {
  readonly #link: SmppLink;
  /** Settles when the connection is over. */
  readonly ended: Promise<void>;
  #system: SmppSystem | null = null;
  #state: LinkState = 'open';
  #leave: (() => void) | null = null;
  #closing: Promise<void> | undefined;

  constructor(
    socket: Socket,
    private readonly peer: Peer,
    private readonly o: SystemLinkOptions,
  ) {
    o.metrics.moveLink('listener', null, this.#state);
    this.#link = new SmppLink(socket, {
      role: 'smsc',
      timers: TIMERS,
      window: WINDOW,
      maxInbound: MAX_INBOUND,
      interfaceVersion: INTERFACE_VERSION,
      systemIdOfServer: OUR_SYSTEM_ID,
      authenticate: (request) => this.authenticate(request),
      onMessage: (pdu) => this.accept(pdu),
      sendAgainStatus: () => this.#system?.retryableMoStatus ?? STATUS.ESME_RSYSERR,
      onChange: (state) => this.moveTo(state),
      onPdu: (direction, pdu) => o.metrics.countPdu('listener', direction, pdu),
      onMalformed: ({ of, reason }) => o.logger.debug({ address: peer.address, of, reason }, 'malformed PDU'),
    });
    this.ended = this.#link.closed.then(({ reason }) => this.end(reason));
  }

  /** The system that is bound here; null before the bind. */
  get system(): SmppSystem | null {
    return this.#system;
  }

  /** Takes on what the system's row says now; messages from here on are treated by it. */
  adopt(system: SmppSystem): void {
    this.#system = system;
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
    const { gate, logger, metrics } = this.o;
    const about = { systemId: request.systemId, bindType: request.bindType, ...this.peer };
    const admission = await gate.admit(request, this.peer);
    if (!admission.admitted) {
      metrics.refusedBinds.inc({ refusal: admission.refusal });
      logger.warn({ ...about, refusal: admission.refusal }, 'a bind was refused');
      return { status: admission.status };
    }
    // The connection may have gone while the database was asked: nobody would leave then.
    if (this.#state === 'closed') {
      admission.leave();
      return { status: STATUS.ESME_RBINDFAIL };
    }
    this.#leave = admission.leave;
    this.#system = admission.system;
    this.o.onBound();
    logger.info({ ...about, carrier: admission.system.carrier }, 'a system bound');
    return { status: STATUS.ESME_ROK };
  }

  private accept(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer {
    // The engine hands on no message before the bind.
    if (this.#system === null) return { status: STATUS.ESME_RINVBNDSTS };
    return this.o.inbound.accept(pdu, this.#system);
  }

  private moveTo(state: LinkState): void {
    this.o.metrics.moveLink('listener', this.#state, state === 'closed' ? null : state);
    this.#state = state;
  }

  private end(reason: string): void {
    if (this.#state !== 'closed') this.moveTo('closed');
    this.#leave?.();
    this.#leave = null;
    const about = { systemId: this.#system?.systemId, address: this.peer.address, reason };
    if (this.#system === null) this.o.logger.debug(about, 'a connection ended unbound');
    else this.o.logger.info(about, 'a system is gone');
  }
}
