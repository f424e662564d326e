import { GatewayJobNotifier } from './job-notifier.js';

/**
 * Notifies one gateway of offers that no gateway claimed after the broadcast, and of cards with commands. Gateways also poll for
 * commands, but not for offers: an offer without any notification is not sent.
 */
export class CardJobNotifier extends GatewayJobNotifier {}
