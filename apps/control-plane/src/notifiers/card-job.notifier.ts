import { GatewayJobNotifier } from './job-notifier.js';

/**
 * Tells a gateway that cards are offered of which no other has heard, or that something is to be told of them. Errands they
 * find by themselves; an offer that was called and rung for in vain is not sent.
 */
export class CardJobNotifier extends GatewayJobNotifier {}
