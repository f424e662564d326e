import type { OpenAPIObject } from '@nestjs/swagger';
import { describeEvents, eventSchemas, type AsyncMessage } from '../asyncapi/asyncapi-document.js';
import { FRAMES } from '../asyncapi/frames.js';
import { EVENTS, object } from '../openapi/event-data.js';
import { anchorOf, inline } from '../rendering/markdown.js';
import { Schemas } from '../openapi/schema.js';
import { block, code, escape, page } from '../rendering/page.js';
import { fieldTable } from './field-table.js';

/** The page of all messages and events besides the calls of the API. */
export function messagePage(openapi: OpenAPIObject, publicBaseUrl: string): string {
  const { messages } = describeEvents(openapi, publicBaseUrl).components;
  const schemas = new Schemas({ components: { schemas: eventSchemas(openapi) } });
  const frames = (from: 'client' | 'server'): string =>
    FRAMES.filter((frame) => frame.from === from)
      .map(({ type, schema }) => section(messages[type], fieldsOf(schemas, schema)))
      .join('\n');
  const main = [
    `<p>${inline(INTRODUCTION)}</p>`,
    '<h2 id="you-send">You send, over the WebSocket</h2>',
    frames('client'),
    '<h2 id="you-hear">You receive, over the WebSocket</h2>',
    frames('server'),
    '<h2 id="events">Events</h2>',
    `<p>${inline(DATA)}</p>`,
    ...EVENTS.map((event) => eventSection(event, schemas)),
  ].join('\n');
  return page({ title: 'Messages and events', path: '/docs/messages', main });
}

const INTRODUCTION =
  'Messages over the [WebSocket](/docs/realtime), and events posted to [webhooks](/docs/webhooks). For machines: `/v1/asyncapi.json`, in AsyncAPI 3.';
const DATA =
  'The `data` of an event is the same in a webhook and on the WebSocket. If it is a Session, a page with a ticket receives eight of its fields: `id`, `status`, `channel`, `fallbackUri`, `expiresAt`, `createdAt`, `approvedAt`, `latencyMs`; it does not receive the other events.';

const fieldsOf = (schemas: Schemas, name: string): string =>
  fieldTable(
    schemas
      .fields({ $ref: `#/components/schemas/${name}` })
      .filter(({ name: field }) => !field.startsWith('snapshot.')),
    { asked: false },
  );

function section(message: AsyncMessage | undefined, fields: string): string {
  if (message === undefined) return '';
  const { name, summary, examples } = message;
  return `<h3 id="${anchorOf(name)}">${code(name)}</h3>
<p>${escape(summary)}.</p>
${block(JSON.stringify(examples[0].payload, null, 2))}
${fields}`;
}

function eventSection({ type, summary, data, isPosted }: (typeof EVENTS)[number], schemas: Schemas): string {
  const isSession = '$ref' in data;
  const fields = isSession
    ? `<p>Data: the <a href="/docs/api/verifications#getVerification">Session</a>, as it is then.</p>`
    : fieldTable(schemas.fields(object({ data })), { asked: false });
  const where = isPosted ? 'By webhook, and on the WebSocket.' : 'Only on the account’s channel of the WebSocket.';
  return `<h3 id="${anchorOf(type)}">${code(type)}</h3>
<p>${escape(summary)}. ${where}</p>
${fields}`;
}
