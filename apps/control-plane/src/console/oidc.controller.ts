import { Controller, Get, HttpCode, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieOf, deleteCookie, setCookie } from '../http/console-requests.js';
import { valueOf } from '../http/errors.js';
import { Limits } from '../http/limits.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { OIDC_SECONDS } from './oidc-records.js';
import { OidcSignInService } from './oidc-sign-in.service.js';
import { leadToConsole } from './session-cookie.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

/** Binds the way back from the provider to the browser that went there. Lax, since the way back begins on its page. */
const COOKIE = '__Host-countersign-oidc';
/** Three requests to the provider at most. */
const BUDGET_MS = 13_000;

@Controller('console/api/sign-in/oidc')
export class OidcController {
  constructor(
    private readonly signIns: OidcSignInService,
    private readonly limits: Limits,
  ) {}

  @Get()
  @HttpCode(303)
  @Access({ access: 'sign-in', body: 'none', budgetMs: BUDGET_MS })
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
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { headers, refusal } = await this.limits.countStart('oidc', clientAddress);
    request.limitHeaders = headers;
    if (refusal !== null) valueOf({ ok: false, refusal });
    const { token, url } = valueOf(await this.signIns.begin());
    const cookie = setCookie(token, { name: COOKIE, maxAgeSeconds: OIDC_SECONDS, sameSite: 'Lax' });
    void reply.header('set-cookie', cookie).header('location', url).header('referrer-policy', 'no-referrer');
  }

  @Get('callback')
  @HttpCode(303)
  @Access({ access: 'sign-in', body: 'none', budgetMs: BUDGET_MS })
  @Operation({
    id: 'endOidcSignIn',
    tag: 'Console',
    summary: 'Come back from the OpenID provider',
    description: 'The redirect URI to register at the provider.',
    answer: { status: 303, description: 'To the console, with the cookie of the new session.' },
    open: true,
    errors: ['NOT_FOUND'],
  })
  async end(
    @ByVisitor() visitor: Visitor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { search } = new URL(request.originalUrl, 'https://localhost');
    const opened = await this.signIns.end(visitor, cookieOf(request.headers.cookie, COOKIE), search);
    void reply.header('set-cookie', deleteCookie(COOKIE));
    if (opened === null) {
      const { headers, refused } = await this.limits.refuseKey(visitor.clientAddress);
      request.limitHeaders = headers;
      throw refused;
    }
    leadToConsole(reply, opened);
  }
}
