import { Injectable } from '@nestjs/common';
import { CardSendStore } from '@countersign/rcs/offers';
import { OnStart, OnStop } from '../composition/phases.js';
import { RcsEventProcessor } from './dispatch/rcs-event.processor.js';
import { CardPlatform } from './rbm/card-platform.js';
import { WebhookServer } from './webhook/webhook.server.js';

/** Opens the webhook, and ends the RCS components in their order. */
@Injectable()
export class RcsService {
  constructor(
    private readonly webhook: WebhookServer,
    private readonly sends: CardSendStore,
    private readonly events: RcsEventProcessor,
    private readonly platform: CardPlatform,
  ) {}

  @OnStart('open the HTTP port')
  async listen(): Promise<void> {
    await this.webhook.listen();
  }

  /** Closes the webhook, which is open until now for events of cards that were sent, then finishes its events. */
  @OnStop('finish events')
  async stop(): Promise<void> {
    await this.webhook.close();
    await this.sends.drain();
    await this.events.stop();
    await this.platform.stop();
  }
}
