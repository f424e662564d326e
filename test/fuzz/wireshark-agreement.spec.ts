import { LIMITS_OF_50, decodePdu, encodePdu } from '@countersign/smpp/codec';
import { messageOctets } from '@countersign/smpp/messages';
import type { Pdu, Tlv } from '@countersign/smpp/pdu';
import smpp from 'smpp';
import { describe, expect, it } from 'vitest';
import { CORPUS } from './corpus.js';
import { FUZZ_CASES, FUZZ_SEED, reportSeed } from './fuzz-run.js';
import { Random } from '../support/random.js';
import { framedMutant } from './mutator.js';
import { dissect, hasTshark, type Dissection } from './tshark.js';

const PDUS = CORPUS.map(({ octets }) => octets);
/** PDUs per run of tshark. */
const BATCH = 5_000;
/** In one TCP segment of a capture. */
const SEGMENT_OCTETS = 32_000;
const HEADER_OCTETS = 16;
const NOTE = 'tshark is not on this machine';

const FIELDS = [
  'smpp.command_id',
  'smpp.command_status',
  'smpp.sequence_number',
  'smpp.system_id',
  'smpp.source_addr',
  'smpp.destination_addr',
  'smpp.esme_addr',
  'smpp.data_coding',
  'smpp.sm_length',
  'smpp.message',
  'smpp.message_id',
  'smpp.opt_param_tag',
  'smpp.opt_param_len',
  '_ws.malformed',
] as const;

/** Commands for which the dissector reads no TLVs. */
const NO_TLVS_THERE: ReadonlySet<string> = new Set([
  'bind_receiver',
  'bind_transmitter',
  'bind_transceiver',
  'outbind',
  'unbind',
  'unbind_resp',
  'enquire_link',
  'enquire_link_resp',
  'generic_nack',
  'query_sm',
  'cancel_sm',
  'replace_sm',
]);
const PRINTABLE = /^[\x21-\x7e]+$/;
const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;

const { tlvs: TLVS } = smpp;
/**
 * The TLVs of messages, receipts and binds whose value is a number or octets; the dissector does not know those of
 * vendors.
 */
const PLAIN_TLVS: ReadonlySet<number> = new Set(
  [
    TLVS.message_payload,
    TLVS.receipted_message_id,
    TLVS.message_state,
    TLVS.sar_msg_ref_num,
    TLVS.sar_total_segments,
    TLVS.sar_segment_seqnum,
    TLVS.user_message_reference,
    TLVS.more_messages_to_send,
    TLVS.sc_interface_version,
  ].map(({ id }) => id),
);
const FIRST_VENDOR_TAG = 0x1400;
const LAST_VENDOR_TAG = 0x3fff;
const NETWORK_ERROR_OCTETS = 3;
const isPlain = ({ tag, value }: Tlv): boolean =>
  PLAIN_TLVS.has(tag) ||
  (tag >= FIRST_VENDOR_TAG && tag <= LAST_VENDOR_TAG) ||
  (tag === TLVS.network_error_code.id && value.length === NETWORK_ERROR_OCTETS);
/**
 * TLVs with a structure of their own: the dissector gives up where it is malformed, or reads on by the structure
 * instead of the length. We pass on the octets, and find the next TLV by the length.
 */
const hasInnerForm = (pdu: Pdu): boolean => !pdu.tlvs.every(isPlain);

/** Our values in the form of tshark. Strings only where they are printable: it renders other octets in its own ways. */
function expected(pdu: Pdu): Map<string, readonly string[]> {
  const said = new Map<string, readonly string[]>([['smpp.sequence_number', [String(pdu.sequence)]]]);
  const text = (field: string, value: string): void => {
    if (PRINTABLE.test(value)) said.set(field, [value]);
  };
  const { fields } = pdu;
  if ('systemId' in fields) text('smpp.system_id', fields.systemId);
  if ('messageId' in fields) text('smpp.message_id', fields.messageId);
  if ('sourceAddress' in fields) text('smpp.source_addr', fields.sourceAddress.value);
  if ('destinationAddress' in fields) text('smpp.destination_addr', fields.destinationAddress.value);
  if ('esmeAddress' in fields) text('smpp.esme_addr', fields.esmeAddress.value);
  if ('dataCoding' in fields) said.set('smpp.data_coding', [hex(fields.dataCoding, 2)]);
  if ('shortMessage' in fields) {
    said.set('smpp.sm_length', [String(fields.shortMessage.length)]);
    if (fields.shortMessage.length > 0) said.set('smpp.message', [fields.shortMessage.toString('hex')]);
  }
  if (pdu.tlvs.length > 0 && !NO_TLVS_THERE.has(pdu.command) && !hasInnerForm(pdu)) {
    said.set(
      'smpp.opt_param_tag',
      pdu.tlvs.map(({ tag }) => hex(tag, 4)),
    );
    said.set(
      'smpp.opt_param_len',
      pdu.tlvs.map(({ value }) => String(value.length)),
    );
  }
  return said;
}

