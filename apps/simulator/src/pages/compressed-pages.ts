import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { codingOf, compressed } from '@countersign/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

const IS_TEXT = /^(?:text\/|application\/(?:javascript|json)|image\/svg)/;

/**
 * Compresses a file of a page as the request accepts, each time, because files may be edited while the simulator runs. A
 * hook of `onSend`; the tag of a file is weak, so it holds for each coding.
 */
export async function compressPage({ method, headers }: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const isWholeText = reply.statusCode === 200 && IS_TEXT.test(String(reply.getHeader('content-type')));
  const coding = codingOf(headers['accept-encoding']);
  if (method !== 'GET' || !isWholeText || coding === 'identity' || !(payload instanceof Readable)) return payload;
  void reply.removeHeader('content-length').removeHeader('accept-ranges').header('content-encoding', coding);
  return compressed(await buffer(payload), coding);
}
