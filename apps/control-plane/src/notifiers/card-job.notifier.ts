import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { GatewayJobNotifier } from './job-notifier.js';

/**
 * Notifies one gateway of offers that no gateway claimed after the broadcast, and of cards with commands. Gateways also poll for
 * commands, but not for offers: an offer without any notification is not sent.
 */
@Injectable()
export class CardJobNotifier extends GatewayJobNotifier {
  constructor(settings: ControlPlaneSettings, failures: FailureLog) {
    super('cards', settings, { failures, work: 'bus: a message to other processes' });
  }
}
