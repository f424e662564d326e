import type { Socket } from 'node:net';
import type { BindTerms } from './bind-terms.js';
import { RESPONSE_BIT, STATUS, commandId } from '../pdu/dictionary.js';
import { InboundMessages } from './inbound-messages.js';
import { LinkClosedError, NotSentError } from './link-errors.js';
import { checkLinkOptions } from './link-options.js';
import type { BindCall, EsmeEndpoint, LinkOptions, MessageAnswer, SmscEndpoint } from './link-options.js';
import { isBound, requestKind, stateAfter, statusOnRequest } from './link-state.js';
import type { BindType, LinkEvent, LinkRole, LinkState } from './link-state.js';
import { ANCILLARY_STATUS, messageResponseCallbacks, sendAnswer } from './message-answer.js';
import { OutboundRequests } from './outbound-requests.js';
import { bare } from '../pdu/pdu.js';
import { NO_TLVS } from '../pdu/tlv.js';
import type { EnquireLink, MalformedPdu, MessagePdu, OutbindFields, Outgoing, Pdu, ResponsePdu } from '../pdu/pdu.js';
import { withoutUnsupportedTlvs, refusalOf } from './sendable.js';
import {
  timersBound,
  timersEnquireAnswered,
  timersRead,
  timersReadingResumed,
  timersReadingStopped,
} from './timers.js';
import type { LinkTimers, TimerName } from './timers.js';
import { isOtherRequest, PeerLimits } from './peer-limits.js';
import { isAnswer, RequestWindow, type AnswerPdu } from './window.js';
import { EsmeBind, type BindOutcome } from './esme-bind.js';
import { SmscBind } from './smsc-bind.js';
import { UnbindSequence, PEER_CLOSED, PEER_UNBOUND, UNBOUND } from './unbind-sequence.js';
import { LinkTimerDriver } from './link-timer-driver.js';
import { LinkTap } from './link-tap.js';
import { PduReader } from './pdu-reader.js';
import { PduSocket } from './pdu-socket.js';

/** Default of `maxWaiting`. */
const MAX_WAITING = 10_000;
const RELEASED = 'the socket was released';
/** Close reasons that are not errors. */
const ORDERLY: ReadonlySet<string> = new Set([UNBOUND, PEER_UNBOUND, RELEASED]);

/**
 * One SMPP connection, in either role; it begins with a connected (or connecting) socket and ends with it. Any input
 * is answered or closes the link; nothing the peer sends makes it throw.
 */
export class SmppLink {
  /** Resolves when the socket is closed or released; never rejects. */
  readonly closed: Promise<{ readonly reason: string }>;

  #state: LinkState = 'open';
  /** The agreed terms; null before the bind. */
  #terms: BindTerms | null = null;
  #lastError: string | null = null;
  #closeReason = 'closed';
  #enquireLinkRttMs: number | null = null;
  #answerSeen = false;
  #messageSeen = false;
  /** An outbind was received in role smsc: nothing more is read. */
  #isHeld = false;
  /** Ends the pause of reading that `pauseMs` has asked for; undefined without one. */
  #resumeTimer: NodeJS.Timeout | undefined;

  readonly #options: LinkOptions;
  readonly #timerDriver: LinkTimerDriver;
  readonly #limits: PeerLimits;
  readonly #requests: OutboundRequests;
  readonly #inbound: InboundMessages;
  /** The bind that this side sends or receives; null in the other role. */
  readonly #esmeBind: EsmeBind | null;
  readonly #smscBind: SmscBind | null;
  readonly #unbindSequence: UnbindSequence;
  readonly #reader: PduReader;
  readonly #socket: PduSocket;

