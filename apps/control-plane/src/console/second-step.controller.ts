import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { CheckCode } from '../otp/check-code.dto.js';
import { type BrowserCall, BySignIn } from './browser-call.decorator.js';
import { MeAnswer } from './me.view.js';
import { SECOND_STEP_COOKIE } from './session-cookie.js';
import { SecondStepService } from './second-step.service.js';
import { SecondStepState, secondStepView } from './second-step.view.js';
import { type SignInCall, SignInCalls } from './sign-in-calls.js';

@Controller('console/api/sign-in/second-step')
export class SecondStepController {
  constructor(
    private readonly secondSteps: SecondStepService,
    private readonly calls: SignInCalls,
  ) {}

  @Get()
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'getSecondStep',
    tag: 'Console',
    summary: 'Finish the second step of a sign-in',
    description:
      'With CONSOLE_SECOND_STEP, after the first step with an OpenID provider or an admin key. Ask every second or two. Once the phone has approved, the first call sets the cookie `__Host-countersign` and has the new session; every other one is refused.',
    answer: { status: 200, description: 'The second step.', type: SecondStepState },
    open: true,
    errors: [],
  })
  async state(@BySignIn() call: BrowserCall): Promise<Plain<SecondStepState>> {
    const state = await this.calls.state(this.ofStep(call));
    if (state.state === 'pending') return { state: 'pending', secondStep: secondStepView(state) };
    return { state: 'approved', me: this.calls.signedIn(call.reply, state.opened) };
  }

  @Post('send-code')
  @HttpCode(202)
  @Access({ access: 'sign-in', body: 'none' })
  @Operation({
    id: 'sendSecondStepCode',
    tag: 'Console',
    summary: 'Send a code to the phone of the second step',
    description: 'After the answer. Once in 40 seconds, three times in one sign-in.',
    answer: { status: 202, description: 'A code is on its way.' },
    open: true,
    errors: ['SEND_LIMIT_REACHED'],
  })
  sendCode(@BySignIn() call: BrowserCall, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    return this.calls.sendCode(this.ofStep(call));
  }

  @Post('check')
  @HttpCode(200)
  @Access({ access: 'sign-in', body: 'json' })
  @Operation({
    id: 'checkSecondStepCode',
    tag: 'Console',
    summary: 'Finish the second step with the code that the phone got',
    description:
      'Sets the cookie `__Host-countersign`. Every refusal is the same, whether the code, the cookie or the time is wrong. A second step accepts five checks.',
    answer: { status: 200, description: 'The new session.', type: MeAnswer },
    open: true,
    errors: ['INVALID_CODE'],
  })
  check(@BySignIn() call: BrowserCall, @Body(BodyPipe) { code }: CheckCode): Promise<Plain<MeAnswer>> {
    return this.calls.check(this.ofStep(call), code);
  }

  private ofStep(call: BrowserCall): SignInCall {
    return { ...call, signIns: this.secondSteps, cookie: SECOND_STEP_COOKIE };
  }
}
