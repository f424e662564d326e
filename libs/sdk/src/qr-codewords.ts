/*
 * The data of a QR code (ISO/IEC 18004:2015): one segment of octets, error correction level M, which survives 15 % of
 * damage. Our own and not a package's, so that a page can load these modules as they are.
 */

/** By version, from 1: octets of error correction in each block, and how many blocks there are (table 9, level M). */
const CORRECTION_OCTETS = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
];
const BLOCKS = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35,
  37, 38, 40, 43, 45, 47, 49,
];

/** How the octets of one version are cut into blocks. */
interface Layout {
  readonly version: number;
  /** Data and correction together. */
  readonly octets: number;
  readonly dataOctets: number;
  readonly blocks: number;
  readonly correctionOctets: number;
}

const LAYOUTS: readonly Layout[] = BLOCKS.map((blocks, at) => {
  const octets = Math.floor(freeModules(at + 1) / 8);
  const correctionOctets = CORRECTION_OCTETS[at] ?? 0;
  return { version: at + 1, octets, dataOctets: octets - blocks * correctionOctets, blocks, correctionOctets };
});

/** What the code holds, in the order in which it is drawn, and how large the code must be. */
export interface QrData {
  readonly version: number;
  readonly octets: readonly number[];
}

/** @throws RangeError when no version holds the text */
export function qrData(text: string): QrData {
  const content = [...new TextEncoder().encode(text)];
  const layout = LAYOUTS.find(({ version, dataOctets }) => headerBits(version) + content.length * 8 <= dataOctets * 8);
  if (layout === undefined) throw new RangeError('The text is too long for a QR code.');
  return { version: layout.version, octets: interleave(layout, segmentOf(content, layout)) };
}

/** Modules that are neither pattern nor format nor version: what is left for data (table 1). */
function freeModules(version: number): number {
  const alignments = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const aligned = alignments === 0 ? 0 : (25 * alignments - 10) * alignments - 55;
  return (16 * version + 128) * version + 64 - aligned - (version >= 7 ? 36 : 0);
}

const OCTET_MODE = 0b0100;
const countBits = (version: number): number => (version < 10 ? 8 : 16);
const headerBits = (version: number): number => 4 + countBits(version);

/** Mode, length, content and the terminator, which together end on a whole octet; then the padding (7.4.10). */
function segmentOf(content: readonly number[], { version, dataOctets }: Layout): number[] {
  const header = [...bitsOf(OCTET_MODE, 4), ...bitsOf(content.length, countBits(version))];
  const bits = [...header, ...content.flatMap((octet) => bitsOf(octet, 8)), ...bitsOf(0, 4)];
  const octets = Array.from({ length: bits.length / 8 }, (_, at) => octetOf(bits.slice(at * 8, at * 8 + 8)));
  const padding = Array.from({ length: dataOctets - octets.length }, (_, at) => (at % 2 === 0 ? 0xec : 0x11));
  return [...octets, ...padding];
}

const octetOf = (bits: readonly number[]): number => bits.reduce((value, bit) => value * 2 + bit, 0);

function bitsOf(value: number, length: number): number[] {
  return Array.from({ length }, (_, at) => (value >>> (length - 1 - at)) & 1);
}

/** Blocks by turns, so that a stain takes a little of each (7.6). The last blocks are one octet longer where need be. */
function interleave({ octets, blocks, correctionOctets }: Layout, data: readonly number[]): number[] {
  const shortLength = Math.floor(octets / blocks) - correctionOctets;
  const shortBlocks = blocks - (octets % blocks);
  const parts = Array.from({ length: blocks }, (_, at) => {
    const start = at * shortLength + Math.max(0, at - shortBlocks);
    return data.slice(start, start + shortLength + (at < shortBlocks ? 0 : 1));
  });
  return [...byTurns(parts), ...byTurns(parts.map((part) => correctionOf(part, correctionOctets)))];
}

function byTurns(parts: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => parts.flatMap((part) => part.slice(at, at + 1))).flat();
}

/** The remainder of Reed and Solomon's division (7.5). */
function correctionOf(data: readonly number[], length: number): number[] {
  const divisor = divisorOf(length);
  let remainder = Array.from({ length }, () => 0);
  for (const octet of data) {
    const factor = octet ^ (remainder[0] ?? 0);
    remainder = divisor.map((coefficient, at) => (remainder[at + 1] ?? 0) ^ multiply(coefficient, factor));
  }
  return remainder;
}

/** (x - 2^0)(x - 2^1)…: coefficients from the highest power down, the leading 1 left out. */
function divisorOf(degree: number): number[] {
  let coefficients = [1];
  let root = 1;
  for (let at = 0; at < degree; at += 1) {
    const factor = root;
    coefficients = [...coefficients, 0].map(
      (coefficient, power) => coefficient ^ multiply(coefficients[power - 1] ?? 0, factor),
    );
    root = multiply(root, 2);
  }
  return coefficients.slice(1);
}

/** In the field of 256 elements modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    if (((right >>> bit) & 1) === 1) product ^= left;
  }
  return product;
}
