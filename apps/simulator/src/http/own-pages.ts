import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from './refusal.js';

const HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The control surface has no key, and browsers on this machine reach it: requests by pages of other sites are refused,
 * and so are requests with a foreign host name that resolves to this machine (DNS rebinding).
 */
export function onlyOwnPages({ headers }: FastifyRequest, _: FastifyReply, done: (error?: Error) => void): void {
  const { host = '', origin } = headers;
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host) ?? [];
  const isOwnName = HOSTS.has(name.toLowerCase());
  const isOwnPage = origin === undefined || origin === `http://${host}`;
  done(isOwnName && isOwnPage ? undefined : new Refusal(403, 'FORBIDDEN', 'calls of other sites are refused'));
}
