import { decodePdu, encodePdu } from '@countersign/smpp/codec';
import { deliverSm, octetsTlv, submitSm, textTlv, type MessagePdu } from '@countersign/smpp/pdu';
import smpp from 'smpp';

/** Encodes and decodes the same PDUs with both codecs, alternating, each for the given time. */
export interface CodecTask {
  readonly seconds: number;
}

export interface CodecFigure {
  readonly what: string;
  readonly oursPerSecond: number;
  readonly npmPerSecond: number;
}

const CHUNK = 200;
const address = (value: string) => ({ ton: 1, npi: 1, value });
const parties = { sourceAddress: address('14155552671'), destinationAddress: address('14155550199') };
const npmParties = {
  sequence_number: 1,
  source_addr_ton: 1,
  source_addr_npi: 1,
  source_addr: '14155552671',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  destination_addr: '14155550199',
};
const CODE = Buffer.from('042137 is your Acme code. Do not share it.');
const MO = Buffer.from('AUTH-ACME-7Q2M9XK4T1V8C3ZB\nSend this message to sign in to Acme.');
const RECEIPT = Buffer.from(
  'id:0123456789 sub:001 dlvrd:001 submit date:2601311200 done date:2601311201 stat:DELIVRD err:000 text:',
);

const submit: MessagePdu = { ...submitSm({ ...parties, shortMessage: CODE, registeredDelivery: 1 }), sequence: 1 };
const mo: MessagePdu = { ...deliverSm({ ...parties, shortMessage: MO }), sequence: 1 };
const receipt: MessagePdu = {
  ...deliverSm({ ...parties, esmClass: 4, shortMessage: RECEIPT }, [
    textTlv('receipted_message_id', '0123456789'),
    octetsTlv('network_error_code', Buffer.from([3, 0, 0])),
  ]),
  sequence: 1,
};

/** Runs per second, in chunks, so that reading the clock costs nothing. */
function timesPerSecond(seconds: number, work: () => unknown): number {
  const startedMs = performance.now();
  let [done, kept, elapsedMs] = [0, 0, 0];
  while (elapsedMs < seconds * 1_000) {
    for (let at = 0; at < CHUNK; at += 1) if (work() !== null) kept += 1;
    done += CHUNK;
    elapsedMs = performance.now() - startedMs;
  }
  if (kept !== done) throw new Error('a codec answered nothing');
  return Math.round((done / elapsedMs) * 1_000);
}

function compare(what: string, seconds: number, ours: () => unknown, npm: () => unknown): CodecFigure {
  for (const warmUp of [ours, npm]) timesPerSecond(seconds / 2, warmUp);
  return { what, oursPerSecond: timesPerSecond(seconds, ours), npmPerSecond: timesPerSecond(seconds, npm) };
}

function run({ seconds }: CodecTask): CodecFigure[] {
  const decoding = (what: string, pdu: MessagePdu): CodecFigure => {
    const octets = encodePdu(pdu);
    return compare(
      what,
      seconds,
      () => decodePdu(octets),
      () => new smpp.PDU(octets),
    );
  };
  const npmSubmit = { ...npmParties, short_message: CODE, registered_delivery: 1, data_coding: 0 };
  return [
    compare(
      'encode submit_sm',
      seconds,
      () => encodePdu(submit),
      () => new smpp.PDU('submit_sm', { ...npmSubmit }).toBuffer(),
    ),
    decoding('decode submit_sm', submit),
    decoding('decode deliver_sm (MO)', mo),
    decoding('decode deliver_sm (receipt, TLVs)', receipt),
  ];
}

process.once('message', (task: CodecTask) => {
  process.send?.(run(task), () => process.disconnect());
});
