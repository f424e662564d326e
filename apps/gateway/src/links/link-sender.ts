import type { LinkTerms } from '@countersign/carriers/config';
import type { SendingLink } from '@countersign/carriers/leases';
import type { Outgoing, ResponsePdu, SubmitSm } from '@countersign/smpp/pdu';

/** The settings of a bind or a system that codes are sent by. */
export type SendingTerms = Pick<
  LinkTerms,
  'carrier' | 'defaultAlphabet' | 'responseTimeoutSeconds' | 'messageIdBase' | 'temporaryStatuses' | 'submitOptions'
>;

/** Why a confidential message is not sent over a link. */
export const NOT_TRUSTED = 'the link is not trusted with codes of sign-ins';

/** Sends codes over a connection of a bind, or over those of a system. */
export interface LinkSender {
  readonly terms: SendingTerms;
  /** Recorded with every code sent over it. */
  readonly link: SendingLink;
  /** Maximum codes that may wait for their responses. */
  readonly window: number;
  /** This gateway's share of the rate. */
  readonly perSecond: number;
  /**
   * Sends an SMS, of a code or a test message, as deliver_sm to a system, unless `endsMs` on the monotonic clock, the end of its
   * claim, has passed. A confidential one goes over a connection that is trusted for MO now, or over none: routes are read from a
   * copy. Rejects as `SmppLink.request`: NotSentError when not sent; after any other error it is unknown whether the peer accepted
   * the message.
   */
  submit(pdu: Outgoing<SubmitSm>, endsMs: number): Promise<ResponsePdu>;
}
