import { GatewayBell } from '../gateway.bell.js';

/** Tells the gateways that messages are due. They find those of a lost ring by themselves. */
export class OutboundBell extends GatewayBell {}