function differences(pdu: Pdu, dissection: Dissection): string[] {
  return [...expected(pdu)].flatMap(([field, ours]) => {
    const theirs = dissection.get(field) ?? [];
    return ours.join() === theirs.join() ? [] : [`${field}: ${ours.join()} and ${theirs.join()}`];
  });
}

/** A response without a body, or a refusal whose body cannot be read: only the header is compared. */
const saysNothing = (pdu: Pdu, octets: Buffer): boolean =>
  octets.length === HEADER_OCTETS || (pdu.command.endsWith('_resp') && pdu.status !== 0);

/** The dissector does not recognise SMPP by a first PDU with a status that it does not know. */
const isForeign = (pdu: Pdu, dissection: Dissection): boolean =>
  pdu.status !== 0 && dissection.get('smpp.command_id')?.length === 0;

const UDH_INDICATOR = 0x40;
/** A user data header that is malformed: the dissector gives the PDU up, we pass on its octets as received. */
function hasBrokenHeader(pdu: Pdu): boolean {
  const isMessage = pdu.command === 'submit_sm' || pdu.command === 'deliver_sm' || pdu.command === 'data_sm';
  return isMessage && (pdu.fields.esmClass & UDH_INDICATOR) !== 0 && messageOctets(pdu).udh === null;
}

/** NUL octets at the end of the body: the dissector reports a malformed PDU, we ignore them. */
const isPadded = (pdu: Pdu, octets: Buffer): boolean => encodePdu(pdu).length < octets.length;

async function compare(pdus: readonly Buffer[]): Promise<{ compared: number; wrong: string[] }> {
  const dissections = await dissect(pdus, FIELDS);
  expect(dissections).toHaveLength(pdus.length);
  const wrong: string[] = [];
  let compared = 0;
  for (const [at, octets] of pdus.entries()) {
    const pdu = decodePdu(octets, 0, octets.length, LIMITS_OF_50);
    const dissection = dissections[at] ?? new Map<string, readonly string[]>();
    if (pdu.command === 'malformed' || saysNothing(pdu, octets) || hasBrokenHeader(pdu)) continue;
    if (isForeign(pdu, dissection) || isPadded(pdu, octets)) continue;
    compared++;
    const isMalformed = (dissection.get('_ws.malformed') ?? []).length > 0;
    if (isMalformed && hasInnerForm(pdu)) continue;
    const found = isMalformed ? ['malformed there'] : differences(pdu, dissection);
    if (found.length > 0) wrong.push(`${octets.toString('hex')}: ${found.join('; ')}`);
  }
  return { compared, wrong };
}

describe('Wireshark', () => {
  it('dissects every PDU of the corpus as we do', async (context) => {
    context.skip(!hasTshark, NOTE);
    expect((await compare(PDUS)).wrong).toEqual([]);
  });

  it('dissects every mutant that we read as we do, and finds none of them malformed', async (context) => {
    context.skip(!hasTshark, NOTE);
    reportSeed('Wireshark');
    const random = new Random(FUZZ_SEED);
    let compared = 0;
    for (let done = 0; done < FUZZ_CASES; done += BATCH) {
      const count = Math.min(BATCH, FUZZ_CASES - done);
      const mutants = Array.from({ length: count }, () => framedMutant(PDUS, random));
      const batch = await compare(mutants.filter(({ length }) => length < SEGMENT_OCTETS));
      expect(batch.wrong).toEqual([]);
      compared += batch.compared;
    }
    expect(compared).toBeGreaterThan(FUZZ_CASES / 10);
  });
});
