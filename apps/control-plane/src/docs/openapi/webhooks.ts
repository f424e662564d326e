import type { OpenAPIObject } from '@nestjs/swagger';
import { EVENTS, type EventText, nameOf } from '../event-data.js';
import type { Schema } from './schema.js';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Post = NonNullable<Webhooks[string]['post']>;
type Parameters = NonNullable<Post['parameters']>;

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

/** One event that is posted to the session's `webhookUrl`, else to the account's default (specification 6). */
function posted({ type, summary, data }: EventText): [string, Webhooks[string]] {
  const operationId = `on${nameOf(type.replace(/^verification\./, ''))}`;
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
    tags: [type.startsWith('webhook.') ? 'Webhooks' : 'Verifications'],
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
export const WEBHOOKS: Webhooks = Object.fromEntries(EVENTS.filter(({ isPosted }) => isPosted).map(posted));
