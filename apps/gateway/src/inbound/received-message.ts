import { findTokens, type FoundToken } from '@countersign/session';
import { concatenationOf, messageOctets, type DataSm, type DeliverSm, type SmppAddr, type SubmitSm } from '@countersign/smpp';
import { decodeText, type DefaultAlphabet } from '@countersign/text';

/** The three commands that carry an MO: a carrier delivers, an aggregator that connects in may submit. */
export type MoPdu = SubmitSm | DeliverSm | DataSm;

/** Which part of which long message this is (SMPP 3.4 sections 5.3.2.22 to 24; 3GPP TS 23.040, 9.2.3.24.1 and .8). */
export interface MessagePart {
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  readonly total: number;
  readonly number: number;
}

export interface ReceivedMessage {
  readonly source: SmppAddr;
  readonly destination: SmppAddr;
  readonly dataCoding: number;
  readonly text: string;
  /** Tokens of this text alone; a token that straddles parts is found when the parts are read. */
  readonly tokens: readonly FoundToken[];
  readonly part: MessagePart | null;
}

/** Reads an MO as text and evidence. Never throws: every octet sequence is some text. */
export function readMessage(pdu: MoPdu, defaultAlphabet: DefaultAlphabet): ReceivedMessage {
  const { octets } = messageOctets(pdu);
  const text = decodeText(octets, pdu.fields.dataCoding, defaultAlphabet);
  return {
    source: pdu.fields.sourceAddress,
    destination: pdu.fields.destinationAddress,
    dataCoding: pdu.fields.dataCoding,
    text,
    tokens: findTokens(text),
    part: partOf(pdu),
  };
}

/** A "long message" of one part, or a part outside its total, is a message on its own. */
function partOf(pdu: MoPdu): MessagePart | null {
  const found = concatenationOf(pdu);
  if (found === null || found.total < 2 || found.part < 1 || found.part > found.total) return null;
  return { reference: found.reference, referenceBits: found.referenceBits, total: found.total, number: found.part };
}
