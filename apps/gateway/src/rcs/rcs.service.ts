import type { CardSendStore } from '@countersign/rcs/offers';
import type { CardsConsumer } from './dispatch/cards.consumer.js';
import type { OfferListener } from './dispatch/offer-listener.js';
import type { OfferDispatcher } from './dispatch/offer.dispatcher.js';
import type { RcsCommandProcessor } from './dispatch/rcs-command.processor.js';
import type { RcsEventProcessor } from './dispatch/rcs-event.processor.js';
import type { CardPlatform } from './rbm/card-platform.js';
import type { WebhookServer } from './webhook/webhook.server.js';

export interface RcsParts {
  readonly sends: Pick<CardSendStore, 'drain'>;
  readonly platform: Pick<CardPlatform, 'isConfigured' | 'stop'>;
  readonly webhook: Pick<WebhookServer, 'listen' | 'close'>;
  readonly consumer: Pick<CardsConsumer, 'stop'>;
  readonly listener: Pick<OfferListener, 'start' | 'stop'>;
  readonly dispatcher: Pick<OfferDispatcher, 'stopClaiming' | 'drain'>;
  readonly commands: Pick<RcsCommandProcessor, 'start' | 'stopClaiming' | 'drain'>;
  readonly events: Pick<RcsEventProcessor, 'start' | 'stop'>;
}

/** Starts and stops the RCS components in their order. */
export class RcsService {
  constructor(private readonly parts: RcsParts) {}

  async listen(): Promise<void> {
    await this.parts.webhook.listen();
  }

  start(): void {
    const { platform, listener, commands, events } = this.parts;
    listener.start();
    events.start();
    // Without a platform this gateway leaves commands to other gateways.
    if (platform.isConfigured) commands.start();
  }

  /** Claims no further cards and commands. The webhook stays open for events of cards that were sent. */
  async stopSending(): Promise<void> {
    const { consumer, listener, dispatcher, commands } = this.parts;
    listener.stop();
    dispatcher.stopClaiming();
    await Promise.all([consumer.stop(), commands.stopClaiming()]);
  }

  /** Resolves once all sends and commands in flight have completed and are recorded. */
  async finishSending(): Promise<void> {
    await Promise.all([this.parts.dispatcher.drain(), this.parts.commands.drain()]);
  }

  /** Closes the webhook, then finishes the events that it accepted. */
  async stop(): Promise<void> {
    const { sends, platform, webhook, events } = this.parts;
    await webhook.close();
    await sends.drain();
    await events.stop();
    await platform.stop();
  }
}
