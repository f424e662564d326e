import type { CardStore } from '@countersign/rcs';
import type { OfferListener } from './offer-listener.js';
import type { RcsCommandProcessor } from './rcs-command.processor.js';
import type { RcsEventProcessor } from './rcs-event.processor.js';
import type { CardOffers } from './card-offers.js';
import type { CardPlatform } from './card-platform.js';
import type { CardsConsumer } from './cards.consumer.js';
import type { WebhookServer } from './webhook.server.js';

export interface RcsParts {
  readonly cards: Pick<CardStore, 'drain'>;
  readonly platform: Pick<CardPlatform, 'isSetUp' | 'stop'>;
  readonly webhook: Pick<WebhookServer, 'listen' | 'close'>;
  readonly consumer: Pick<CardsConsumer, 'stop'>;
  readonly calls: Pick<OfferListener, 'start' | 'stop'>;
  readonly offers: Pick<CardOffers, 'stopClaiming' | 'drain'>;
  readonly commands: Pick<RcsCommandProcessor, 'start' | 'stopTaking' | 'drain'>;
  readonly events: Pick<RcsEventProcessor, 'start' | 'stop'>;
}

/** Everything of cards, as far as it is started and stopped. */
export class RcsService {
  constructor(private readonly parts: RcsParts) {}

  async listen(): Promise<void> {
    await this.parts.webhook.listen();
  }

  start(): void {
    const { platform, calls, commands, events } = this.parts;
    calls.start();
    events.start();
    // Errands of cards are those of a gateway that can run them.
    if (platform.isSetUp) commands.start();
  }

  /** No card is claimed and no errand taken from now on. The webhook goes on: cards that went out are answered. */
  async stopSending(): Promise<void> {
    const { consumer, calls, offers, commands } = this.parts;
    calls.stop();
    offers.stopClaiming();
    await Promise.all([consumer.stop(), commands.stopTaking()]);
  }

  /** Resolves once what is on its way to the platform has arrived, and is recorded. */
  async finishSending(): Promise<void> {
    await Promise.all([this.parts.offers.drain(), this.parts.commands.drain()]);
  }

  /** Takes nothing more of the platform, and acts on what it took. */
  async stop(): Promise<void> {
    const { cards, platform, webhook, events } = this.parts;
    await webhook.close();
    await cards.drain();
    await events.stop();
    await platform.stop();
  }
}
