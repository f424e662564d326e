export { CarrierDirectory } from './carrier.directory.js';
export {
  BIND_TYPES,
  INTERFACE_VERSIONS,
  LINK_ALPHABETS,
  MESSAGE_ID_BASES,
  type MessageIdBase,
  type Bind,
  type BindHost,
  type BindTls,
  type BindType,
  type InboundNumber,
  type InterfaceVersion,
  type LinkAlphabet,
  type LinkTerms,
  type SmppSystem,
} from './carrier.js';
export { isShortCode } from './number-plan.js';
export { CarrierStore, type NewBind, type NewRoute, type NewSystem } from './carrier.store.js';
export { bindPassword, sealBindPassword, systemPasswordMatches } from './smpp-password.js';
