import { type OpenedConsoleSession, SESSION_SECONDS } from '@countersign/accounts/console-sessions';
import type { FastifyReply } from 'fastify';
import { setCookie } from '../http/console-requests.js';

/** The page that a sign-in leads to. */
const CONSOLE_PAGE = '/console/';

export function setSessionCookie(reply: FastifyReply, { cookie }: OpenedConsoleSession): void {
  void reply.header('set-cookie', setCookie(cookie, { maxAgeSeconds: SESSION_SECONDS }));
}

/**
 * For calls that a browser goes to, instead of a script of the console: their address may hold a secret that was used up.
 *
 * @param page the path of a page below the console
 */
export function leadToConsole(reply: FastifyReply, opened: OpenedConsoleSession, page = ''): void {
  setSessionCookie(reply, opened);
  void reply.header('location', `${CONSOLE_PAGE}${page}`).header('referrer-policy', 'no-referrer');
}
