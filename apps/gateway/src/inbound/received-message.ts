import { findTokens, type FoundToken } from '@countersign/session/tokens';
import { concatenationOf, messageOctets, type Concatenation } from '@countersign/smpp/messages';
import type { MessagePdu, SmppAddress } from '@countersign/smpp/pdu';
import { decodeText, type DefaultAlphabet } from '@countersign/text';

/** An MO as text and evidence. */
export interface ReceivedMessage {
  readonly source: SmppAddress;
  readonly destination: SmppAddress;
  readonly dataCoding: number;
  readonly text: string;
  /** Tokens of this text alone; what straddles parts is found when the parts are read. */
  readonly tokens: readonly FoundToken[];
  /** Which part of which long message this is; null for a message on its own. */
  readonly part: Concatenation | null;
}

/** Never throws: every octet sequence is some text. A "long message" of one part is a message on its own. */
export function readMessage(pdu: MessagePdu, defaultAlphabet: DefaultAlphabet): ReceivedMessage {
  const { sourceAddress, destinationAddress, dataCoding } = pdu.fields;
  const { octets, udh } = messageOctets(pdu);
  const text = decodeText(octets, dataCoding, defaultAlphabet, udh?.fillBits);
  const part = concatenationOf(pdu);
  return {
    source: sourceAddress,
    destination: destinationAddress,
    dataCoding,
    text,
    tokens: findTokens(text),
    part: part === null || part.total === 1 ? null : part,
  };
}
