import { encodePdu } from '@countersign/smpp/codec';
import { deliverSm, submitSm } from '@countersign/smpp/pdu';
import { describe, expect, it } from 'vitest';
import { FlightRecorder, type TappedLink } from './flight-recorder.js';
import { tracedPdu, traceAnswer, traceCapture } from './trace.js';

const BIND = '01890000-0000-7000-8000-000000000001';
const TEXT = '123456 is your Acme code';
const STATUS_BY_TERMINAL_EVENT = {
  local: { address: '192.0.2.1', port: 40_000 },
  remote: { address: '2001:db8::7', port: 2_775 },
};
const submit = (sequence: number, text = TEXT): Buffer =>
  encodePdu({ ...submitSm({ shortMessage: Buffer.from(text) }), sequence });

interface Recording {
  readonly recorder: FlightRecorder;
  readonly link: (slot: number, bindId?: string) => TappedLink;
  readonly now: { ms: number; fullUntil: Date | null };
}

function recording(): Recording {
  const now: Recording['now'] = { ms: 1_000, fullUntil: null };
  const link = (slot: number, bindId = BIND): TappedLink => ({
    bindId,
    slot,
    ends: { ...STATUS_BY_TERMINAL_EVENT },
    fullUntil: () => now.fullUntil,
  });
  return { recorder: new FlightRecorder({ nowMs: () => now.ms }), link, now };
}

describe('the flight recorder', () => {
  it('separates connections and binds', () => {
    const { recorder, link } = recording();
    recorder.tap(link(1))('out', submit(1));
    recorder.tap(link(0))('in', submit(2));
    recorder.tap(link(0, 'another bind'))('in', submit(3));
    expect(
      recorder.recordedConnections(BIND).map(({ slot, pdus }) => [slot, pdus.map(({ direction }) => direction)]),
    ).toEqual([
      [0, ['in']],
      [1, ['out']],
    ]);
    expect(recorder.recordedConnections('an unknown bind')).toEqual([]);
  });

  it('continues the record of the previous link', () => {
    const { recorder, link } = recording();
    for (const sequence of [1, 2]) recorder.tap(link(0))('out', submit(sequence));
    const [connection] = recorder.recordedConnections(BIND);
    expect(connection?.pdus.map(({ octets }) => octets.readUInt32BE(12))).toEqual([1, 2]);
  });

  it('records texts only while full traces are enabled, and redacts them afterwards', () => {
    const { recorder, link, now } = recording();
    const tap = recorder.tap(link(0));
    const shown = (): string[] =>
      recorder.recordedConnections(BIND).flatMap(({ pdus }) => pdus.map(({ octets }) => octets.toString('latin1', 32)));
    tap('out', submit(1));
    now.fullUntil = new Date(2_000);
    tap('out', submit(2));
    expect(shown().map((text) => text.includes(TEXT))).toEqual([false, true]);
    now.ms = 2_000;
    expect(shown().map((text) => text.includes(TEXT))).toEqual([false, false]);
    tap('out', submit(3));
    expect(shown().map((text) => text.includes(TEXT))).toEqual([false, false, false]);
  });

  it('never records the text of a confidential PDU, and keeps those of others', () => {
    const { recorder, link, now } = recording();
    const tap = recorder.tap(link(0));
    now.fullUntil = new Date(2_000);
    tap('out', submit(1));
    tap('out', submit(2), true);
    const [connection] = recorder.recordedConnections(BIND);
    expect(connection?.pdus.map(({ octets }) => octets.includes(TEXT))).toEqual([true, false]);
  });

  it('keeps a limited number of connections, the latest', () => {
    const { recorder, link } = recording();
    for (let n = 0; n < 300; n++) recorder.tap(link(0, `bind ${n}`))('out', submit(n));
    expect(recorder.recordedConnections('bind 0')).toEqual([]);
    expect(recorder.recordedConnections('bind 299')).toHaveLength(1);
  });
});

describe('a trace', () => {
  const said = (octets: Buffer) => ({
    atMs: Date.UTC(2026, 0, 1),
    direction: 'in' as const,
    octets,
    ends: STATUS_BY_TERMINAL_EVENT,
  });

  it('shows the fields of a PDU and all its octets', () => {
    const octets = encodePdu({ ...deliverSm({ dataCoding: 8, shortMessage: Buffer.from('**') }), sequence: 7 });
    expect(tracedPdu(said(octets))).toMatchObject({
      at: '2026-01-01T00:00:00.000Z',
      direction: 'in',
      local: '192.0.2.1:40000',
      remote: '[2001:db8::7]:2775',
      command: 'deliver_sm',
      status: 'ESME_ROK',
      sequence: 7,
      fields: { dataCoding: 8, shortMessage: '[2 octets]' },
      tlvs: {},
      fault: null,
      octets: octets.toString('hex'),
    });
  });

  it('shows the fault of a malformed PDU', () => {
    const cut = submit(7).subarray(0, 20);
    expect(tracedPdu(said(cut))).toMatchObject({ command: 'submit_sm', sequence: 7, fields: {} });
    expect(tracedPdu(said(cut)).fault).toContain('ends');
    const unknown = Buffer.concat([Buffer.alloc(6), Buffer.from([0x77, 0x77]), Buffer.alloc(8)]);
    expect(tracedPdu(said(unknown))).toMatchObject({ command: null, fault: 'command not supported' });
  });

  it('is limited to the newest PDUs when too large, each connection to its share', () => {
    const pdus = Array.from({ length: 100 }, (_, n) => said(submit(n)));
    const recorded = [0, 1].map((slot) => ({ slot, pdus }));
    const { connections } = traceAnswer(recorded, 20_000);
    expect(JSON.stringify({ connections }).length).toBeLessThan(20_500);
    for (const { pdus: kept } of connections) {
      expect(kept.length).toBeGreaterThan(5);
      expect(kept.at(-1)?.sequence).toBe(99);
    }
    expect(traceCapture(recorded, 20_000).length).toBeLessThan(20_100);
    expect(traceAnswer(recorded, 1_000_000).connections.map((each) => each.pdus.length)).toEqual([100, 100]);
  });
});
