import { Injectable } from '@nestjs/common';
import type { RbmCommand } from '@countersign/rcs/commands';
import type { CardEventKind, SendOutcome, Verdict } from '@countersign/rcs/rules';
import { Metrics } from '@countersign/telemetry';
import { PeerNames } from '../links/peer-names.js';
import type { CommandResult } from './rbm/rbm-answer.js';
import type { WebhookResult } from './webhook/webhook-result.js';

/** Metrics of cards. Label values are bounded: no phones, no ids, and a limited number of agents. */
@Injectable()
export class RcsMetrics {
  private readonly agents = new PeerNames();
  private readonly cards;
  private readonly sendSeconds;
  private readonly deliverySeconds;
  private readonly taps;
  private readonly commands;
  private readonly webhooks;
  private readonly events;
  private readonly shed;

  constructor(private readonly metrics: Metrics) {
    this.cards = metrics.counter({
      name: 'rcs_cards_total',
      help: 'Sends of claimed cards, by outcome and, for refused and unknown ones, by reason.',
      labels: ['outcome', 'because'],
    });
    this.sendSeconds = metrics.histogram({
      name: 'rcs_send_seconds',
      help: 'Duration of a send, from the start of the request to the answer of the platform or the timeout.',
    });
    this.deliverySeconds = metrics.histogram({
      name: 'rcs_delivery_seconds',
      help: 'Time from the answer of the platform to a send until the first event that proves the delivery of the card.',
      labels: ['agent'],
    });
    this.taps = metrics.counter({
      name: 'rcs_taps_total',
      help: 'Valid taps, by verdict; late: the session had ended before.',
      labels: ['verdict', 'effect'],
    });
    this.commands = metrics.counter({
      name: 'rcs_commands_total',
      help: 'Revokes and closing texts sent to the platform, by outcome; again: to be retried.',
      labels: ['command', 'outcome'],
    });
    this.webhooks = metrics.counter({
      name: 'rcs_webhooks_total',
      help: 'Requests to the webhook of the platform, by result.',
      labels: ['fate'],
    });
    this.events = metrics.counter({
      name: 'rcs_events_total',
      help: 'Stored events of the platform, repeats included.',
      labels: ['kind'],
    });
    this.shed = metrics.counter({
      name: 'rcs_offers_shed_total',
      help: 'Offers that were not claimed because too many sends were in flight.',
    });
  }

  /** Registers the gauge of sends in flight; `read` is called at each scrape. */
  registerSendsInFlight(read: () => number): void {
    this.metrics.gauge({ name: 'rcs_cards_sending', help: 'Sends in flight on this gateway.', read });
  }

  countSend(outcome: SendOutcome, seconds: number): void {
    this.cards.inc({ outcome: outcome.kind, because: 'because' in outcome ? outcome.because : '' });
    this.sendSeconds.observe(seconds);
  }

  countArrival(agentId: string, afterMs: number): void {
    this.deliverySeconds.observe({ agent: this.agents.labelOf(agentId) }, afterMs / 1_000);
  }

  countTap(verdict: Verdict, ended: boolean): void {
    this.taps.inc({ verdict, effect: ended ? 'ended' : 'late' });
  }

  countCommand(command: RbmCommand['kind'], outcome: CommandResult): void {
    this.commands.inc({ command, outcome });
  }

  countWebhook(fate: WebhookResult, kind: CardEventKind | null): void {
    this.webhooks.inc({ fate });
    if (kind !== null) this.events.inc({ kind });
  }

  countShedOffers(count: number): void {
    this.shed.inc(count);
  }
}
