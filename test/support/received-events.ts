import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { closed } from './documented.js';
import type { Received } from './receiver.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * The messages of the AsyncAPI document. Validates frames and webhooks: each is one of the messages and matches its schema
 * without additional fields.
 */
export class DocumentedMessages {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(private readonly messages: Readonly<Record<string, Json>>) {}

  static by(text: string): DocumentedMessages {
    const document = closed(JSON.parse(text), true) as { components: { messages: Record<string, Json> } };
    const messages = new DocumentedMessages(document.components.messages);
    formats.default(messages.ajv);
    messages.ajv.addSchema(document, 'asyncapi');
    return messages;
  }

  /** The example of each message, by its name in the document. */
  examples(): readonly (readonly [name: string, payload: unknown])[] {
    return Object.entries(this.messages).map(([name, message]) => {
      const [example] = message['examples'] as readonly [{ payload: unknown }];
      return [name, example.payload];
    });
  }

  /** The differences of a frame from its schema. */
  frameFaults(frame: Json): string[] {
    return this.faults(String(frame['type']), 'payload', frame);
  }

  /** The differences of a webhook from its schema. */
  webhookFaults({ headers, body }: Pick<Received, 'headers' | 'body'>): string[] {
    const event = JSON.parse(body) as Json;
    const [name = ''] =
      Object.entries(this.messages).find(([, message]) => message['name'] === event['type'] && 'headers' in message) ??
      [];
    const sent = Object.fromEntries(Object.entries(headers).filter(([header]) => header.startsWith('webhook-')));
    return [...this.faults(name, 'headers', sent), ...this.faults(name, 'payload', event)];
  }

  faults(name: string, part: 'payload' | 'headers', value: unknown): string[] {
    if (!(name in this.messages)) return [`${name} is not documented`];
    const pointer = `asyncapi#/components/messages/${name}/${part}`;
    const validator = this.validators.get(pointer) ?? this.ajv.compile({ $ref: pointer });
    this.validators.set(pointer, validator);
    if (validator(value)) return [];
    return (validator.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}
