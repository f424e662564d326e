import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe } from '../http/body.pipe.js';
import { RefusedRequest } from '../http/errors.js';
import { KeyAuthenticator } from '../http/key-authenticator.js';
import { Limits } from '../http/limits.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { type FirstStep, FirstStepService } from './first-step.service.js';
import { KeySignIn } from './key-sign-in.dto.js';
import { MeAnswer, meView } from './me.view.js';
import { SecondStepAnswer, secondStepView } from './second-step.view.js';
import { setSecondStepCookie, setSessionCookie } from './session-cookie.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

@Controller('console/api/sign-in')
export class SignInController {
  constructor(
    private readonly firstSteps: FirstStepService,
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
    orElse: {
      status: 202,
      description:
        'With CONSOLE_SECOND_STEP, for every key but that of the environment: the second step, with its cookie `__Host-countersign-step`. FORBIDDEN for a key without a phone. One key begins at most 5 in 10 minutes.',
      type: SecondStepAnswer,
    },
    errors: [],
  })
  async withKey(
    @ByVisitor() visitor: Visitor,
    @Body(BodyPipe) { key }: KeySignIn,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plain<MeAnswer> | Plain<SecondStepAnswer>> {
    const caller = await this.keys.authenticate(`Bearer ${key}`, visitor.clientAddress);
    const keyDigests = this.sessions.keyDigestsOf(key);
    const holder = { memberId: null, keyDigests, method: 'key' } as const;
    const step =
      caller?.kind === 'admin'
        ? await this.firstSteps.end(visitor, () => Promise.resolve({ ...holder, adminKeyId: caller.keyId }))
        : null;
    if (step !== null) return this.answer(reply, step);
    const { headers, refused } = await this.limits.refuseKey(visitor.clientAddress);
    request.limitHeaders = headers;
    throw refused;
  }

  private answer(reply: FastifyReply, step: FirstStep): Plain<MeAnswer> | Plain<SecondStepAnswer> {
    switch (step.kind) {
      case 'opened':
        setSessionCookie(reply, step.opened);
        return meView(step.opened.session, this.sessions.csrfTokenOf(step.opened.cookie));
      case 'second_step':
        setSecondStepCookie(reply, step.begun);
        void reply.status(202);
        return secondStepView(step.begun);
      case 'too_many':
        throw new RefusedRequest({ code: 'RATE_LIMITED', retryAfterSeconds: step.retryAfterSeconds });
      case 'no_phone':
        throw NO_PHONE;
    }
  }
}

const NO_PHONE = new RefusedRequest({
  code: 'FORBIDDEN',
  message:
    'A sign-in with this key needs an approval by its holder’s phone, and it has none that can be verified: an owner adds it. The key of the environment needs none.',
});
