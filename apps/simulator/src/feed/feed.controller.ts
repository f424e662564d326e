import { Controller, Get, Inject, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { openEventStream } from '../http/event-stream.js';
import { Refusal } from '../http/refusal.js';
import { PhoneFeed } from './phone-feed.js';

const MOST_PHONES = 20;
const MOST_READERS = 200;
const PHONE = /^\+[0-9]{2,15}$/;

/**
 * Events of some phones as server-sent events:
 * `GET /phone/feed?phone=%2B14155552671&phone=%2B14155552672` (1 to 20 numbers).
 *
 * Each connection, also a reconnection, begins with the current state:
 *
 *     event: snapshot
 *     data: {"phones":[PhoneView, …],"items":[PhoneItem, …]}     items oldest first, the latest 200 of each number
 *
 * Further events:
 *
 *     event: item
 *     data: PhoneItem      a new item, or a known `id` whose `state` or `tapped` has changed
 *     event: phone
 *     data: PhoneView      the number's switches have changed
 *
 * The shapes are in `phone-item.ts`. A page shows `waiting`, `revoked` and `expired` items or leaves them out: they are not
 * on the phone. It acts through `/_admin`, as the README lists: taps a button, opens a message (read), sends an SMS, writes
 * to a business, sets the switches. None of these needs an answer to be shown: what they do comes back as an event.
 */
@Controller('phone')
export class FeedController {
  #readers = 0;

  constructor(@Inject(PhoneFeed) private readonly feed: PhoneFeed) {}

  @Get('feed')
  open(@Query('phone') phone: unknown, @Res() reply: FastifyReply): void {
    const phones = phonesOf(phone);
    if (this.#readers >= MOST_READERS) throw new Refusal(503, 'SERVICE_UNAVAILABLE', 'too many pages are open');
    reply.hijack();
    const sendEvent = openEventStream(reply.raw);
    const unsubscribe = this.feed.subscribe({
      phones: new Set(phones),
      send: ({ event, data }) => sendEvent(event, data),
    });
    this.#readers += 1;
    reply.raw.once('close', () => {
      unsubscribe();
      this.#readers -= 1;
    });
  }
}

/** A plus that a query string turned into a space is read as a plus. */
function phonesOf(given: unknown): string[] {
  const texts: unknown[] = Array.isArray(given) ? given : [given];
  const phones = texts.map((text) => (typeof text === 'string' ? text.replace(/^ /, '+') : ''));
  if (phones.length > MOST_PHONES || phones.some((phone) => !PHONE.test(phone))) {
    throw new Refusal(422, 'VALIDATION_ERROR', `phone must be 1 to ${MOST_PHONES} numbers like +14155552671`, 'phone');
  }
  return [...new Set(phones)];
}
