import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { SessionAnswer } from '../../verify/session.view.js';
import type { Schema } from './schema.js';

/** A schema, or a reference to one. */
export type WrittenSchema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** The description of one type of event in the API documents. */
export interface EventText {
  readonly type: string;
  readonly summary: string;
  readonly data: WrittenSchema;
  /** Example of the data; of a Session, only fields that differ from a new one. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Whether it is posted to webhooks; WebSocket channels carry all types. */
  readonly isPosted: boolean;
}

export const text = (pattern?: string, description?: string): Schema => ({
  type: 'string',
  ...(pattern === undefined ? {} : { pattern }),
  ...(description === undefined ? {} : { description }),
});

/** An object with these fields, all but the optional ones required. */
export function object(properties: Record<string, WrittenSchema>, optional: readonly string[] = []): Schema {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) };
}

/** Pattern of the end of every id. */
export const ID = '[0-7][0-9A-HJKMNP-TV-Z]{25}$';

/** Headers of every webhook besides those of HTTP. */
export const WEBHOOK_HEADERS: Readonly<Record<string, Schema>> = {
  'webhook-id': text(`^evt_${ID}`, 'The id of the event: the same on every attempt.'),
  'webhook-timestamp': text('^[0-9]+$', 'Seconds since 1970 of this attempt.'),
  'webhook-signature': text(
    '^v1,',
    'HMAC-SHA256 over id.timestamp.body; two, separated by a space, while a secret is being replaced.',
  ),
};

/** The body of a webhook. */
export const postedBody = ({ type, data }: EventText): Schema =>
  object({
    type: { type: 'string', enum: [type] },
    timestamp: { type: 'string', format: 'date-time', description: 'Time of the event.' },
    data,
  });

const SESSION = { $ref: getSchemaPath(SessionAnswer) };
const OTP_DELIVERY = object(
  {
    sessionId: text(`^sess_${ID}`),
    messageId: text(`^msg_${ID}`),
    state: { type: 'string', enum: ['submitted', 'delivered', 'undelivered', 'failed'] },
    networkError: text(undefined, 'As the carrier reports it.'),
  },
  ['networkError'],
);

const SESSION_ID = 'sess_01HF7YAT000000000000000001';
const ACCOUNT_ID = 'acct_01HF7YAT000000000000000002';

/** An event whose example is a session of this status. */
const ofSession = (type: string, summary: string, status: string): EventText => ({
  type,
  summary,
  data: SESSION,
  example: { status },
  isPosted: true,
});

/** Every stored type of event, in the order of the contract. */
export const EVENTS: readonly EventText[] = [
  ofSession('verification.completed', 'A session was approved', 'approved'),
  ofSession('verification.denied', 'The user denied, on the card (opt-in)', 'denied'),
  ofSession('verification.expired', 'A session expired (opt-in)', 'expired'),
  ofSession('verification.cancelled', 'A session was cancelled (opt-in)', 'cancelled'),
  {
    type: 'verification.sender_mismatch',
    summary: 'A session’s token came from another phone (opt-in)',
    data: object({ sessionId: text(`^sess_${ID}`), accountId: text(`^acct_${ID}`), brandId: text(`^brd_${ID}`) }),
    example: { sessionId: SESSION_ID, accountId: ACCOUNT_ID, brandId: 'brd_01HF7YAT000000000000000003' },
    isPosted: true,
  },
  {
    type: 'verification.otp_delivery',
    summary: 'The delivery state of a code by SMS changed (opt-in)',
    data: OTP_DELIVERY,
    example: { sessionId: SESSION_ID, messageId: 'msg_01HF7YAT000000000000000004', state: 'delivered' },
    isPosted: true,
  },
  {
    type: 'webhook.test',
    summary: 'You requested a test',
    data: object({ accountId: text(`^acct_${ID}`) }),
    example: { accountId: ACCOUNT_ID },
    isPosted: true,
  },
  {
    type: 'webhook.disabled',
    summary: 'The account’s default URL failed for 5 days and is no longer used',
    data: object({
      accountId: text(`^acct_${ID}`),
      url: { type: 'string', format: 'uri' },
      reason: text(undefined, 'For people; it may change.'),
    }),
    example: { accountId: ACCOUNT_ID, url: 'https://example.com/hook', reason: 'Every attempt of 5 days failed.' },
    isPosted: false,
  },
];

/** `verification.sender_mismatch` becomes `VerificationSenderMismatch`. */
export const nameOf = (type: string): string =>
  type
    .split(/[._]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
