import { renderId, type Uuid } from '@countersign/ids';
import type { NewEvent } from './event.js';

/** A code got somewhere, or will not. */
export interface OtpDelivery {
  readonly messageId: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly sessionWebhookUrl: string | null;
  readonly state: 'submitted' | 'delivered' | 'undelivered' | 'failed';
  /** What the carrier, or we, gave as the reason. */
  readonly networkError: string | null;
  readonly at: Date;
}

/** The event that tells of it (contract, Webhooks): its data is what is written here, and goes out as it is. */
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
