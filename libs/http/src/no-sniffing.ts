import type { Server } from 'node:http';

/** Sends nosniff with every response, also with those that a framework answers without a hook (Fetch standard). */
export function forbidSniffing(server: Server): void {
  server.prependListener('request', (_request, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
  });
}
