import type { OpenAPIObject } from '@nestjs/swagger';
import { EVENTS, type EventText, nameOf, postedBody, WEBHOOK_HEADERS } from './event-data.js';

type Webhooks = NonNullable<OpenAPIObject['webhooks']>;
type Post = NonNullable<Webhooks[string]['post']>;
type Parameters = NonNullable<Post['parameters']>;

const HEADERS: Parameters = Object.entries(WEBHOOK_HEADERS).map(([name, { description = '', ...schema }]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema,
}));

/** One event that is posted to the session's `webhookUrl`, else to the account's default (specification 6). */
function posted(event: EventText): [string, Webhooks[string]] {
  const { type, summary } = event;
  const operationId = `on${nameOf(type.replace(/^verification\./, ''))}`;
  const post: Post = {
    operationId,
    summary,
    tags: [type.startsWith('webhook.') ? 'Webhooks' : 'Verifications'],
    security: [],
    parameters: HEADERS,
    requestBody: { required: true, content: { 'application/json': { schema: postedBody(event) } } },
    responses: {
      '2XX': { description: 'Accepted. Any other response, or none within 15 seconds, is retried for a day.' },
      '410': { description: 'Refused permanently: this event is not sent again.' },
    },
  };
  return [type, { post }];
}

/** The webhooks of this service, by Standard Webhooks 1.0. */
export const WEBHOOKS: Webhooks = Object.fromEntries(EVENTS.filter(({ isPosted }) => isPosted).map(posted));
