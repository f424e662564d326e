import { Body, Controller, Get, HttpCode, Inject, Param, Post, Put, Query } from '@nestjs/common';
import type { PhoneView } from '../phone/phone-item.js';
import { Refusal } from '../http/refusal.js';
import { agentIdOf } from './agents.js';
import { type MessageView, viewOf } from './message.store.js';
import { LAUNCH_STATES, type LaunchState } from './rbm-event.js';
import { LoneEvent, Reply, SetPhone, SetRbm, Tap } from './rbm.dto.js';
import type { RbmFaults } from './rbm-switches.js';
import { RbmService } from './rbm.service.js';
import type { WebhookView } from './webhook-sender.js';

const PHONE = /^\+[1-9][0-9]{1,14}$/;

type RbmView = RbmFaults & { readonly dropTokens: false; readonly webhook: WebhookView };

/** The control surface of RCS (contract, the carrier simulator; the README has every call). */
@Controller('_admin')
export class RbmAdminController {
  constructor(@Inject(RbmService) private readonly rbm: RbmService) {}

  @Put('phones/:phone')
  setPhone(@Param('phone') phone: string, @Body() changes: SetPhone): PhoneView {
    return this.rbm.platform.setPhone(numberOf(phone), given(changes));
  }

  @Get('phones/:phone')
  showPhone(@Param('phone') phone: string): PhoneView {
    const number = numberOf(phone);
    return { phone: number, ...this.rbm.phones.profileOf(number) };
  }

  @Get('cards')
  cards(@Query('phone') phone?: string): { data: MessageView[] } {
    return { data: this.messages(phone).data.filter(({ card }) => card !== null) };
  }

  /** A plus that a query string turned into a space is read as a plus. */
  @Get('messages')
  messages(@Query('phone') phone?: string): { data: MessageView[] } {
    return { data: this.rbm.platform.list(phone?.replace(/^ /, '+')).map(viewOf) };
  }

  @Post(['cards/:id/tap', 'messages/:id/tap'])
  @HttpCode(200)
  tap(@Param('id') id: string, @Body() { suggestion }: Tap): { result: 'tapped' } {
    const result = this.rbm.platform.tap(id, suggestion);
    if (result === 'no_such_suggestion')
      throw new Refusal(422, 'VALIDATION_ERROR', 'the card has no such suggestion', 'suggestion');
    if (result !== 'tapped') throw notThere(result);
    return { result };
  }

  @Post(['cards/:id/read', 'messages/:id/read'])
  @HttpCode(200)
  read(@Param('id') id: string): { result: 'read' } {
    const result = this.rbm.platform.read(id);
    if (result !== 'read') throw notThere(result);
    return { result };
  }

  @Post('replies')
  @HttpCode(202)
  reply(@Body() { phone, agentId, text }: Reply): object {
    this.rbm.reply(agentOf(agentId), phone, text);
    return {};
  }

  @Post('rbm/events')
  @HttpCode(202)
  event(@Body() { agentId, phone, type }: LoneEvent): object {
    const agent = agentOf(agentId);
    if (isLaunchState(type)) this.rbm.sendLaunchState(agent, type);
    else if (phone === undefined) throw new Refusal(422, 'VALIDATION_ERROR', 'phone is missing', 'phone');
    else this.rbm.tellLone(agent, phone, type);
    return {};
  }

  @Get('rbm')
  show(): RbmView {
    return { ...this.rbm.switches.current, dropTokens: false, webhook: this.rbm.webhook.view };
  }

  @Put('rbm')
  set(@Body() { dropTokens = false, ...changes }: SetRbm): RbmView {
    this.rbm.set(given(changes));
    if (dropTokens) this.rbm.tokens.forgetAll();
    return this.show();
  }
}

const isLaunchState = (type: string): type is LaunchState => LAUNCH_STATES.some((state) => state === type);

function numberOf(text: string): string {
  if (!PHONE.test(text)) throw new Refusal(422, 'VALIDATION_ERROR', 'the number must be like +14155552671', 'phone');
  return text;
}

function agentOf(text: string): string {
  const agentId = agentIdOf(text);
  if (agentId === null) throw new Refusal(422, 'VALIDATION_ERROR', 'agentId must be the id of an agent', 'agentId');
  return agentId;
}

const notThere = (result: 'unknown_message' | 'not_on_phone'): Refusal =>
  result === 'unknown_message'
    ? new Refusal(404, 'NOT_FOUND', 'no such message was sent')
    : new Refusal(409, 'NOT_ON_PHONE', 'the message has not reached the phone');

/** The fields that were sent: a DTO may hold the others as undefined. */
function given<Changes extends object>(
  changes: Changes,
): { [Name in keyof Changes]?: Exclude<Changes[Name], undefined> } {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Changes]?: Exclude<Changes[Name], undefined> };
}
