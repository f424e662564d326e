import type { FastifyReply, FastifyRequest } from 'fastify';

/** Many clients name a type whether there is a body or not; Fastify would read nothing as broken JSON. */
export function withoutTypeOfNothing({ headers }: FastifyRequest, _: FastifyReply, done: () => void): void {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isEmpty) delete headers['content-type'];
  done();
}
