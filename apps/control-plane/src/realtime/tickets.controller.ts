import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { NoBodyPipe } from '../http/body.pipe.js';
import { CallerKey } from '../http/caller.decorator.js';
import { valueOf } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { Access } from '../http/route-access.js';
import { TicketService } from './ticket.service.js';
import { TicketAnswer } from './ticket.view.js';

@Controller('v1/verify')
export class TicketsController {
  constructor(private readonly tickets: TicketService) {}

  @Post(':sessionId/realtime-ticket')
  @HttpCode(200)
  @Access({ access: 'key', scope: 'verify', body: 'none' })
  @Operation({
    id: 'createRealtimeTicket',
    tag: 'Verifications',
    summary: 'Create a ticket for a session',
    description:
      'A ticket for the WebSocket channel, for this session alone: valid once, within 60 seconds, while your key is valid. The browser connects to `url` and sends it as its first message; the page never gets a key.',
    answer: { status: 200, description: 'The ticket, returned once.', type: TicketAnswer },
    errors: ['SESSION_NOT_FOUND'],
  })
  async issue(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('sessionId') sessionId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<TicketAnswer> {
    return valueOf(await this.tickets.issue(caller, sessionId));
  }
}
