import type { BindFields, MalformedPdu, MessagePdu, OutbindFields, Pdu } from '../pdu/pdu.js';
import type { BindType, LinkRole, LinkState } from './link-state.js';
import type { LinkTimers } from './timers.js';

/** A bind that a peer asks for; the password is in clear and must not be kept or logged. */
export interface BindRequest extends BindFields {
  readonly bindType: BindType;
}

/** What `SmppLink.bind` sends; addresses default to unknown, the interface version comes from the options. */
export interface BindCall {
  readonly bindType: BindType;
  readonly systemId: string;
  readonly password: string;
  readonly systemType?: string;
  readonly addressTon?: number;
  readonly addressNpi?: number;
  readonly addressRange?: string;
}

/** Who may ask us by outbind to bind (SMPP 3.4 section 4.1.7), and the bind that goes back on the same connection. */
export interface OutbindAgreement extends OutbindFields {
  readonly bind: BindCall;
}

/** How a message is answered. `messageId` (at most 64 characters) goes into submit_sm_resp and data_sm_resp. */
export interface MessageAnswer {
  readonly status: number;
  readonly messageId?: string;
}

export interface LinkOptions {
  readonly role: LinkRole;
  readonly timers: LinkTimers;
  /** Our unanswered requests; a further one waits. */
  readonly window: number;
  /** The peer's messages being handled; beyond it reading stops until half of them are answered. */
  readonly maxInbound: number;
  /** Requests of ours that wait for a slot of the window; a further one is refused with NotSentError. Default 10 000. */
  readonly maxWaiting?: number;
  readonly interfaceVersion: 0x33 | 0x34 | 0x50;
  /** The system_id in our bind responses. */
  readonly systemIdOfServer?: string;
  /** Send TLVs to an SMSC that leaves sc_interface_version out of its bind response (3.4 section 3.4 says no; most take them). Default true. */
  readonly assumeTlvs?: boolean;
  /** For the role `smsc`: status 0 binds; any other is answered and the link closes. A throw answers ESME_RSYSERR. Without it every bind is refused. */
  authenticate?(bind: BindRequest): Promise<{ readonly status: number }>;
  /** For the role `esme`: the outbind agreed with this SMSC; another one closes the link. Without it outbind is refused. */
  readonly outbind?: OutbindAgreement;
  /**
   * A message came. It is answered when the promise settles; a throw, or silence beyond the response timer, answers
   * `sendAgainStatus`. May answer without a promise.
   */
  onMessage(pdu: MessagePdu): Promise<MessageAnswer> | MessageAnswer;
  /** The status that makes this peer send a message again; asked for each time. Without it ESME_RSYSERR. Must not throw. */
  sendAgainStatus?(): number;
  /**
   * Called right before octets are written to the socket, one turn of the event loop after they were queued. False discards
   * them and destroys the link: the process may have been paused in between. Must not throw.
   */
  mayWrite?(): boolean;
  onChange?(state: LinkState): void;
  /** Every PDU read and written, passwords and text in clear (see `redactPdu`); for metrics and traces. */
  onPdu?(direction: 'in' | 'out', pdu: Pdu): void;
  /**
   * The octets of every PDU read and written, those that are malformed too, before they are handled; passwords and text in
   * clear (see `redactOctets`). A view, valid during the call.
   */
  onOctets?(direction: 'in' | 'out', octets: Buffer): void;
  /** Octets that could not be read as a PDU. */
  onMalformed?(malformed: MalformedPdu): void;
}
