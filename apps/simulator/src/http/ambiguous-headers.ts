import { headFault } from '@countersign/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from './refusal.js';

/** Refuses requests whose headers are ambiguous, as the other servers of this project do. */
export function refuseAmbiguousHeaders({ raw }: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  const fault = headFault(raw);
  done(fault === null ? undefined : new Refusal(400, 'MALFORMED_REQUEST', fault));
}
