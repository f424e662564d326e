import type { ServerResponse } from 'node:http';
import fastify from 'fastify';
import pg from 'pg';

/**
 * A comparison for inbound, behind an SMS gateway that fetches a URL for every MO: one UPDATE for each, committed before
 * the answer. `GET /updated` answers a line with the phone for each session that an UPDATE approved, as it happens.
 */
const environment = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

/** As large as the product's pool. */
const POOL_MAX = 10;
const TOKEN = /AUTH-[0-9A-Z-]+/;
const APPROVE = `
  UPDATE plain_mo_sessions SET status = 'approved', approved_at = now()
  WHERE token = $1 AND phone = $2 AND status = 'pending'`;

const pool = new pg.Pool({ connectionString: environment('DATABASE_URL'), max: POOL_MAX });
const listeners = new Set<ServerResponse>();
const app = fastify();

app.get<{ Querystring: { from: string; text: string } }>('/mo', async (request, reply) => {
  const phone = `+${request.query.from.replace(/^\+/, '')}`;
  const token = TOKEN.exec(request.query.text)?.[0] ?? '';
  const { rowCount } = await pool.query(APPROVE, [token, phone]);
  if (rowCount === 1) for (const listener of listeners) listener.write(`${phone}\n`);
  return reply.send('');
});
app.get('/updated', (request, reply) => {
  reply.hijack();
  listeners.add(reply.raw);
  request.raw.once('close', () => listeners.delete(reply.raw));
  reply.raw.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
});
await app.listen({ host: '127.0.0.1', port: Number(environment('PORT')) });
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));
