export { decodeText, isUcs2, type DefaultAlphabet } from './data-coding.js';
export { decodeGsm, encodeGsm, GSM_SEGMENT_SEPTETS, gsmSeptets } from './gsm.js';
export {
  asciiReadings,
  beginsWithReceiptLabel,
  mayBeReceipt,
  plainReading,
  RECEIPT_LABEL,
  receiptFieldsLength,
} from './receipt-text.js';
export { fillBitsAfter, packSeptets, paddedSeptets, unpackSeptets } from './septets.js';
export { decodeUcs2, encodeUcs2 } from './ucs2.js';
export { decodeUtf8, decodeUtf8Piece, type Utf8Piece } from './utf8.js';
