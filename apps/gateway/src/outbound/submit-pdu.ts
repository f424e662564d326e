import { countryOf, type SmppAddress } from '@countersign/phone';
import {
  encodeTlvs,
  NO_OPTIONS,
  rewriteAddress,
  type Rewritten,
  type SubmitOptions,
} from '@countersign/carriers/submit-options';
import { submitSm, type Outgoing, type SubmitSm } from '@countersign/smpp/pdu';
import { recipientAddress, senderAddress } from './submit-address.js';
import type { TextPart } from './text-parts.js';

/** registered_delivery: receipt for success and failure (SMPP 3.4, 5.2.17). */
const EVERY_RECEIPT = 1;
export const NO_RECEIPT = 0;

/** A number without a country, as in the API. */
const NO_COUNTRY = '001';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

export interface Envelope {
  /** E.164. */
  readonly destination: string;
  /** E.164, a short code, or alphanumeric. */
  readonly source: string;
  /** Seconds until the code expires, rounded down; at least 1. */
  readonly validSeconds: number;
  readonly expiresAt: Date;
  /** The name of the brand. */
  readonly brand: string;
  /** The id of the message in the API. */
  readonly messageId: string;
}

/**
 * The submit_sm of a code, as the carrier asks for it; by default it requests a receipt for the last part, and the
 * validity period ends with the session. Legal options always give a PDU that can be encoded.
 */
export function submitPdu(
  message: Envelope,
  { isLast, tlvs, ...text }: TextPart,
  options: SubmitOptions = NO_OPTIONS,
): Outgoing<SubmitSm> {
  const { serviceType, protocolId, priorityFlag, registeredDelivery = EVERY_RECEIPT } = options;
  const sourceAddress = senderAddress(rewritten(options, 'source', message.source), options.source);
  return submitSm(
    {
      sourceAddress,
      destinationAddress: destinationAddressOf(message, options),
      validityPeriod: validityOf(message, options),
      registeredDelivery: isLast ? registeredDelivery : NO_RECEIPT,
      ...(serviceType === undefined ? {} : { serviceType }),
      ...(protocolId === undefined ? {} : { protocolId }),
      ...(priorityFlag === undefined ? {} : { priorityFlag }),
      ...text,
    },
    options.tlvs === undefined ? tlvs : [...tlvs, ...encodeTlvs(options.tlvs, valuesOf(message, sourceAddress.value))],
  );
}

/** The recipient's address in the PDU, after the rewriting rules. */
export const destinationAddressOf = (
  { destination }: Pick<Envelope, 'destination'>,
  options: SubmitOptions,
): SmppAddress => recipientAddress(rewritten(options, 'destination', destination), options.destination);

const rewritten = ({ rewrite }: SubmitOptions, of: Rewritten, address: string): string =>
  rewrite === undefined ? address : rewriteAddress(rewrite, of, address).address;

const valuesOf = ({ brand, destination, messageId }: Envelope, sender: string) => ({
  brand,
  sender,
  country: countryOf(destination) ?? NO_COUNTRY,
  messageId,
});

function validityOf({ validSeconds, expiresAt }: Envelope, { validityPeriod = 'relative' }: SubmitOptions): string {
  if (validityPeriod === 'none') return '';
  return validityPeriod === 'absolute' ? absoluteTime(expiresAt) : relativeTime(validSeconds);
}

/** `YYMMDDhhmmss000R`: relative to the carrier's receipt of the message (SMPP 3.4, 7.1.1.2). Less than a day. */
export function relativeTime(seconds: number): string {
  const parts = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE), seconds % MINUTE];
  return `000000${parts.map((part) => String(part).padStart(2, '0')).join('')}000R`;
}

/** `YYMMDDhhmmss000+`: in UTC, with the tenths of seconds dropped (SMPP 3.4, 7.1.1.1). */
export function absoluteTime(time: Date): string {
  return `${time.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}000+`;
}
