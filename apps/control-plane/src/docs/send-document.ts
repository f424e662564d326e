import type { KeptDocument } from '@countersign/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Sends a document, compressed as the request accepts, or 304. */
export async function sendDocument(
  { headers: asked }: FastifyRequest,
  reply: FastifyReply,
  document: KeptDocument,
): Promise<void> {
  const { status, headers, body } = await document.answerTo(asked);
  await reply.code(status).headers(headers).send(body);
}
