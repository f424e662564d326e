import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { closed } from './documented.js';
import type { Received } from './receiver.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Holds what the service tells by itself against its AsyncAPI document: a frame or a webhook is one of the messages, and
 * is what the schema of that message says, with no field more.
 */
export class Told {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(private readonly messages: Readonly<Record<string, Json>>) {}

  static by(text: string): Told {
    const document = closed(JSON.parse(text), true) as { components: { messages: Record<string, Json> } };
    const told = new Told(document.components.messages);
    formats.default(told.ajv);
    told.ajv.addSchema(document, 'asyncapi');
    return told;
  }

  /** What the document shows of a message, by its name there. */
  examples(): readonly (readonly [name: string, payload: unknown])[] {
    return Object.entries(this.messages).map(([name, message]) => {
      const [example] = message['examples'] as readonly [{ payload: unknown }];
      return [name, example.payload];
    });
  }

  /** What is not as documented of a frame, in words. */
  frameFaults(frame: Json): string[] {
    return this.faults(String(frame['type']), 'payload', frame);
  }

  /** The same of a webhook. */
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
