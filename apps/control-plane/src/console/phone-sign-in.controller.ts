import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { setCookie } from '../http/console-requests.js';
import { valueOf } from '../http/errors.js';
import { Limits } from '../http/limits.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { CheckCode } from '../otp/check-code.dto.js';
import { type BrowserCall, BySignIn } from './browser-call.decorator.js';
import { MeAnswer } from './me.view.js';
import { PhoneSignInStart } from './phone-sign-in.dto.js';
import { PhoneSignInService } from './phone-sign-in.service.js';
import { begunView, PhoneSignInAnswer, PhoneSignInState } from './phone-sign-in.view.js';
import { admit, type SignInCall, SignInCalls } from './sign-in-calls.js';
import { VERIFICATION_SECONDS } from './verification-sign-in.service.js';
import { ByVisitor, type Visitor } from './visitor.decorator.js';

/** Binds a sign-in to the browser that began it. */
const COOKIE = '__Host-countersign-phone';

@Controller('console/api/sign-in/phone')
export class PhoneSignInController {
  constructor(
    private readonly signIns: PhoneSignInService,
    private readonly calls: SignInCalls,
    private readonly limits: Limits,
  ) {}

  @Post()
  @HttpCode(200)
  @Access({ access: 'sign-in', body: 'json' })
  @Operation({
    id: 'beginPhoneSignIn',
    tag: 'Console',
    summary: 'Sign in with a phone',
    description:
      'For members of accounts. Begins a verification of the phone for this browser, with the cookie `__Host-countersign-phone`; it is approved by the SMS of the link, or by a code. The answer is the same for every number, and nothing is sent. One address begins at most 5 in 10 minutes.',
    answer: { status: 200, description: 'The sign-in, pending.', type: PhoneSignInAnswer },
    open: true,
    errors: ['INVALID_PHONE'],
  })
  async begin(
    @ByVisitor() { clientAddress }: Visitor,
    @Body(BodyPipe) { phone }: PhoneSignInStart,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Plain<PhoneSignInAnswer>> {
    admit(request, reply, await this.limits.countStart('phone', clientAddress));
    const begun = valueOf(await this.signIns.begin(phone));
    const cookie = setCookie(begun.token, { name: COOKIE, maxAgeSeconds: VERIFICATION_SECONDS });
    void reply.header('set-cookie', cookie);
    return begunView(begun);
  }

  @Post('send-code')
  @HttpCode(202)
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'sendSignInCode',
    tag: 'Console',
    summary: 'Send a code to the phone of a sign-in',
    description:
      'Sends a 6-digit code after the answer, to members alone: the answer is the same for every number. Once in 40 seconds, three times in one sign-in.',
    answer: { status: 202, description: 'A code is on its way if the number is that of a member.' },
    open: true,
    errors: ['SEND_LIMIT_REACHED'],
  })
  sendCode(@BySignIn() call: BrowserCall, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    return this.calls.sendCode(this.ofPhone(call));
  }

  @Post('check')
  @HttpCode(200)
  @Access({ access: 'sign-in', body: 'json' })
  @Operation({
    id: 'checkSignInCode',
    tag: 'Console',
    summary: 'Sign in with the code that the phone got',
    description:
      'Sets the cookie `__Host-countersign`. Every refusal is the same, whether the code, the number, the cookie or the time is wrong. A sign-in accepts five checks.',
    answer: { status: 200, description: 'The new session.', type: MeAnswer },
    open: true,
    errors: ['INVALID_CODE'],
  })
  check(@BySignIn() call: BrowserCall, @Body(BodyPipe) { code }: CheckCode): Promise<Plain<MeAnswer>> {
    return this.calls.check(this.ofPhone(call), code);
  }

  @Get()
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'getPhoneSignIn',
    tag: 'Console',
    summary: 'Finish a sign-in with a phone',
    description:
      'Ask every second or two. Once the phone has approved, the first call sets the cookie `__Host-countersign` and has the new session; every other one is refused.',
    answer: { status: 200, description: 'The sign-in.', type: PhoneSignInState },
    open: true,
    errors: [],
  })
  async state(@BySignIn() call: BrowserCall): Promise<Plain<PhoneSignInState>> {
    const state = await this.calls.state(this.ofPhone(call));
    if (state.state === 'pending') return { state: 'pending', expiresAt: state.expiresAt.toISOString() };
    return { state: 'approved', me: this.calls.signedIn(call.reply, state.opened) };
  }

  private ofPhone(call: BrowserCall): SignInCall {
    return { ...call, signIns: this.signIns, cookie: COOKIE };
  }
}
