import { Body, Controller, Get, HttpCode, Inject, Post, Put, Query } from '@nestjs/common';
import { PhoneFeed } from '../feed/phone-feed.js';
import { sentItem } from '../feed/sms-items.js';
import { Refusal } from '../http/refusal.js';
import { parseAddress, type SmscAddress } from './address.js';
import type { SmscFaults } from './fault-switches.js';
import type { ReceivedSms } from './mailbox.js';
import { SendSms, SetFaults } from './smsc.dto.js';
import { AnswerOverdue, LinkLost } from './smsc.link.js';
import { type LinkView, NotDeliverable, SmscServer, TextTooLong } from './smsc.server.js';

type SmscView = SmscFaults & { readonly dropLink: false; readonly links: LinkView[] };

/** The control surface of the carrier (contract, the carrier simulator). */
@Controller('_admin')
export class SmscController {
  constructor(
    @Inject(SmscServer) private readonly smsc: SmscServer,
    @Inject(PhoneFeed) private readonly feed: PhoneFeed,
  ) {}

  /** An SMS from a phone to the service. */
  @Post('sms')
  @HttpCode(200)
  async send(@Body() { from, to, text }: SendSms): Promise<{ commandStatus: number }> {
    const [source, destination] = [addressOf('from', from), addressOf('to', to)];
    const show = (commandStatus: number | null): void => this.feed.show(sentItem(from, to, text, commandStatus));
    try {
      const commandStatus = await this.smsc.sendMo(source, destination, text);
      show(commandStatus);
      return { commandStatus };
    } catch (error) {
      show(null);
      throw refusalOf(error);
    }
  }

  /** SMS that reached the phones, oldest first. */
  @Get('sms')
  list(@Query('phone') phone?: string): { data: ReceivedSms[] } {
    return { data: this.smsc.mailbox.list(phone) };
  }

  @Get('smsc')
  show(): SmscView {
    return { ...this.smsc.switches.current, dropLink: false, links: this.smsc.links() };
  }

  @Put('smsc')
  set(@Body() { dropLink = false, ...faults }: SetFaults): SmscView {
    this.smsc.switches.set(withoutUndefined(faults));
    if (dropLink) this.smsc.dropLinks();
    return this.show();
  }
}

function addressOf(field: string, text: string): SmscAddress {
  const address = parseAddress(text);
  if (address === null) {
    throw new Refusal(
      422,
      'VALIDATION_ERROR',
      `${field} must be +<2 to 15 digits>, a short code, other digits or a name of up to 11 characters`,
      field,
    );
  }
  return address;
}

function refusalOf(error: unknown): unknown {
  if (error instanceof TextTooLong) return new Refusal(422, 'VALIDATION_ERROR', error.message, 'text');
  if (error instanceof NotDeliverable) {
    return new Refusal(
      503,
      'SERVICE_UNAVAILABLE',
      `${error.message}: wait until GET /_admin/smsc shows a link that receives`,
    );
  }
  if (error instanceof LinkLost)
    return new Refusal(502, 'LINK_LOST', `${error.message}; whether the message arrived is unknown`);
  if (error instanceof AnswerOverdue)
    return new Refusal(504, 'ANSWER_OVERDUE', `${error.message}; whether the message arrived is unknown`);
  return error;
}

/** A DTO may hold omitted fields as undefined. */
const withoutUndefined = (faults: Omit<SetFaults, 'dropLink'>): Partial<SmscFaults> =>
  Object.fromEntries(Object.entries<unknown>({ ...faults }).filter(([, value]) => value !== undefined));
