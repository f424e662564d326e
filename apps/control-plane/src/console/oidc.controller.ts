import { Controller, Get, HttpCode, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieOf, deleteCookie, setCookie } from '../http/console-requests.js';
import { valueOf } from '../http/errors.js';
import { Limits } from '../http/limits.js';
import { PauseDeadline, type PausedWait } from '../http/pause-deadline.decorator.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import type { FirstStep } from './first-step.service.js';
import { OIDC_SECONDS } from './oidc-records.js';
import { OidcSignInService } from './oidc-sign-in.service.js';
import { leadToConsole, leadToSignIn, setSecondStepCookie } from './session-cookie.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

/** Binds the way back from the provider to the browser that went there. Lax, since the way back begins on its page. */
const COOKIE = '__Host-countersign-oidc';

@Controller('console/api/sign-in/oidc')
export class OidcController {
  constructor(
    private readonly signIns: OidcSignInService,
    private readonly limits: Limits,
  ) {}

  @Get()
  @HttpCode(303)
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'beginOidcSignIn',
    tag: 'Console',
    summary: 'Sign in over OpenID Connect',
    description: 'For members of the installation, where CONSOLE_OIDC_ISSUER is set; NOT_FOUND elsewhere.',
    answer: { status: 303, description: 'To the OpenID provider.' },
    open: true,
    errors: ['NOT_FOUND'],
  })
  async begin(
    @ByVisitor() { clientAddress }: Visitor,
    @PauseDeadline() pausedWait: PausedWait,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { headers, refusal } = await this.limits.countStart('oidc', clientAddress);
    request.limitHeaders = headers;
    if (refusal !== null) valueOf({ ok: false, refusal });
    const { token, url } = valueOf(await this.signIns.begin(pausedWait));
    const cookie = setCookie(token, { name: COOKIE, maxAgeSeconds: OIDC_SECONDS, sameSite: 'Lax' });
    void reply.header('set-cookie', cookie).header('location', url).header('referrer-policy', 'no-referrer');
  }

  @Get('callback')
  @HttpCode(303)
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'endOidcSignIn',
    tag: 'Console',
    summary: 'Come back from the OpenID provider',
    description:
      'The redirect URI to register at the provider. A browser that asks for a page is led back to that of the sign-in instead of a refusal.',
    answer: {
      status: 303,
      description:
        'To the console, with the cookie of the new session; with CONSOLE_SECOND_STEP to the page of the sign-in, with that of the second step.',
    },
    open: true,
    errors: ['NOT_FOUND'],
  })
  async end(
    @ByVisitor() visitor: Visitor,
    @PauseDeadline() pausedWait: PausedWait,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    // Before the database is asked for the cookie, which anybody may invent.
    const counted = await this.limits.countSignInPost(visitor.clientAddress);
    request.limitHeaders = counted.headers;
    if (counted.refusal !== null) valueOf({ ok: false, refusal: counted.refusal });
    const queryAt = request.originalUrl.indexOf('?');
    const query = queryAt === -1 ? '?' : request.originalUrl.slice(queryAt);
    const token = cookieOf(request.headers.cookie, COOKIE);
    const step = await this.signIns.end(visitor, { token, query }, pausedWait);
    void reply.header('set-cookie', deleteCookie(COOKIE));
    if (step !== null) {
      leadOn(reply, step);
      return;
    }
    const { headers, refused } = await this.limits.refuseKey(visitor.clientAddress);
    request.limitHeaders = headers;
    if (!isForPage(request)) throw refused;
    leadToSignIn(reply, { fault: 'oidc' });
  }
}

/** Whether a person reads the answer, for whom the body of an error is none. */
const isForPage = ({ headers }: FastifyRequest): boolean => (headers.accept ?? '').includes('text/html');

function leadOn(reply: FastifyReply, step: FirstStep): void {
  if (step.kind === 'opened') leadToConsole(reply, step.opened);
  else if (step.kind === 'second_step') {
    setSecondStepCookie(reply, step.begun);
    leadToSignIn(reply, { step: 'second' });
  } else leadToSignIn(reply, { fault: step.kind === 'no_phone' ? 'no-phone' : 'later' });
}
