import { readFileSync } from 'node:fs';
import fastify from 'fastify';

/**
 * The baseline of every HTTPS section: bare Fastify over the same TLS, parsing JSON and answering a fixed body of the
 * size of the product's answer.
 */
const environment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const body = JSON.stringify({ filler: 'x'.repeat(Number(environment('BODY_OCTETS')) - '{"filler":""}'.length) });
const app = fastify({
  https: {
    cert: readFileSync(environment('TLS_CERT_FILE')),
    key: readFileSync(environment('TLS_KEY_FILE')),
    minVersion: 'TLSv1.3',
  },
});
for (const url of ['/v1/verify', '/v1/verify/:sessionId', '/v1/verify/:sessionId/check']) {
  app.route({ method: ['GET', 'POST'], url, handler: (_request, reply) => reply.type('application/json').send(body) });
}
await app.listen({ host: '127.0.0.1', port: Number(environment('PORT')) });
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
