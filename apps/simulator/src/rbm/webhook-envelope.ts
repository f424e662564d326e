import { createHmac, randomInt } from 'node:crypto';
import type { RbmEvent } from './rbm-event.js';
import type { RbmFaults } from './rbm-switches.js';

const MESSAGE_ID_DIGITS = 17;

/** The posted body in the form of a Pub/Sub push; the octets of its data are signed. */
export interface Envelope {
  readonly body: string;
  readonly data: Buffer;
}

export function envelopeOf(event: RbmEvent, faults: RbmFaults, nowMs: number): Envelope {
  const data = Buffer.from(JSON.stringify(bodyOf(event, faults)));
  const messageId = Array.from({ length: MESSAGE_ID_DIGITS }, () => randomInt(10)).join('');
  const publishTime = new Date(nowMs).toISOString();
  const message = {
    attributes: { business_id: event.body['agentId'], product: 'RBM', project_number: '123456789012' },
    data: data.toString('base64'),
    messageId,
    message_id: messageId,
    publishTime,
    publish_time: publishTime,
  };
  return { data, body: JSON.stringify({ message, subscription: 'projects/simulator/subscriptions/rbm' }) };
}

/** Standard base64 of HMAC-SHA512 over the decoded data, keyed with the client token. */
export const signatureOf = (data: Buffer, clientToken: string): string =>
  createHmac('sha512', clientToken).update(data).digest('base64');

function bodyOf({ body }: RbmEvent, { wrongAgent, omitSendTime, omitType }: RbmFaults): Record<string, unknown> {
  const { sendTime, suggestionResponse, ...rest } = body;
  return {
    ...rest,
    ...(wrongAgent ? { agentId: 'somebody_else@rbm.goog' } : {}),
    ...(omitSendTime || sendTime === undefined ? {} : { sendTime }),
    ...(suggestionResponse === undefined
      ? {}
      : { suggestionResponse: omitType ? withoutType(suggestionResponse) : suggestionResponse }),
  };
}

const withoutType = (response: unknown): unknown =>
  typeof response === 'object' && response !== null
    ? Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'type'))
    : response;
