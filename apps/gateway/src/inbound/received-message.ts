import { findTokens, type FoundToken } from '@countersign/session/tokens';
import { concatenationOf, messageOctets, type Concatenation } from '@countersign/smpp/messages';
import type { MessagePdu, SmppAddress } from '@countersign/smpp/pdu';
import { decodeText, type DefaultAlphabet } from '@countersign/text';

/** A decoded MO. */
export interface ReceivedMessage {
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly dataCoding: number;
  readonly text: string;
  /** Tokens in this text; tokens across parts are found later, when the stored parts are read. */
  readonly tokens: readonly FoundToken[];
  /** Part of a long message; null for a single message. */
  readonly part: Concatenation | null;
}

/** Never throws: every octet sequence decodes to some text. A long message of one part is a single message. */
export function readMessage(pdu: MessagePdu, defaultAlphabet: DefaultAlphabet): ReceivedMessage {
  const { sourceAddress, destinationAddress, dataCoding } = pdu.fields;
  const message = messageOctets(pdu);
  const text = decodeText(message.octets, dataCoding, defaultAlphabet, message.udh?.fillBits);
  const part = concatenationOf(pdu, message);
  return {
    source: sourceAddress,
    destination: destinationAddress,
    dataCoding,
    text,
    tokens: findTokens(text),
    part: part === null || part.total === 1 ? null : part,
  };
}
