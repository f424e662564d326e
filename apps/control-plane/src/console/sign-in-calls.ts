import { ConsoleSessionStore, type OpenedConsoleSession } from '@countersign/accounts/console-sessions';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plain } from '../admin/crud/plain.js';
import { cookieOf } from '../http/console-requests.js';
import { refuse, RefusedRequest, valueOf } from '../http/errors.js';
import { type Counted, Limits } from '../http/limits.js';
import { type MeAnswer, meView } from './me.view.js';
import { setSessionCookie } from './session-cookie.js';
import { SignInCodes } from './sign-in-codes.js';
import type { PhoneSignInService } from './phone-sign-in.service.js';
import type { SecondStepService } from './second-step.service.js';
import type { VerificationState } from './verification-sign-in.service.js';
import type { Visitor } from './visitor.decorator.js';

/** A call of a browser about its own sign-in. */
export interface SignInCall {
  readonly signIns: PhoneSignInService | SecondStepService;
  /** The name of the cookie of the sign-in. */
  readonly cookie: string;
  readonly visitor: Visitor;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The calls of sign-ins that a verification of a phone decides, with their limits and cookies. */
@Injectable()
export class SignInCalls {
  constructor(
    private readonly codes: SignInCodes,
    private readonly sessions: ConsoleSessionStore,
    private readonly limits: Limits,
  ) {}

  /** Sends the code after the answer. */
  async sendCode(call: SignInCall): Promise<void> {
    const requested = valueOf(await call.signIns.requestCode(tokenOf(call)));
    if (requested === null) return;
    call.reply.raw.once('close', () => {
      this.codes.send(requested);
    });
  }

  async check(call: SignInCall, code: string): Promise<Plain<MeAnswer>> {
    const opened = await call.signIns.check(call.visitor, tokenOf(call), code);
    return opened === null ? valueOf(refuse('INVALID_CODE')) : this.signedIn(call.reply, opened);
  }

  async state(call: SignInCall): Promise<VerificationState> {
    const { request, reply, visitor } = call;
    admit(request, reply, await this.limits.countSignInState(visitor.clientAddress));
    const state = await call.signIns.state(call.visitor, tokenOf(call));
    if (state === null) throw NO_SIGN_IN;
    return state;
  }

  /** The cookie of the sign-in stays until it expires: it is used up. */
  signedIn(reply: FastifyReply, opened: OpenedConsoleSession): Plain<MeAnswer> {
    setSessionCookie(reply, opened);
    return meView(opened.session, this.sessions.csrfTokenOf(opened.cookie));
  }
}

const NO_SIGN_IN = new RefusedRequest({
  code: 'UNAUTHORIZED',
  message: 'There is no sign-in of this browser to finish: begin one.',
});

const tokenOf = ({ request: { headers }, cookie }: SignInCall): string => cookieOf(headers.cookie, cookie) ?? '';

/** Throws the refusal of a limit. */
export function admit(request: FastifyRequest, reply: FastifyReply, { headers, refusal }: Counted): void {
  request.limitHeaders = headers;
  void reply.headers(headers);
  if (refusal !== null) valueOf({ ok: false, refusal });
}
