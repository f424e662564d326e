import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { SessionAnswer } from '../../verify/session.view.js';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Post = NonNullable<Webhooks[string]['post']>;
type Parameters = NonNullable<Post['parameters']>;
type Schema = Exclude<NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string], { $ref: string }>;

const header = (name: string, description: string, pattern: string): Parameters[number] => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
});

const HEADERS: Parameters = [
  header('webhook-id', 'The event: the same on every attempt.', '^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$'),
  header('webhook-timestamp', 'Seconds since 1970 of this attempt.', '^[0-9]+$'),
  header('webhook-signature', 'HMAC-SHA256 over id.timestamp.body; two while a secret is rolled over.', '^v1,'),
];

const text = (pattern?: string): Schema => ({ type: 'string', ...(pattern === undefined ? {} : { pattern }) });

function object(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) };
}

const SESSION = { $ref: getSchemaPath(SessionAnswer) };

const MISMATCH = object({ sessionId: text('^sess_'), accountId: text('^acct_'), brandId: text('^brd_') });

const OTP_DELIVERY = object(
  {
    sessionId: text('^sess_'),
    messageId: text('^msg_'),
    state: { type: 'string', enum: ['submitted', 'delivered', 'undelivered', 'failed'] },
    networkError: text(),
  },
  ['networkError'],
);

/** One event that is posted to the session's `webhookUrl`, else to the account's default (specification 6). */
function event(type: string, summary: string, data: Schema | { $ref: string }): [string, Webhooks[string]] {
  const [, ...words] = type.split(/[._]/);
  const operationId = `on${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}`;
  const schema: Schema = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    properties: {
      type: { type: 'string', enum: [type] },
      timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
      data,
    },
  };
  const post: Post = {
    operationId,
    summary,
    tags: ['Verifications'],
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': { description: 'Taken. Any other answer, or none within 15 seconds, is tried again for a day.' },
      '410': { description: 'Not wanted: this event is not sent again.' },
    },
  };
  return [type, { post }];
}

/** What this service sends by Standard Webhooks 1.0. */
export const WEBHOOKS: Webhooks = Object.fromEntries([
  event('verification.completed', 'A session was approved', SESSION),
  event('verification.denied', 'The user denied, on the card (opt-in)', SESSION),
  event('verification.expired', 'A session expired (opt-in)', SESSION),
  event('verification.cancelled', 'A session was cancelled (opt-in)', SESSION),
  event('verification.sender_mismatch', 'A session’s token came from another phone (opt-in)', MISMATCH),
  event('verification.otp_delivery', 'What became of a code by SMS (opt-in)', OTP_DELIVERY),
]);
