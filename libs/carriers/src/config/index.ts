export { type Bind, BindEntity } from './bind.entity.js';
export { CarrierDirectory } from './carrier.directory.js';
export {
  BIND_TYPES,
  INTERFACE_VERSIONS,
  LINK_ALPHABETS,
  MESSAGE_ID_BASES,
  type MessageIdBase,
  type BindHost,
  type BindTls,
  type BindType,
  type InterfaceVersion,
  type LinkAlphabet,
} from './carrier.js';
export { type InboundNumber, InboundNumberEntity, INBOUND_NUMBERS } from './inbound-number.entity.js';
export type { LinkTerms } from './link.entity.js';
export { hasOwnCountry } from './number-plan.js';
export { CarrierStore, type BindSecrets, type NewBind, type NewRoute, type NewSystem } from './carrier.store.js';
export { bindClientKey, bindPassword, sealBindPassword, systemPasswordMatches } from './smpp-password.js';
export { type SmppSystem, SmppSystemEntity } from './smpp-system.entity.js';
