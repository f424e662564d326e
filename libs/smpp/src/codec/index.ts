export { decodePdu, LIMITS_OF_34, LIMITS_OF_50, type DecodeLimits } from './decode.js';
export { encodePdu, InvalidPduError, MAX_PDU_OCTETS } from './encode.js';
export { Framer } from './framer.js';
