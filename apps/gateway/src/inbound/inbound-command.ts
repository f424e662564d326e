import type { NewInboundMessage, WholeMessage } from '@countersign/carriers/inbound';
import type { Uuid } from '@countersign/ids';
import type { InboundVerdict } from '@countersign/session/rules';
import type { Concatenation } from '@countersign/smpp/messages';
import type { SmppAddress } from '@countersign/smpp/pdu';
import type { InboundLink } from '../links/inbound-link.js';
import type { ReceivedMessage } from './received-message.js';

/** One MO to be stored. */
export interface InboundCommand {
  readonly id: Uuid;
  readonly link: InboundLink;
  readonly message: ReceivedMessage;
  /** The long message that this is a part of; null for a whole message, and over a link that is not trusted. */
  readonly whole: WholeMessage | null;
  /**
   * Commands with a common key never share a transaction: the parts of one long message. Messages with one token do: in a set they
   * are judged in order, so that many of them take few transactions and do not delay others.
   */
  readonly keys: readonly string[];
}

export function inboundCommand(id: Uuid, link: InboundLink, message: ReceivedMessage): InboundCommand {
  const { part } = message;
  // No token of an untrusted link approves a session, so its parts are not joined.
  if (!link.trustedForMo) return { id, link, message, whole: null, keys: [] };
  const whole = part === null ? null : wholeOf(link, message, part);
  return { id, link, message, whole, keys: whole === null ? [] : [JSON.stringify(Object.values(whole))] };
}

/** Parts belong together by carrier (over any of its links), both addresses, reference and total. */
function wholeOf(link: InboundLink, message: ReceivedMessage, part: Concatenation): WholeMessage {
  return {
    carrier: link.carrier,
    source: senderKey(message.source),
    destination: message.destination.value,
    reference: part.reference,
    referenceBits: part.referenceBits,
    total: part.total,
  };
}

/**
 * A sender as a key: equal digits with another TON or NPI are another sender, since carriers let their customers choose senders of
 * letters, which may be digits.
 */
export const senderKey = ({ ton, npi, value }: SmppAddress): string => `${ton}:${npi}:${value}`;

/** The row of a message. */
export function messageRow(command: InboundCommand, textSealed: Buffer, verdict: InboundVerdict): NewInboundMessage {
  const { id, link, message } = command;
  return {
    id,
    carrier: link.carrier,
    linkId: link.id,
    source: message.source.value,
    sourceTon: message.source.ton,
    sourceNpi: message.source.npi,
    destination: message.destination.value,
    dataCoding: message.dataCoding,
    textSealed,
    part: message.part === null ? null : { number: message.part.part, total: message.part.total },
    ...verdict,
  };
}
