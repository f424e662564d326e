import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bind, enquireLink, ID, message, pdu, RESP, tlv } from '../codec/octets.fixture.js';
import { pcapOf, type CapturedPdu, type Conversation } from './pcap.js';
import { redactOctets } from './redact-octets.js';

const START_MS = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const CARRIER_PORT = 12_775;
const ends = { local: { address: '192.0.2.1', port: 40_000 }, remote: { address: '198.51.100.7', port: CARRIER_PORT } };

const captured = (direction: 'in' | 'out', octets: Buffer, afterMs: number): CapturedPdu => ({
  atMs: START_MS + afterMs,
  direction,
  octets,
});
const LONG = tlv(0x0424, Buffer.alloc(60_000, 'x'));
const PDUS: readonly CapturedPdu[] = [
  captured('out', bind(), 0),
  captured('in', pdu(ID.bind_transceiver + RESP, 1, [Buffer.from('SMSC\0')]), 1.5),
  captured('out', message({}, [], ID.submit_sm, 2), 2),
  captured('in', pdu(ID.submit_sm + RESP, 2, [Buffer.from('4711\0')]), 3),
  captured('in', message({}, [], ID.deliver_sm, 3), 4),
  captured('out', pdu(ID.deliver_sm + RESP, 3, [Buffer.from('\0')]), 5),
  captured('in', message({ text: Buffer.from([0]) }, [LONG], ID.deliver_sm, 4), 6),
  captured('out', enquireLink(5), 7),
];

const TSHARK = spawnSync('tshark', ['--version']).status === 0;

/** tshark's output for a file: one line per packet, fields separated by tabs. */
function dissect(file: Buffer, filter: string, fields: readonly string[]): string[][] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-pcap-'));
  try {
    const name = path.join(folder, 'trace.pcap');
    writeFileSync(name, file);
    const fieldArguments = fields.flatMap((field) => ['-e', field]);
    const decodeAs = [
      '-d',
      `tcp.port==${CARRIER_PORT},smpp`,
      '-o',
      'tcp.check_checksum:TRUE',
      '-o',
      'ip.check_checksum:TRUE',
    ];
    const { stdout, stderr, status } = spawnSync(
      'tshark',
      ['-r', name, '-n', ...decodeAs, '-Y', filter, '-T', 'fields', '-E', 'occurrence=a', ...fieldArguments],
      { encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(stderr);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('a capture file', () => {
  it('is pcap 2.4 with raw IP, and only a file header when no PDU was captured', () => {
    expect(pcapOf([]).toString('hex')).toBe('a1b2c3d400020004000000000000000000' + '00ffff00000065');
  });

  it('holds each PDU unchanged, with its time and endpoints', () => {
    const file = pcapOf([{ ...ends, pdus: PDUS.slice(0, 1) }]);
    const record = file.subarray(24);
    expect([record.readUInt32BE(0), record.readUInt32BE(4)]).toEqual([Math.floor(START_MS / 1_000), 250_000]);
    const packet = record.subarray(16);
    expect(packet.length).toBe(record.readUInt32BE(8));
    expect([...packet.subarray(12, 20)]).toEqual([192, 0, 2, 1, 198, 51, 100, 7]);
    expect([packet.readUInt16BE(20), packet.readUInt16BE(22)]).toEqual([40_000, CARRIER_PORT]);
    expect(packet.subarray(40)).toEqual(bind());
  });

  describe.skipIf(!TSHARK)('is decoded by tshark (skipped when tshark is missing)', () => {
    const addresses: readonly (readonly [string, string])[] = [
      ['192.0.2.1', '198.51.100.7'],
      ['2001:db8::1', '2001:db8:0:7::192.0.2.7'],
      ['::ffff:192.0.2.1', 'not an address'],
    ];

    it.each(addresses)('every PDU, none malformed, from %s to %s', (local, remote) => {
      const conversation: Conversation = {
        local: { ...ends.local, address: local },
        remote: { ...ends.remote, address: remote },
        pdus: PDUS,
      };
      const file = pcapOf([conversation]);
      const fields = ['frame.time_epoch', 'smpp.command_id', 'smpp.sequence_number'];
      const seen = dissect(file, 'smpp', fields).map(([, command, sequence]) => [Number(command), Number(sequence)]);
      expect(seen).toEqual(PDUS.map(({ octets }) => [octets.readUInt32BE(4), octets.readUInt32BE(12)]));
      expect(dissect(file, '_ws.malformed || tcp.analysis.flags', ['frame.number'])).toEqual([]);
      expect(dissect(file, 'tcp.checksum.status == 0 || ip.checksum.status == 0', ['frame.number'])).toEqual([]);
    });

    it('the same after redaction', () => {
      const pdus = PDUS.map((each) => ({ ...each, octets: Buffer.from(each.octets) }));
      for (const { octets } of pdus) redactOctets(octets, false);
      const file = pcapOf([{ ...ends, pdus }]);
      expect(dissect(file, 'smpp', ['smpp.command_id'])).toHaveLength(pdus.length);
      expect(dissect(file, '_ws.malformed', ['frame.number'])).toEqual([]);
    });

    it('several connections, ordered by time', () => {
      const other = { ...ends, local: { ...ends.local, port: 40_001 } };
      const file = pcapOf([
        { ...ends, pdus: PDUS },
        { ...other, pdus: PDUS.map((each) => ({ ...each, atMs: each.atMs + 0.25 })) },
      ]);
      const times = dissect(file, 'smpp', ['frame.time_epoch']).map(([time]) => Number(time));
      expect(times).toHaveLength(2 * PDUS.length);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(dissect(file, '_ws.malformed || tcp.analysis.flags', ['frame.number'])).toEqual([]);
    });
  });
});
