export { decodePdu, LIMITS_OF_34, LIMITS_OF_50 } from './decode.js';
export { encodePdu, InvalidPduError } from './encode.js';
