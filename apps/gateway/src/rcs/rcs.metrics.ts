import type { RbmCommand } from '@countersign/rcs/commands';
import type { CardEventKind, SendOutcome, Verdict } from '@countersign/rcs/rules';
import type { Metrics } from '@countersign/telemetry';
import { PeerNames } from '../metrics/peer-names.js';
import type { CommandResult } from './rbm-answer.js';
import type { WebhookFate } from './rbm-webhook.handler.js';

/** What the gateway counts of cards. Labels take few values: no phone, no id, and of agents only so many. */
export class RcsMetrics {
  private readonly agents = new PeerNames();
  private readonly cards;
  private readonly sendSeconds;
  private readonly deliverySeconds;
  private readonly taps;
  private readonly errands;
  private readonly webhooks;
  private readonly events;
  private readonly shed;

  constructor(private readonly metrics: Metrics) {
    this.cards = metrics.counter({
      name: 'rcs_cards_total',
      help: 'Cards that were claimed to be sent, by what came of it, and for refused and unknown ones why.',
      labels: ['outcome', 'because'],
    });
    this.sendSeconds = metrics.histogram({
      name: 'rcs_send_seconds',
      help: 'From the claim of a card to the answer of the platform, or to the end of its time.',
    });
    this.deliverySeconds = metrics.histogram({
      name: 'rcs_delivery_seconds',
      help: 'From the answer of the platform to the first word that the card had reached its phone.',
      labels: ['agent'],
    });
    this.taps = metrics.counter({
      name: 'rcs_taps_total',
      help: 'Taps that were taken for what they say; late: the session had ended before.',
      labels: ['verdict', 'effect'],
    });
    this.errands = metrics.counter({
      name: 'rcs_commands_total',
      help: 'What else the platform was told: cards revoked, and texts that close them. Again: to be tried once more.',
      labels: ['errand', 'outcome'],
    });
    this.webhooks = metrics.counter({
      name: 'rcs_webhooks_total',
      help: 'Requests to the webhook of the platform, by what became of them.',
      labels: ['fate'],
    });
    this.events = metrics.counter({
      name: 'rcs_events_total',
      help: 'Events of the platform that were stored, repeats included.',
      labels: ['kind'],
    });
    this.shed = metrics.counter({
      name: 'rcs_offers_shed_total',
      help: 'Offers that were rung for and not looked at, because too many cards were on their way.',
    });
  }

  /** Cards on their way, read when the metrics are asked for. */
  watchSends(read: () => number): void {
    this.metrics.gauge({ name: 'rcs_cards_sending', help: 'Cards on their way to the platform from here.', read });
  }

  sent(outcome: SendOutcome, seconds: number): void {
    this.cards.inc({ outcome: outcome.kind, because: 'because' in outcome ? outcome.because : '' });
    this.sendSeconds.observe(seconds);
  }

  arrived(agentId: string, afterMs: number): void {
    this.deliverySeconds.observe({ agent: this.agents.labelOf(agentId) }, afterMs / 1_000);
  }

  tapped(verdict: Verdict, ended: boolean): void {
    this.taps.inc({ verdict, effect: ended ? 'ended' : 'late' });
  }

  told(errand: RbmCommand['kind'], outcome: CommandResult): void {
    this.errands.inc({ errand, outcome });
  }

  received(fate: WebhookFate, kind: CardEventKind | null): void {
    this.webhooks.inc({ fate });
    if (kind !== null) this.events.inc({ kind });
  }

  leftOut(count: number): void {
    this.shed.inc(count);
  }
}
