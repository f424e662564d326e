export { decodeText, type DefaultAlphabet } from './data-coding.js';
export { decodeGsm, encodeGsm, GSM_SEGMENT_SEPTETS, gsmSeptets } from './gsm.js';
export { fillBitsAfter, packSeptets, paddedSeptets, unpackSeptets } from './septets.js';
export { decodeUcs2, encodeUcs2 } from './ucs2.js';
