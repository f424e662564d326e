import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A PDU that another SMPP implementation wrote. */
export interface RealPdu {
  readonly writer: string;
  readonly octets: Buffer;
}

/** The recorded PDUs of `corpus.txt`. */
export const CORPUS: readonly RealPdu[] = readFileSync(path.join(import.meta.dirname, 'corpus.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [writer = '', hex = ''] = line.split(' ');
    return { writer, octets: Buffer.from(hex, 'hex') };
  });
