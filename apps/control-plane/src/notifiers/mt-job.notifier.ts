import { GatewayJobNotifier } from './job-notifier.js';

/** Notifies the gateways that MT messages are due. Gateways also poll for them. */
export class MtJobNotifier extends GatewayJobNotifier {}
