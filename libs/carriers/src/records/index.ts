export {
  BINDS,
  GATEWAYS,
  SMPP_SYSTEMS,
  type BindRecord,
  type GatewayLease,
  type GatewayRecord,
  type SystemLink,
  type SystemRecord,
  type SystemRefusal,
} from './carrier-tables.js';
export { INBOUND_NUMBERS } from '../config/index.js';
export { ROUTES } from '../routes/index.js';
