import { GatewayBell } from '../gateway.bell.js';

/**
 * Tells the gateways that cards are offered, or that something is to be told of them. Errands they find by themselves; an
 * offer whose ring is lost is not sent.
 */
export class CardBell extends GatewayBell {}
