import { type OpenedConsoleSession, SESSION_SECONDS } from '@countersign/accounts/console-sessions';
import type { FastifyReply } from 'fastify';
import { setCookie } from '../http/console-requests.js';
import { type BegunSignIn, VERIFICATION_SECONDS } from './verification-sign-in.service.js';

/** The page that a sign-in leads to. */
const CONSOLE_PAGE = '/console/';
const SIGN_IN_PAGE = '/console/sign-in';
/** Binds the second step of a sign-in to the browser that made the first one. It is good for nothing else. */
export const SECOND_STEP_COOKIE = '__Host-countersign-step';

/** Why a sign-in did not succeed, for the page to which a person returns from another site. */
export type SignInFault = 'oidc' | 'no-phone' | 'later';

export function setSessionCookie(reply: FastifyReply, { cookie }: OpenedConsoleSession): void {
  void reply.header('set-cookie', setCookie(cookie, { maxAgeSeconds: SESSION_SECONDS }));
}

export function setSecondStepCookie(reply: FastifyReply, { token }: BegunSignIn): void {
  const cookie = setCookie(token, { name: SECOND_STEP_COOKIE, maxAgeSeconds: VERIFICATION_SECONDS });
  void reply.header('set-cookie', cookie);
}

/** To the page of the sign-in, from where the second step goes on, or with the reason why there is no session. */
export function leadToSignIn(
  reply: FastifyReply,
  to: { readonly step: 'second' } | { readonly fault: SignInFault },
): void {
  void reply.header('location', `${SIGN_IN_PAGE}?${new URLSearchParams({ ...to }).toString()}`);
  void reply.header('referrer-policy', 'no-referrer');
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
