import { isAscii } from 'node:buffer';
import { CUT, findTokens, type FoundToken } from '@countersign/session/tokens';
import { concatenationOf, messageOctets, type Concatenation } from '@countersign/smpp/messages';
import type { MessagePdu, SmppAddress } from '@countersign/smpp/pdu';
import { decodeText, decodeUtf8, isUcs2, type DefaultAlphabet } from '@countersign/text';
import { partOctets, readPieces, type PartOctets } from './part-octets.js';

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
  /** Octets of a part at whose ends characters may be cut; null for others, and for single messages. */
  readonly octets: PartOctets | null;
}

/**
 * Never throws: every octet sequence decodes to some text. A long message of one part is a single message. Text without a
 * token in the alphabet of its data_coding is read as UTF-8 if its octets are that, and a part in UCS-2 from its second
 * octet too; if that gives a token, it is the text.
 */
export function readMessage(pdu: MessagePdu, defaultAlphabet: DefaultAlphabet): ReceivedMessage {
  const { sourceAddress, destinationAddress, dataCoding } = pdu.fields;
  const message = messageOctets(pdu);
  const concatenation = concatenationOf(pdu, message);
  const part = concatenation === null || concatenation.total === 1 ? null : concatenation;
  const octets = part === null ? null : octetsOfPart(message.octets, dataCoding);
  const text = decodeText(message.octets, dataCoding, defaultAlphabet, message.udh?.fillBits);
  const tokens = findTokens(text);
  const other = tokens.length > 0 ? null : otherReading(message.octets, octets);
  return {
    source: sourceAddress,
    destination: destinationAddress,
    dataCoding,
    text: other?.text ?? text,
    tokens: other?.tokens ?? tokens,
    part,
    octets,
  };
}

function octetsOfPart(octets: Buffer, dataCoding: number): PartOctets | null {
  if (isUcs2(dataCoding)) return partOctets('ucs2', octets);
  return isAscii(octets) ? null : partOctets('utf8', octets);
}

/** UCS-2 from the first octet was read before. */
const FROM_SECOND = [1] as const;

/** The first other text of the octets that has a token. */
function otherReading(octets: Buffer, part: PartOctets | null): Pick<ReceivedMessage, 'text' | 'tokens'> | null {
  if (part === null) {
    const text = decodeUtf8(octets);
    return text === null ? null : withTokens(text, text);
  }
  for (const { text, cutBefore, cutAfter } of readPieces(octets, part.encoding, FROM_SECOND)) {
    const found = withTokens(text, (cutBefore ? CUT : '') + text + (cutAfter ? CUT : ''));
    if (found !== null) return found;
  }
  return null;
}

function withTokens(text: string, withCuts: string): Pick<ReceivedMessage, 'text' | 'tokens'> | null {
  const tokens = findTokens(withCuts);
  return tokens.length === 0 ? null : { text, tokens };
}