  /** Throws RangeError when responseMs, window or maxInbound is below 1, or our system_id is too long. */
  constructor(socket: Socket, options: LinkOptions) {
    const { endpoint, timers, limits, handlers } = options;
    const { window, maxInbound, maxWaiting = MAX_WAITING } = limits;
    checkLinkOptions(options);
    this.#options = options;
    this.#timerDriver = new LinkTimerDriver({
      settings: timers,
      waiting: () => ({ answerDueMs: this.#requests.nextDueMs, handlerDueMs: this.#inbound.nextDueMs }),
      onFired: (timer) => this.#timerFired(timer),
    });
    const nowMs = (): number => this.#timerDriver.nowMs();
    this.#limits = new PeerLimits(nowMs());
    const responseMs = (): number => this.#timerDriver.settings.responseMs;
    const transmit = (pdu: Pdu): void => this.#socket.send(pdu);
    this.#requests = new OutboundRequests(new RequestWindow(window), { maxWaiting, responseMs, nowMs, transmit });
    this.#inbound = new InboundMessages({
      maxOpen: maxInbound,
      dueMs: () => nowMs() + responseMs(),
      handle: (pdu) => handlers.onMessage(pdu),
      answer: (pdu, answer) => this.#answerMessage(pdu, answer),
      onAnswered: () => this.#inboundAnswered(),
    });
    this.#esmeBind = endpoint.role === 'esme' ? this.#prepareEsmeBind(endpoint) : null;
    this.#smscBind = endpoint.role === 'smsc' ? this.#prepareSmscBind(endpoint) : null;
    this.#unbindSequence = this.#prepareUnbind();
    const tap = new LinkTap(handlers, (error) => this.#listenerFailed(error));
    this.#reader = new PduReader({
      tap,
      onReceived: (pdu) => this.#receive(pdu),
      onReadDone: (read) => this.#readDone(read),
    });
    this.#socket = this.#open(socket, this.#reader, tap);
    this.closed = this.#socket.gone.then(() => ({ reason: this.#closeReason }));
    this.#timerDriver.arm();
  }

  /** `unbinding` from the moment either side starts an unbind. */
  get state(): LinkState {
    return this.#unbindSequence.hasBegun && isBound(this.#state) ? 'unbinding' : this.#state;
  }
  /** Readable after the link closed; null when it was never bound. */
  get bindType(): BindType | null {
    return this.#terms?.bindType ?? null;
  }
  /** The peer's system_id: from its bind (role smsc) or its bind response (role esme). */
  get systemId(): string | null {
    return this.#terms?.systemId ?? null;
  }
  get windowUsed(): number {
    return this.#requests.windowUsed;
  }
  /** The last error, without any value sent by the peer. */
  get lastError(): string | null {
    return this.#lastError;
  }
  /** Round-trip time of the last answered enquire_link, in milliseconds. */
  get enquireLinkRttMs(): number | null {
    return this.#enquireLinkRttMs;
  }

  /**
   * Binds as an ESME. A refusal is a value (status other than 0) and closes the link. Rejects with NotSentError,
   * ResponseTimeoutError or LinkClosedError, and closes the link too.
   */
  bind(call: BindCall): Promise<BindOutcome> {
    if (this.#esmeBind === null) return Promise.reject(this.#refusalOf('bind'));
    const outcome = this.#esmeBind.call(call);
    this.#timerDriver.arm();
    return outcome;
  }

  /**
   * Sends an outbind (SMPP 3.4 section 4.1.7): asks the ESME to bind on this connection. `authenticate` then decides
   * its bind. Throws NotSentError in any other role or state, InvalidPduError when a field does not fit.
   */
  outbind(fields: OutbindFields): void {
    if (this.#role !== 'smsc' || this.state !== 'open') throw this.#refusalOf('outbind');
    this.#requests.sendOutbind({ command: 'outbind', status: 0, fields, tlvs: NO_TLVS });
  }

  /**
   * Sends a request and waits for its response, whatever its status. Waits for a window slot at most the response
   * time. Rejects with NotSentError when it was not sent; with LinkClosedError, ResponseTimeoutError or
   * UnreadableResponseError when it was sent and the outcome is unknown.
   */
  request(pdu: Outgoing<MessagePdu | EnquireLink>): Promise<ResponsePdu> {
    return new Promise((resolve, reject) => {
      const callbacks = messageResponseCallbacks(resolve, reject);
      const sender = { role: this.#role, state: this.#state, terms: this.#terms };
      const refusal = this.#unbindSequence.hasBegun ? 'the link is unbinding' : refusalOf(pdu, sender);
      if (refusal !== null) reject(new NotSentError(refusal));
      else if (pdu.command === 'enquire_link') this.#requests.sendUrgent(pdu, callbacks);
      else this.#requests.send(withoutUnsupportedTlvs(pdu, this.#terms), callbacks);
      if (this.#requests.windowUsed <= 1) this.#timerDriver.arm();
    });
  }

  /**
   * Changes the maximum number of our unanswered requests without a rebind. Throws RangeError when `window` is below
   * 1.
   */
  setWindow(window: number): void {
    if (!Number.isInteger(window) || window < 1) throw new RangeError('a window is a whole number of at least 1');
    this.#requests.setWindow(window);
    this.#timerDriver.arm();
  }

  /** Changes timers without a rebind; requests that are under way keep their deadlines. Throws RangeError as the constructor. */
  setTimers(changes: Partial<LinkTimers>): void {
    const settings = { ...this.#timerDriver.settings, ...changes };
    if (settings.responseMs < 1) throw new RangeError('responseMs is at least 1');
    this.#timerDriver.settings = settings;
  }

  /**
   * Unbinds in order: queued requests are rejected, requests in the window are awaited, the peer's messages are
   * answered throughout, then unbind, then close. Resolves when the socket is closed, at the latest after `timeoutMs`
   * (default: the response time) and the time a peer gets to close.
   */
  async unbind(timeoutMs = this.#timerDriver.settings.responseMs): Promise<void> {
    if (isBound(this.#state)) {
      this.#requests.refuseWaiting('the link is unbinding');
      this.#unbindSequence.begin(timeoutMs);
      if (isBound(this.#state)) this.#notify(() => this.#options.handlers.onChange?.('unbinding'));
    } else if (this.#state !== 'unbinding') {
      this.#close(UNBOUND, 'flush');
    }
    await this.closed;
  }

  /**
   * Ends the link without closing its socket, after `onOutbind`: returns the socket, paused, for a link in role esme that
   * binds over it. Null when the link has closed meanwhile, or in any other state.
   */
  releaseSocket(): Socket | null {
    if (!this.#isHeld || this.#state === 'closed') return null;
    const socket = this.#socket.detach();
    this.#end(RELEASED);
    return socket;
  }

  /** Closes at once, without an unbind. */
  destroy(reason: string): void {
    this.#close(reason, 'now');
  }

  get #role(): LinkRole {
    return this.#options.endpoint.role;
  }

  #refusalOf(request: 'bind' | 'outbind'): NotSentError {
    return new NotSentError(`a link in role ${this.#role} and state ${this.state} cannot ${request}`);
  }

  // ---- receiving

  #open(socket: Socket, reader: PduReader, tap: LinkTap): PduSocket {
    const { handlers } = this.#options;
    return new PduSocket(socket, {
      reader,
      tap,
      onBroken: (reason, how) => (how === 'half' ? this.#peerClosed() : this.#close(reason, how)),
      mayWrite: handlers.mayWrite?.bind(handlers),
    });
  }

  #readDone(read: { readonly partial: boolean; readonly completed: boolean }): void {
    const { ms, reason } = this.#limits.pause(this.#timerDriver.nowMs());
    this.#lastError = reason ?? this.#lastError;
    const pauseMs = Math.max(ms, this.#options.handlers.pauseMs?.() ?? 0);
    const seen = { ...read, answered: this.#answerSeen, message: this.#messageSeen, isHeldBack: pauseMs > 0 };
    this.#timerDriver.timers = timersRead(this.#timerDriver.timers, this.#timerDriver.nowMs(), seen);
    this.#answerSeen = false;
    this.#messageSeen = false;
    if ((this.#inbound.isFull || pauseMs > 0) && !this.#socket.isReadingStopped) {
      this.#timerDriver.timers = timersReadingStopped(this.#timerDriver.timers);
      this.#socket.stopReading();
      if (pauseMs > 0) this.#resumeTimer = setTimeout(() => this.#resumeReading(), pauseMs);
    }
    this.#timerDriver.arm();
  }

  #receive(pdu: Pdu | MalformedPdu): void {
    if (pdu.command === 'malformed') {
      if (this.#mayHandleOther()) this.#receiveMalformed(pdu);
    } else if (isAnswer(pdu)) {
      this.#receiveAnswer(pdu);
    } else if (pdu.command !== 'outbind' || !this.#holdForOutbind(pdu.fields)) {
      const kind = requestKind(pdu.command);
      const status = statusOnRequest(this.#role, this.#state, kind);
      if (isOtherRequest(kind, status) && !this.#mayHandleOther()) return;
      if (status === STATUS.ESME_ROK) this.#receiveRequest(pdu);
      else this.#socket.refuse(commandId(pdu.command), status, pdu.sequence);
    }
  }

  /** False when the peer has sent so many PDUs before its bind that the connection was closed. */
  #mayHandleOther(): boolean {
    if (this.#limits.countOther(this.#terms !== null)) return true;
    this.#close('too many PDUs before the bind', 'now');
    return false;
  }

  #receiveRequest(pdu: Exclude<Pdu, AnswerPdu>): void {
    switch (pdu.command) {
      case 'submit_sm':
      case 'deliver_sm':
      case 'data_sm':
        this.#messageSeen = true;
        this.#inbound.handleOrQueue(pdu);
        break;
      case 'enquire_link':
        this.#socket.send({ ...bare('enquire_link_resp'), sequence: pdu.sequence });
        break;
      case 'unbind':
        this.#change('unbind');
        this.#requests.refuseWaiting('the peer unbinds');
        this.#unbindSequence.peerRequested(pdu.sequence);
        break;
      case 'outbind':
        if (this.#esmeBind?.receiveOutbind(pdu.fields) !== true) {
          this.#socket.refuse(commandId('outbind'), STATUS.ESME_RINVBNDSTS, pdu.sequence);
        }
        break;
      case 'query_sm':
      case 'cancel_sm':
      case 'replace_sm':
        this.#socket.refuse(commandId(pdu.command), ANCILLARY_STATUS[pdu.command], pdu.sequence);
        break;
      case 'alert_notification':
        // It has no response.
        break;
      default:
        this.#change('bind');
        this.#smscBind?.receive(pdu);
    }
  }

  /** False unless the owner takes outbinds, and this is the first request of the peer that needs no bind before it. */
  #holdForOutbind(fields: OutbindFields): boolean {
    const { endpoint } = this.#options;
    if (endpoint.role !== 'smsc' || endpoint.onOutbind === undefined || this.state !== 'open') return false;
    this.#isHeld = true;
    this.#change('bind');
    this.#socket.hold();
    this.#notify(() => endpoint.onOutbind?.(fields));
    return true;
  }

  #receiveAnswer(answer: AnswerPdu): void {
    if (!this.#requests.resolveRequest(answer)) {
      this.#mayHandleOther();
      return;
    }
    this.#answerSeen = true;
    if (answer.command !== 'enquire_link_resp') this.#messageSeen = true;
    this.#unbindSequence.advance();
  }

  #receiveMalformed(malformed: MalformedPdu): void {
    const { commandId: id, sequence, of, reason } = malformed;
    this.#lastError = `${of ?? 'unknown command'}: ${reason}`;
    this.#notify(() => this.#options.handlers.onMalformed?.(malformed));
    if (id >= RESPONSE_BIT) {
      this.#requests.rejectUnreadable(sequence, of, reason);
      return;
    }
    const kind = requestKind(of ?? 'other');
    const refusal = of === null ? malformed.status : statusOnRequest(this.#role, this.#state, kind);
    const isAllowed = refusal === STATUS.ESME_ROK;
    if (kind === 'alert_notification' && isAllowed) return;
    this.#socket.refuse(id, isAllowed ? malformed.status : refusal, sequence);
    if (kind === 'bind' && isAllowed) this.#close('a malformed bind', 'flush');
  }

  // ---- binding

  #bound(terms: BindTerms): void {
    this.#terms = terms;
    this.#reader.raiseLimits(terms.limits);
    this.#timerDriver.timers = timersBound(this.#timerDriver.timers, this.#timerDriver.nowMs());
    this.#change(`bound_${terms.bindType}`);
    this.#timerDriver.arm();
  }

  // ---- messages

  #answerMessage(pdu: MessagePdu, handled: MessageAnswer | null): void {
    const answer = handled ?? { status: this.#options.handlers.retryableStatus?.() ?? STATUS.ESME_RSYSERR };
    if (answer.status !== STATUS.ESME_ROK) this.#limits.countRefused();
    this.#lastError = sendAnswer(this.#socket, pdu, answer, this.#terms) ?? this.#lastError;
  }

  #inboundAnswered(): void {
    if (this.#resumeTimer === undefined) this.#resumeReading();
    this.#unbindSequence.advance();
  }

  #resumeReading(): void {
    this.#resumeTimer = undefined;
    if (this.#socket.isReadingStopped && this.#inbound.mayResume) {
      this.#timerDriver.timers = timersReadingResumed(this.#timerDriver.timers, this.#timerDriver.nowMs());
      this.#socket.resumeReading();
      this.#timerDriver.arm();
    }
  }

  // ---- time and the end

  #timerFired(timer: TimerName): void {
    switch (timer) {
      case 'enquire-link':
        this.#enquire();
        break;
      case 'response':
        this.#requests.failOverdue(this.#timerDriver.nowMs());
        this.#unbindSequence.advance();
        break;
      case 'handler':
        this.#inbound.failOverdue(this.#timerDriver.nowMs());
        break;
      case 'inactivity':
        this.#lastError = 'the inactivity timer ran out';
        void this.unbind();
        break;
      default:
        this.#close(`the ${timer} timer ran out`, timer === 'dead-link' ? 'now' : 'flush');
    }
  }

  #enquire(): void {
    const sentMs = this.#timerDriver.nowMs();
    const resolve = (): void => {
      const nowMs = this.#timerDriver.nowMs();
      this.#enquireLinkRttMs = nowMs - sentMs;
      this.#timerDriver.timers = timersEnquireAnswered(this.#timerDriver.timers, nowMs);
    };
    // The dead-link timer handles a missing response.
    this.#requests.sendUrgent(bare('enquire_link'), { resolve, reject: () => undefined });
  }

  #prepareEsmeBind(endpoint: EsmeEndpoint): EsmeBind {
    return new EsmeBind({
      endpoint,
      requests: this.#requests,
      begin: () => (this.#change('bind') ? null : this.#refusalOf('bind')),
      onBound: (terms) => this.#bound(terms),
      close: (reason) => this.#close(reason, 'flush'),
    });
  }

  #prepareSmscBind(endpoint: SmscEndpoint): SmscBind {
    return new SmscBind({
      endpoint,
      state: () => this.state,
      send: (pdu) => this.#socket.send(pdu),
      onBound: (terms) => this.#bound(terms),
      close: (reason) => this.#close(reason, 'flush'),
    });
  }

  #prepareUnbind(): UnbindSequence {
    return new UnbindSequence({
      inboundIsEmpty: () => this.#inbound.isEmpty,
      windowIsEmpty: () => this.#requests.windowUsed === 0,
      sendUnbind: (callbacks) => {
        this.#requests.sendUrgent(bare('unbind'), callbacks);
        this.#timerDriver.arm();
      },
      answerUnbind: (sequence) => this.#socket.send({ ...bare('unbind_resp'), sequence }),
      close: (reason) => this.#close(reason, 'flush'),
    });
  }

  /** The peer closed its sending side: what it sent is answered, what we sent is not. */
  #peerClosed(): void {
    const canAnswer = isBound(this.#state) || this.#state === 'unbinding';
    const isIdle = this.#inbound.isEmpty && !this.#unbindSequence.hasBegun;
    if (isIdle || !canAnswer) {
      this.#close(PEER_CLOSED, 'flush');
      return;
    }
    this.#change('unbind');
    this.#unbindSequence.peerClosed();
    this.#requests.close(new LinkClosedError(PEER_CLOSED));
    this.#unbindSequence.advance();
  }

  #close(reason: string, how: 'flush' | 'now'): void {
    this.#end(reason);
    this.#socket.close(how);
  }

  #end(reason: string): void {
    if (!this.#change('close')) return;
    this.#closeReason = reason;
    if (!ORDERLY.has(reason)) this.#lastError = reason;
    clearTimeout(this.#resumeTimer);
    this.#timerDriver.stop();
    this.#unbindSequence.stop();
    this.#inbound.close();
    this.#requests.close(new LinkClosedError(reason));
  }

  #change(event: LinkEvent): boolean {
    const next = stateAfter(this.#state, event);
    if (next === null) return false;
    this.#state = next;
    this.#notify(() => this.#options.handlers.onChange?.(next));
    return true;
  }

  /** An exception in a callback of the link's owner must not break the link. */
  #notify(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#listenerFailed(error);
    }
  }

  #listenerFailed(error: unknown): void {
    this.#lastError = `listener: ${error instanceof Error ? error.message : 'unknown'}`;
  }
}
