import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceForRole } from './trace-roles.js';

const HEADER = '0000003d000000040000000000000002';
const PHONE = '14155552671';
const BODY = Buffer.from(`${PHONE}\0 012345 is your code.`).toString('hex');

const pdu = (fields: object) => ({
  at: '2026-01-31T12:00:00.000Z',
  direction: 'out' as const,
  local: '192.0.2.1:40000',
  remote: '198.51.100.7:2775',
  command: 'submit_sm',
  status: 'ESME_ROK',
  sequence: 2,
  fields,
  tlvs: { message_payload: '[21 octets]' },
  fault: null,
  octets: HEADER + BODY,
});
const traceOf = (fields: object) => ({
  bindId: 'bind_1',
  fullTraceUntil: null,
  connections: [{ gateway: 'gw_1', slot: 0, pdus: [pdu(fields)] }],
});
const FIELDS = {
  serviceType: 'OTP',
  sourceAddress: { ton: 5, npi: 0, value: 'ACME' },
  destinationAddress: { ton: 1, npi: 1, value: PHONE },
  shortMessage: '[21 octets]',
  dataCoding: 0,
};

describe('a trace', () => {
  it.each(['operator', 'owner'] as const)('is complete for %s', (role) => {
    expect(traceForRole(role, traceOf(FIELDS))).toEqual(traceOf(FIELDS));
  });

  it('has addresses but no recorded texts for support', () => {
    const [connection] = traceForRole('support', traceOf(FIELDS)).connections;
    expect(connection?.pdus).toEqual([{ ...pdu(FIELDS), octets: HEADER }]);
  });

  it('has neither for a viewer, and everything else', () => {
    const [connection] = traceForRole('viewer', traceOf(FIELDS)).connections;
    const sourceAddress = { ton: 5, npi: 0, value: '**ME' };
    const fields = { ...FIELDS, sourceAddress, destinationAddress: { ton: 1, npi: 1, value: '141******71' } };
    expect(connection?.pdus).toEqual([{ ...pdu(fields), octets: HEADER }]);
  });

  it('shows a viewer no phone, whatever the shape that a gateway sent', () => {
    const phone = fc.stringMatching(/^[1-9][0-9]{9,13}$/);
    const shape = phone.chain((number) =>
      fc.constantFrom<[string, object]>(
        [number, { destination: { ton: 1, npi: 1, value: number } }],
        [number, { destinations: [{ value: number }, { value: `+${number}` }] }],
        [number, { source: number }],
        [number, { note: `to +${number}` }],
        [number, { nested: { deep: [{ value: number }] } }],
      ),
    );
    fc.assert(
      fc.property(shape, ([number, fields]) => {
        expect(JSON.stringify(traceForRole('viewer', traceOf(fields)))).not.toContain(number);
      }),
    );
  });
});
