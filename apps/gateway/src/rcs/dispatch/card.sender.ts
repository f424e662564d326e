import { Inject, Injectable } from '@nestjs/common';
import type { Card } from '@countersign/rcs/rules';
import { CardPlatform } from '../rbm/card-platform.js';
import { RcsMetrics } from '../rcs.metrics.js';
import { DeliveryGrace } from './delivery-grace.js';
import { SendOutcomeRecorder } from './send-outcome.recorder.js';

/** Time to record the outcome of a send; the create has been answered long before it ends. */
const RECORD_DEADLINE_MS = 10_000;

/** Sends claimed cards to the platform. */
@Injectable()
export class CardSender {
  constructor(
    @Inject(CardPlatform) private readonly platform: Pick<CardPlatform, 'sendCard'>,
    private readonly grace: DeliveryGrace,
    private readonly outcomes: SendOutcomeRecorder,
    private readonly metrics: RcsMetrics,
  ) {}

  /** Sends a card and records the outcome, unless its delivery is stored first. Never rejects. */
  async sendCard(card: Card): Promise<void> {
    const startMs = performance.now();
    const outcome = await this.platform.sendCard(card);
    const endMs = performance.now();
    this.metrics.countSend(outcome, (endMs - startMs) / 1_000);
    if (outcome.kind === 'sent' && (await this.grace.waitForDelivery(card.id))) return;
    await this.outcomes.recordOutcome(card.id, outcome, endMs + RECORD_DEADLINE_MS);
  }
}
