import { renderId, type Uuid } from '@countersign/ids';
import type { NewEvent } from './event.js';

/** A change of the delivery state of a code. */
export interface OtpDelivery {
  readonly messageId: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly sessionWebhookUrl: string | null;
  readonly state: 'submitted' | 'delivered' | 'undelivered' | 'failed';
  /** The reason given by the carrier, or by this service. */
  readonly networkError: string | null;
  readonly at: Date;
}

/** The otp_delivery event (contract, Webhooks): its data is sent as written here. */
export function otpDeliveryEvent(id: Uuid, delivery: OtpDelivery): NewEvent {
  const { messageId, sessionId, accountId, test, sessionWebhookUrl, state, networkError, at } = delivery;
  const data = {
    sessionId: renderId('sess', sessionId),
    messageId: renderId('msg', messageId),
    state,
    ...(networkError === null ? {} : { networkError }),
  };
  return {
    id,
    type: 'verification.otp_delivery',
    accountId,
    test,
    sessionId,
    occurredAt: at,
    data: JSON.stringify(data),
    sessionWebhookUrl,
  };
}
