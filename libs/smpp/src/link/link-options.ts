import type { BindFields, MalformedPdu, MessagePdu, OutbindFields, Pdu } from '../pdu/pdu.js';
import type { BindType, LinkState } from './link-state.js';
import type { LinkTimers } from './timers.js';

/** A bind received from a peer; the password is in clear and must not be stored or logged. */
export interface BindRequest extends BindFields {
  readonly bindType: BindType;
}

/**
 * The fields of the bind that `SmppLink.bind` sends; addresses default to unknown, the interface version comes from
 * the endpoint.
 */
export interface BindCall {
  readonly bindType: BindType;
  readonly systemId: string;
  readonly password: string;
  readonly systemType?: string;
  readonly addressTon?: number;
  readonly addressNpi?: number;
  readonly addressRange?: string;
}

/** The credentials accepted in an outbind (SMPP 3.4 section 4.1.7), and the bind sent back on the same connection. */
export interface OutbindAgreement extends OutbindFields {
  readonly bind: BindCall;
}

/** The answer to a message. `messageId` (at most 64 characters) goes into submit_sm_resp and data_sm_resp. */
export interface MessageAnswer {
  readonly status: number;
  readonly messageId?: string;
}

type InterfaceVersion = 0x33 | 0x34 | 0x50;

/** Our end of a link that binds to an SMSC. */
export interface EsmeEndpoint {
  readonly role: 'esme';
  readonly interfaceVersion: InterfaceVersion;
  /**
   * Send TLVs to an SMSC that omits sc_interface_version from its bind response (3.4 section 3.4 forbids it; most
   * accept them). Default true.
   */
  readonly assumeTlvs?: boolean;
  /** The outbind agreed with this SMSC; any other outbind closes the link. Without it outbind is refused. */
  readonly outbind?: OutbindAgreement;
}

/** Our end of a link to which an ESME binds. */
export interface SmscEndpoint {
  readonly role: 'smsc';
  readonly interfaceVersion: InterfaceVersion;
  /** The system_id in our bind responses, at most 15 characters. */
  readonly systemId?: string;
  /**
   * Status 0 accepts the bind; any other is answered and the link closes. A throw answers ESME_RSYSERR. Without it
   * every bind is refused.
   */
  authenticate?(bind: BindRequest): Promise<{ readonly status: number }>;
  /**
   * Called with the outbind of an SMSC that opened this connection, before any bind (SMPP 3.4, 4.1.7); the password is in
   * clear. Nothing more is read: either release the socket (`SmppLink.releaseSocket`) and bind over it as the ESME, or
   * close the link, within the session-init timer. Without it outbind is refused.
   */
  onOutbind?(fields: OutbindFields): void;
}

/** Maximum numbers of requests of one link. */
export interface LinkLimits {
  /** Our unanswered requests; further requests are queued. */
  readonly window: number;
  /** The peer's messages handled at once; beyond it reading stops until half of them are answered. */
  readonly maxInbound: number;
  /** Our requests queued for a window slot; further requests are rejected with NotSentError. Default 10 000. */
  readonly maxWaiting?: number;
}

/** The calls of a link to its owner. An exception in one of the listeners (`on...`) does not break the link. */
export interface LinkHandlers {
  /**
   * Handles a message of the peer. It is answered when the promise settles; a throw, or no result within the response
   * timer, answers `retryableStatus`. May return the answer synchronously.
   */
  onMessage(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer;
  /**
   * Milliseconds for which the socket is not read; asked after each read. Messages that were read already are still passed
   * to `onMessage`. Default 0. Must not throw.
   */
  pauseMs?(): number;
  /**
   * The status that makes this peer send a message again; called once per failed message. Default ESME_RSYSERR. Must
   * not throw.
   */
  retryableStatus?(): number;
  /**
   * Called right before octets are written to the socket, one event loop turn after they were queued. False discards
   * them and destroys the link: the process may have been paused in between. Must not throw.
   */
  mayWrite?(): boolean;
  onChange?(state: LinkState): void;
  /**
   * Called for every PDU read and written, with passwords and text in clear (see `redactPdu`); for metrics and
   * traces.
   */
  onPdu?(direction: 'in' | 'out', pdu: Pdu): void;
  /**
   * Called with the octets of every PDU read and written, malformed PDUs included, before it is handled; passwords
   * and text in clear (see `redactOctets`). The buffer is a view, valid during the call. `isConfidential`: the text must not be
   * recorded.
   */
  onOctets?(direction: 'in' | 'out', octets: Buffer, isConfidential: boolean): void;
  /** Called for octets that could not be decoded as a PDU. */
  onMalformed?(malformed: MalformedPdu): void;
}

export interface LinkOptions {
  readonly endpoint: EsmeEndpoint | SmscEndpoint;
  readonly timers: LinkTimers;
  readonly limits: LinkLimits;
  readonly handlers: LinkHandlers;
}

const SYSTEM_ID_OCTETS = 15;

/** Throws RangeError when responseMs, window or maxInbound is below 1, or our system_id is too long. */
export function checkLinkOptions({ endpoint, timers, limits }: LinkOptions): void {
  if (timers.responseMs < 1 || limits.window < 1 || limits.maxInbound < 1) {
    throw new RangeError('responseMs, window and maxInbound are at least 1');
  }
  if (endpoint.role === 'smsc' && (endpoint.systemId ?? '').length > SYSTEM_ID_OCTETS) {
    throw new RangeError(`a system_id has at most ${SYSTEM_ID_OCTETS} characters`);
  }
}
