import { createHash } from 'node:crypto';

const PIECE_CHARACTERS = 6;
const PEM_LINE = /.{1,64}/g;

const base64 = (octets: Buffer): string => octets.toString('base64');
const pemOf = (octets: Buffer, lineBreak: string): string =>
  ['-----BEGIN PRIVATE KEY-----', ...(base64(octets).match(PEM_LINE) ?? []), '-----END PRIVATE KEY-----', ''].join(
    lineBreak,
  );
const jsonOf = (octets: Buffer, space: string): string =>
  JSON.stringify({ kind: 'account', key: pemOf(octets, '\n') }, undefined, space);

/** Up to 64 octets as random as those of a key: fast-check's own arrays are often all zeros. */
export function randomOctets(seed: number, length: number): Buffer {
  return createHash('sha512').update(String(seed)).digest().subarray(0, length);
}

/** Forms in which secrets are written, each as a function of random octets. */
export const FORMS_OF_SECRETS: readonly ((octets: Buffer) => string)[] = [
  base64,
  // One key in 64 begins with a slash, and looks like an absolute path.
  (octets) => `/${base64(octets).slice(1)}`,
  (octets) => `/${base64(octets).slice(1).replace(/=+$/, '')}`,
  (octets) => `1:${base64(octets)}`,
  (octets) => `2:${base64(octets)},1:${base64(octets)}`,
  (octets) => `postgres://u:${octets.toString('hex')}@db/x`,
  (octets) => `redis://:${octets.toString('base64url')}@db`,
  (octets) => `//u:${octets.toString('hex')}@db`,
  (octets) => pemOf(octets, '\n'),
  (octets) => pemOf(octets, '\r\n'),
  (octets) => pemOf(octets, ' '),
  (octets) => pemOf(octets, ''),
  (octets) => jsonOf(octets, ''),
  (octets) => jsonOf(octets, '\n'),
  (octets) => `/run/x\n${base64(octets)}`,
];

/** All substrings of 6 characters. */
export function piecesOf(text: string): readonly string[] {
  const starts = Array.from({ length: Math.max(0, text.length - PIECE_CHARACTERS + 1) }, (_, index) => index);
  return starts.map((start) => text.slice(start, start + PIECE_CHARACTERS));
}
