import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Coding } from './accept-encoding.js';

const GZIP_LEVEL = 9;
/** The greatest quality, 11, takes ten times as long for a few per cent. */
const BROTLI_QUALITY = 9;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/** The octets in a coding. Runs in a thread of its own. */
export function compressed(octets: Buffer, coding: Exclude<Coding, 'identity'>): Promise<Buffer> {
  if (coding === 'gzip') return toGzip(octets, { level: GZIP_LEVEL });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: octets.length,
  };
  return toBrotli(octets, { params });
}
