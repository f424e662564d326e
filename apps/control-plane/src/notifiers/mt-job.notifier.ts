import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { GatewayJobNotifier } from './job-notifier.js';

/** Notifies the gateways that MT messages are due. Gateways also poll for them. */
@Injectable()
export class MtJobNotifier extends GatewayJobNotifier {
  constructor(settings: ControlPlaneSettings, failures: FailureLog) {
    super('outbound', settings, { failures, work: 'notifying the gateways of queued codes' });
  }
}
