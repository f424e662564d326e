import { describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import { maySend, requestKind, stateAfter, statusOnRequest } from './link-state.js';
import type { LinkEvent, LinkRole, LinkState, RequestKind } from './link-state.js';

const STATES: readonly LinkState[] = ['open', 'binding', 'bound_tx', 'bound_rx', 'bound_trx', 'unbinding', 'closed'];
const REQUESTS: readonly RequestKind[] = [
  'bind',
  'outbind',
  'unbind',
  'enquire_link',
  'submit_sm',
  'deliver_sm',
  'data_sm',
  'ancillary',
  'alert_notification',
  'other',
];
const EVENTS: readonly LinkEvent[] = [
  'bind',
  'bound_transmitter',
  'bound_receiver',
  'bound_transceiver',
  'refused',
  'unbind',
  'close',
];
const table = (role: LinkRole): string[] =>
  STATES.map((state) => {
    const cells = REQUESTS.map((request) => statusOnRequest(role, state, request).toString(16).padStart(2, '0'));
    return `${state.padEnd(9)} ${cells.join(' ')}`;
  });

describe('the answer to each request (00 accepts)', () => {
  it('as an SMSC', () => {
    expect(table('smsc')).toEqual([
      //         bi ou un en su de da an al ot
      'open      00 04 04 00 04 04 04 04 04 04',
      'binding   05 04 00 00 04 04 04 04 04 04',
      'bound_tx  05 04 00 00 00 00 00 00 03 03',
      'bound_rx  05 04 00 00 04 04 04 04 03 03',
      'bound_trx 05 04 00 00 00 00 00 00 03 03',
      'unbinding 04 04 00 00 04 04 04 04 04 04',
      'closed    04 04 04 04 04 04 04 04 04 04',
    ]);
  });

  it('as an ESME', () => {
    expect(table('esme')).toEqual([
      //         bi ou un en su de da an al ot
      'open      04 00 04 00 04 04 04 04 04 04',
      'binding   04 04 00 00 04 04 04 04 04 04',
      'bound_tx  04 04 00 00 04 04 04 04 04 03',
      'bound_rx  04 04 00 00 04 00 00 04 00 03',
      'bound_trx 04 04 00 00 04 00 00 04 00 03',
      'unbinding 04 04 00 00 04 04 04 04 04 04',
      'closed    04 04 04 04 04 04 04 04 04 04',
    ]);
  });

  it('sends only requests that the other role accepts', () => {
    expect(STATES.filter((state) => maySend('esme', state, 'submit_sm'))).toEqual(['bound_tx', 'bound_trx']);
    expect(STATES.filter((state) => maySend('smsc', state, 'deliver_sm'))).toEqual(['bound_rx', 'bound_trx']);
    expect(STATES.filter((state) => maySend('smsc', state, 'submit_sm'))).toEqual([]);
  });

  it('maps commands of the dictionary to kinds', () => {
    const commands = ['bind_receiver', 'bind_transceiver', 'outbind', 'data_sm', 'submit_multi', 'alert_notification'];
    expect(commands.map(requestKind)).toEqual(['bind', 'bind', 'outbind', 'data_sm', 'other', 'alert_notification']);
    expect(['query_sm', 'cancel_sm', 'replace_sm'].map(requestKind)).toEqual(['ancillary', 'ancillary', 'ancillary']);
  });
});

describe('states and events', () => {
  it('change as in the table, and not otherwise', () => {
    const moves = STATES.map(
      (state) => `${state}: ${EVENTS.map((event) => stateAfter(state, event) ?? '-').join(' ')}`,
    );
    expect(moves).toEqual([
      'open: binding - - - - - closed',
      'binding: - bound_tx bound_rx bound_trx closed unbinding closed',
      'bound_tx: - - - - - unbinding closed',
      'bound_rx: - - - - - unbinding closed',
      'bound_trx: - - - - - unbinding closed',
      'unbinding: - - - - - - closed',
      'closed: - - - - - - -',
    ]);
  });

  it('use the statuses of SMPP 3.4', () => {
    expect([STATUS.ESME_RINVCMDID, STATUS.ESME_RINVBNDSTS, STATUS.ESME_RALYBND]).toEqual([3, 4, 5]);
  });
});
