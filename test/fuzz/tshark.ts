import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { pcapOf, type Conversation } from '@countersign/smpp/capture';

const run = promisify(execFile);
const SMPP_PORT = 2775;
const MAX_OUTPUT_OCTETS = 256 * 1024 * 1024;

/** The result of Wireshark's dissector for one PDU: the values of each requested field, in the order of the PDU. */
export type Dissection = ReadonlyMap<string, readonly string[]>;

export const hasTshark = spawnSync('tshark', ['--version']).status === 0;

/** Every PDU is in a connection of its own: a malformed one does not affect the next. */
function conversationOf(octets: Buffer, at: number): Conversation {
  const remote = { address: `10.${(at >> 16) & 0xff}.${(at >> 8) & 0xff}.${at & 0xff}`, port: 40_000 };
  return {
    local: { address: '10.255.0.1', port: SMPP_PORT },
    remote,
    pdus: [{ atMs: 1_000_000 + at, direction: 'out', octets }],
  };
}

const SEPARATOR = '\t';
const AGGREGATOR = '\u001f';

/** Dissects all PDUs in one run. Each must have at most 32 KiB, because a larger one would take several frames. */
export async function dissect(pdus: readonly Buffer[], fields: readonly string[]): Promise<readonly Dissection[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-fuzz-'));
  try {
    const file = path.join(folder, 'mutants.pcap');
    writeFileSync(file, pcapOf(pdus.map(conversationOf)));
    const asked = fields.flatMap((field) => ['-e', field]);
    const form = ['-E', `separator=${SEPARATOR}`, '-E', `aggregator=${AGGREGATOR}`, '-E', 'occurrence=a'];
    // Other dissectors parse the text; they would report errors in a user data header that is random octets here.
    const only = ['-d', `tcp.port==${SMPP_PORT},smpp`, '--disable-protocol', 'gsm_sms_ud'];
    const options = ['-n', '-r', file, ...only, '-T', 'fields', ...form, ...asked];
    const { stdout } = await run('tshark', options, { maxBuffer: MAX_OUTPUT_OCTETS });
    return stdout
      .split('\n')
      .slice(0, pdus.length)
      .map((line) => {
        const values = line.split(SEPARATOR);
        return new Map(
          fields.map((field, at) => [field, (values[at] ?? '').split(AGGREGATOR).filter((value) => value !== '')]),
        );
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
