import type { Random } from '../support/random.js';

type Change = (octets: Buffer, random: Random, others: readonly Buffer[]) => Buffer;

const HEADER_OCTETS = 16;
const EDGES = [0, 1, 15, 16, 17, 0x7f, 0x80, 0xfe, 0xff, 0x100, 0xffff, 0x7fff_ffff, 0xffff_ffff] as const;
const COMMANDS = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xb, 0x15, 0x21, 0x102, 0x103, 0x777, 0x8000_0000, 0x8000_0001, 0x8000_0004,
  0x8000_0005, 0x8000_0006, 0x8000_0009, 0x8000_0015, 0x8000_0103,
] as const;
/** Texts, terminated strings and TLVs with a meaning for one of the decoders. */
const WORDS = [
  Buffer.from([0]),
  Buffer.from('id:00aF stat:DELIVRD err:000 text:'),
  Buffer.from([5, 0, 3, 7, 2, 1]),
  Buffer.from([0x04, 0x24, 0x00, 0x03, 0x41, 0x42, 0x43]),
  Buffer.from([0x00, 0x1e, 0x00, 0x03, 0x61, 0x62, 0x63]),
  Buffer.from([0x04, 0x27, 0x00, 0x01, 0x02]),
  Buffer.from([0x02, 0x0c, 0x00, 0x02, 0x00, 0x09]),
  Buffer.from([0x14, 0x00, 0x00, 0x00]),
  Buffer.from([0x13, 0x0c, 0x00, 0x00]),
  Buffer.from([0x00, 0x10, 0x00, 0x01, 0x01]),
  Buffer.from([0x06, 0x13, 0x00, 0x03, 0x30, 0x34, 0x39]),
  Buffer.from('5R\0'),
  Buffer.from('000000000130000R\0'),
  Buffer.from([0xd8, 0x3d, 0xde, 0x00]),
] as const;

const place = (octets: Buffer, random: Random): number => random.below(octets.length + 1);
const cut = (octets: Buffer, from: number, to: number, between: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([octets.subarray(0, from), between, octets.subarray(to)]);

const setOctet: Change = (octets, random) => {
  const copy = Buffer.from(octets);
  copy[random.below(copy.length)] = random.below(256);
  return copy;
};
const flipBit: Change = (octets, random) => {
  const copy = Buffer.from(octets);
  const at = random.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
  return copy;
};
const setEdge: Change = (octets, random) => {
  const copy = Buffer.from(octets);
  const width = random.pick([1, 2, 4]);
  if (copy.length < width) return copy;
  copy.writeUIntBE(random.pick(EDGES) % 2 ** (8 * width), random.below(copy.length - width + 1), width);
  return copy;
};
const setCommand: Change = (octets, random) => {
  const copy = Buffer.from(octets);
  if (copy.length >= 8) copy.writeUInt32BE(random.pick(COMMANDS), 4);
  return copy;
};
const insert: Change = (octets, random) => {
  const at = place(octets, random);
  return cut(octets, at, at, random.pick(WORDS));
};
const fill: Change = (octets, random) => {
  const at = place(octets, random);
  return cut(octets, at, at, Buffer.alloc(1 + random.below(300), random.below(256)));
};
const remove: Change = (octets, random) => {
  const at = place(octets, random);
  return cut(octets, at, Math.min(octets.length, at + 1 + random.below(8)));
};
const truncate: Change = (octets, random) => Buffer.from(octets.subarray(0, place(octets, random)));
const repeat: Change = (octets, random) => {
  const from = place(octets, random);
  const slice = octets.subarray(from, from + random.below(40));
  return cut(octets, from, from, slice);
};
const splice: Change = (octets, random, others) => {
  const other = random.pick(others);
  return cut(octets, place(octets, random), octets.length, other.subarray(place(other, random)));
};

const CHANGES: readonly Change[] = [
  setOctet,
  flipBit,
  setEdge,
  setCommand,
  insert,
  fill,
  remove,
  truncate,
  repeat,
  splice,
];
const MOST_CHANGES = 4;

/** One of the PDUs with up to four changes; command_length may become wrong. */
export function mutant(pdus: readonly Buffer[], random: Random): Buffer {
  let octets: Buffer = Buffer.from(random.pick(pdus));
  for (let changes = random.below(MOST_CHANGES + 1); changes > 0; changes--) {
    octets = random.pick(CHANGES)(octets, random, pdus);
    if (octets.length === 0) return Buffer.alloc(1, random.below(256));
  }
  return octets;
}

/** A mutant with a correct command_length: it reaches the decoder, and the following PDU is read as well. */
export function framedMutant(pdus: readonly Buffer[], random: Random): Buffer {
  const octets = mutant(pdus, random);
  const framed =
    octets.length >= HEADER_OCTETS ? octets : Buffer.concat([octets, Buffer.alloc(HEADER_OCTETS - octets.length)]);
  framed.writeUInt32BE(framed.length, 0);
  return framed;
}
