import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe } from '../http/body.pipe.js';
import { valueOf } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { Access, type SignedIn } from '../http/route-access.js';
import { MeAnswer, meView } from './me.view.js';
import { SessionConfirmation } from './session-confirmation.dto.js';
import { SessionConfirmationService } from './session-confirmation.service.js';
import { BySession } from './signed-in.decorator.js';

@Controller('console/api/sessions/current')
export class SessionConfirmationController {
  constructor(
    private readonly confirmations: SessionConfirmationService,
    private readonly sessions: ConsoleSessionStore,
  ) {}

  @Post('confirm')
  @HttpCode(200)
  @Access({ access: 'console', body: 'json' })
  @Operation({
    id: 'confirmConsoleSession',
    tag: 'Console',
    summary: 'Confirm the session with an API key',
    description:
      'For developers of an account, who sign in with a phone: for 15 minutes the session may change keys, the webhook and brands of the live mode, with no scope that the key lacks. It ends within these when the key is revoked or rotated. Wrong keys count towards the limit `ip`.',
    answer: { status: 200, description: 'The confirmed session.', type: MeAnswer },
    errors: [],
  })
  async confirm(
    @BySession() session: SignedIn,
    @Body(BodyPipe) { key }: SessionConfirmation,
    @Req() { clientAddress, id: requestId }: FastifyRequest,
  ): Promise<Plain<MeAnswer>> {
    const confirmed = valueOf(await this.confirmations.confirm(session, key, { clientAddress, requestId }));
    return meView(confirmed, this.sessions.csrfTokenOf(session.cookie));
  }
}
