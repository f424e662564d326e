/** Bits 5 to 2 of esm_class: the message type (SMPP 3.4 section 5.2.12). */
const MESSAGE_TYPE_MASK = 0b0011_1100;
const SMSC_DELIVERY_RECEIPT = 0b0000_0100;
const INTERMEDIATE_NOTIFICATION = 0b0010_0000;

/**
 * Is this a report by the carrier about a message of ours? Acknowledgements by the phone's user (types 0x08 and 0x10)
 * are not: they carry what a person wrote, and an MO must not be lost.
 */
export function isReceipt(esmClass: number): boolean {
  const type = esmClass & MESSAGE_TYPE_MASK;
  return type === SMSC_DELIVERY_RECEIPT || type === INTERMEDIATE_NOTIFICATION;
}
