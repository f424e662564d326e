export { BindEntity } from './bind.entity.js';
export {
  BINDS,
  GATEWAYS,
  INBOUND_NUMBERS,
  ROUTES,
  SMPP_SYSTEMS,
  type BindRecord,
  type GatewayLease,
  type GatewayRecord,
  type SystemLink,
  type SystemRecord,
} from './carrier-tables.js';
export { InboundNumberEntity } from './inbound-number.entity.js';
export { SmppSystemEntity } from './smpp-system.entity.js';
