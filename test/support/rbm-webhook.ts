import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to the webhook. */
export interface Posted {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  /** The event in the envelope; null for a handshake. */
  readonly event: Record<string, unknown> | null;
  readonly data: Buffer;
}

/** A webhook that records requests and answers with `status`. */
export class RbmWebhook {
  readonly posted: Posted[] = [];
  status = 200;
  readonly #server = http.createServer((incoming, answer) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.once('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>;
      const message = body['message'] as { data: string } | undefined;
      const data = Buffer.from(message?.data ?? '', 'base64');
      const event = message === undefined ? null : (JSON.parse(data.toString()) as Record<string, unknown>);
      this.posted.push({ headers: incoming.headers, body, event, data });
      answer.statusCode = this.status;
      answer.end(event === null ? String(body['secret']) : '');
    });
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/rcs/webhook`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get events(): Record<string, unknown>[] {
    return this.posted.flatMap(({ event }) => (event === null ? [] : [event]));
  }

  get kinds(): unknown[] {
    return this.events.map((event) => event['eventType'] ?? ('suggestionResponse' in event ? 'tap' : 'text'));
  }
}
