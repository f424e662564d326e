/** Bits 5 to 2 of esm_class give the message type (SMPP 3.4 section 5.2.12). */
const TYPE_BITS = 0x3c;
/** Bit 6: the text begins with a user data header. */
const UDH_INDICATOR = 0x40;

export const MESSAGE = 0x00;
export const RECEIPT = 0x04;
export const INTERMEDIATE_NOTIFICATION = 0x20;

export const messageType = (esmClass: number): number => esmClass & TYPE_BITS;

/** Whether the message is a carrier's report on one of ours, final or intermediate. */
export function isReport(esmClass: number): boolean {
  const type = messageType(esmClass);
  return type === RECEIPT || type === INTERMEDIATE_NOTIFICATION;
}

export const beginsWithHeader = (esmClass: number): boolean => (esmClass & UDH_INDICATOR) !== 0;
