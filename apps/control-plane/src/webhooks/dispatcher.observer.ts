import { Injectable } from '@nestjs/common';
import { DeliveryJobNotifier } from '../notifiers/delivery-job.notifier.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** Has notifications wake the dispatcher, and its state shown by gauges. */
@Injectable()
export class DispatcherObserver {
  constructor(dispatcher: WebhookDispatcher, notifier: DeliveryJobNotifier, metrics: ControlPlaneMetrics) {
    notifier.connect(() => dispatcher.wake());
    metrics.watch('webhooks_in_flight', 'Webhook POSTs in flight.', () => dispatcher.inFlight);
    metrics.watch(
      'webhook_hosts_broken',
      'Webhook hosts whose circuit breaker is open or half open.',
      () => dispatcher.brokenHosts,
    );
  }
}
