import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { Uuid } from '@countersign/ids';
import { Body, Controller, Header, HttpCode, Param, Post } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { CallerKey } from '../http/caller.decorator.js';
import { succeed, valueOf, type Outcome } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { Idempotent, type IdempotentCall } from '../idempotency/idempotent-call.decorator.js';
import { CheckAnswer, SendSmsAnswer } from '../verify/session.view.js';
import { CheckCode } from './check-code.dto.js';
import { CheckCodeService } from './check-code.service.js';
import { SendCodeService } from './send-code.service.js';

const JSON_TEXT = 'application/json; charset=utf-8';

const asText = (outcome: Outcome<object>): Outcome<string> =>
  outcome.ok ? succeed(JSON.stringify(outcome.value)) : outcome;

/** Codes by SMS, for users whose phone cannot send one (specification 4.3, 4.4). */
@Controller('v1/verify')
export class OtpController {
  constructor(
    private readonly sends: SendCodeService,
    private readonly checks: CheckCodeService,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Post(':sessionId/send-sms')
  @HttpCode(200)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'otp', body: 'none', withoutLimiter: 'refuse' })
  @Operation({
    id: 'sendSms',
    tag: 'Verifications',
    summary: 'Send a code by SMS',
    description:
      'Sends a 6-digit code to the session’s phone and answers once it is durably queued. Limits: three codes per session, 30 seconds apart, all of them valid until the session expires; five per hour and ten per day from one account to one phone, twice that over all accounts.',
    answer: { status: 200, description: 'A code is on its way.', type: SendSmsAnswer },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_PENDING',
      'SMS_OTP_DISABLED',
      'DESTINATION_BLOCKED',
      'SEND_LIMIT_REACHED',
      'IDEMPOTENCY_IN_PROGRESS',
      'IDEMPOTENCY_KEY_REUSED',
    ],
  })
  async send(
    @CallerKey() caller: ApiKeyPrincipal,
    @Idempotent() call: IdempotentCall,
    @Param('sessionId') sessionId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<string> {
    const send = (messageId: Uuid): Promise<Outcome<string>> =>
      this.sends.sendCode(caller, sessionId, messageId).then(asText);
    return valueOf(await this.idempotency.run(call, send));
  }

  @Post(':sessionId/check')
  @HttpCode(200)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'otp', body: 'json' })
  @Operation({
    id: 'checkCode',
    tag: 'Verifications',
    summary: 'Check a code',
    description:
      'Approves the session if the code is one of the codes sent to it. A session accepts five wrong codes (two if it was created while guessing was suspected at the account); after them the SMS from the phone and the card can still approve it.',
    answer: { status: 200, description: 'The session is approved.', type: CheckAnswer },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_PENDING',
      'SMS_OTP_DISABLED',
      'OTP_NOT_SENT',
      'INVALID_CODE',
      'TOO_MANY_ATTEMPTS',
    ],
  })
  async check(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('sessionId') sessionId: string,
    @Body(BodyPipe) body: CheckCode,
  ): Promise<string> {
    return valueOf(await this.checks.checkCode(caller, sessionId, body.code));
  }
}
