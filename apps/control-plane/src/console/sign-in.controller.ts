import { ConsoleSessionStore, type OpenedConsoleSession } from '@countersign/accounts/console-sessions';
import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe } from '../http/body.pipe.js';
import { KeyAuthenticator } from '../http/key-authenticator.js';
import { Limits } from '../http/limits.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { KeySignIn } from './key-sign-in.dto.js';
import { MeAnswer, meView } from './me.view.js';
import { setSessionCookie } from './session-cookie.js';
import { SignInService } from './sign-in.service.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

@Controller('console/api/sign-in')
export class SignInController {
  constructor(
    private readonly signIns: SignInService,
    private readonly sessions: ConsoleSessionStore,
    private readonly keys: KeyAuthenticator,
    private readonly limits: Limits,
  ) {}

  @Post('key')
  @HttpCode(200)
  @Access({ access: 'sign-in', body: 'json' })
  @Operation({
    id: 'signInWithKey',
    tag: 'Console',
    summary: 'Sign in with an admin key',
    description:
      'Sets the cookie `__Host-countersign` for 12 hours. It ends within 5 s with the key, and at once when the key is rotated. Wrong keys count towards the limit `ip`.',
    answer: { status: 200, description: 'The new session.', type: MeAnswer },
    open: true,
    errors: [],
  })
  async withKey(
    @ByVisitor() visitor: Visitor,
    @Body(BodyPipe) { key }: KeySignIn,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plain<MeAnswer>> {
    const caller = await this.keys.authenticate(`Bearer ${key}`, visitor.clientAddress);
    const holder = { memberId: null, adminKey: key, method: 'key' } as const;
    const opened =
      caller?.kind === 'admin'
        ? await this.signIns.open(visitor, () => Promise.resolve({ ...holder, adminKeyId: caller.keyId }))
        : null;
    if (opened !== null) return this.answer(reply, opened);
    const { headers, refused } = await this.limits.refuseKey(visitor.clientAddress);
    request.limitHeaders = headers;
    throw refused;
  }

  private answer(reply: FastifyReply, opened: OpenedConsoleSession): Plain<MeAnswer> {
    setSessionCookie(reply, opened);
    return meView(opened.session, this.sessions.csrfTokenOf(opened.cookie));
  }
}
