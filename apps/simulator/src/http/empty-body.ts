import type { FastifyReply, FastifyRequest } from 'fastify';

/** Many clients set a content type even without a body; Fastify would reject the empty body as malformed JSON. */
export function withoutTypeOfNothing({ headers }: FastifyRequest, _: FastifyReply, done: () => void): void {
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isEmpty) delete headers['content-type'];
  done();
}
