import { GatewayJobNotifier } from './job-notifier.js';

/** Tells the gateways that messages are due. They find those of a lost ring by themselves. */
export class MtJobNotifier extends GatewayJobNotifier {}
