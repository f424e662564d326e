import { STATUS } from '../pdu/dictionary.js';

export type LinkRole = 'esme' | 'smsc';
export type BindType = 'transmitter' | 'receiver' | 'transceiver';
/**
 * `binding`: a bind was sent, or was received and is being authenticated. `closed` is final: no state survives a
 * connection.
 */
export type LinkState = 'open' | 'binding' | 'bound_tx' | 'bound_rx' | 'bound_trx' | 'unbinding' | 'closed';

/**
 * Kinds of requests in the state table; `ancillary` is query_sm, cancel_sm or replace_sm, `other` a command of the
 * dictionary that this engine does not implement.
 */
export type RequestKind =
  | 'bind'
  | 'outbind'
  | 'unbind'
  | 'enquire_link'
  | 'submit_sm'
  | 'deliver_sm'
  | 'data_sm'
  | 'ancillary'
  | 'alert_notification'
  | 'other';

const OK = STATUS.ESME_ROK;
const STS = STATUS.ESME_RINVBNDSTS;
const BND = STATUS.ESME_RALYBND;
const CMD = STATUS.ESME_RINVCMDID;

type Row = Readonly<Record<RequestKind, number>>;
function row(
  bind: number,
  outbind: number,
  unbind: number,
  enquire: number,
  submit: number,
  deliver: number,
  data: number,
  ancillary: number,
  alert: number,
  other: number,
): Row {
  return {
    bind,
    outbind,
    unbind,
    enquire_link: enquire,
    submit_sm: submit,
    deliver_sm: deliver,
    data_sm: data,
    ancillary,
    alert_notification: alert,
    other,
  };
}

/**
 * The status with which a link in each role answers each request in each state: 0 processes it, any other refuses it
 * (SMPP 3.4 table 2-1). An SMSC link also accepts deliver_sm from an ESME: aggregators that connect in send it.
 */
const RECEIVED: Readonly<Record<LinkRole, Readonly<Record<LinkState, Row>>>> = {
  smsc: {
    //          bind outbind unbind enquire submit deliver data ancillary alert other
    open: row(OK, STS, STS, OK, STS, STS, STS, STS, STS, STS),
    binding: row(BND, STS, OK, OK, STS, STS, STS, STS, STS, STS),
    bound_tx: row(BND, STS, OK, OK, OK, OK, OK, OK, CMD, CMD),
    bound_rx: row(BND, STS, OK, OK, STS, STS, STS, STS, CMD, CMD),
    bound_trx: row(BND, STS, OK, OK, OK, OK, OK, OK, CMD, CMD),
    unbinding: row(STS, STS, OK, OK, STS, STS, STS, STS, STS, STS),
    closed: row(STS, STS, STS, STS, STS, STS, STS, STS, STS, STS),
  },
  esme: {
    open: row(STS, OK, STS, OK, STS, STS, STS, STS, STS, STS),
    binding: row(STS, STS, OK, OK, STS, STS, STS, STS, STS, STS),
    bound_tx: row(STS, STS, OK, OK, STS, STS, STS, STS, STS, CMD),
    bound_rx: row(STS, STS, OK, OK, STS, OK, OK, STS, OK, CMD),
    bound_trx: row(STS, STS, OK, OK, STS, OK, OK, STS, OK, CMD),
    unbinding: row(STS, STS, OK, OK, STS, STS, STS, STS, STS, STS),
    closed: row(STS, STS, STS, STS, STS, STS, STS, STS, STS, STS),
  },
};

const PEER_OF: Readonly<Record<LinkRole, LinkRole>> = { esme: 'smsc', smsc: 'esme' };

/** 0 when a request of the peer is allowed, else the status that refuses it. */
export function statusOnRequest(role: LinkRole, state: LinkState, request: RequestKind): number {
  return RECEIVED[role][state][request];
}

/** Whether a peer in the same state would accept the request: the table read for the other role. */
export function maySend(role: LinkRole, state: LinkState, request: RequestKind): boolean {
  return RECEIVED[PEER_OF[role]][state][request] === OK;
}

/** Maps a command of the dictionary to its kind. */
export function requestKind(command: string): RequestKind {
  switch (command) {
    case 'bind_receiver':
    case 'bind_transmitter':
    case 'bind_transceiver':
      return 'bind';
    case 'outbind':
    case 'unbind':
    case 'enquire_link':
    case 'submit_sm':
    case 'deliver_sm':
    case 'data_sm':
    case 'alert_notification':
      return command;
    case 'query_sm':
    case 'cancel_sm':
    case 'replace_sm':
      return 'ancillary';
    default:
      return 'other';
  }
}

export type LinkEvent =
  'bind' | 'bound_transmitter' | 'bound_receiver' | 'bound_transceiver' | 'refused' | 'unbind' | 'close';

type Moves = Readonly<Partial<Record<LinkEvent, LinkState>>>;
const BOUND: Moves = { unbind: 'unbinding', close: 'closed' };
const MOVES: Readonly<Record<LinkState, Moves>> = {
  open: { bind: 'binding', close: 'closed' },
  binding: {
    bound_transmitter: 'bound_tx',
    bound_receiver: 'bound_rx',
    bound_transceiver: 'bound_trx',
    refused: 'closed',
    unbind: 'unbinding',
    close: 'closed',
  },
  bound_tx: BOUND,
  bound_rx: BOUND,
  bound_trx: BOUND,
  unbinding: { close: 'closed' },
  closed: {},
};

/** The state after an event; null when the event is not valid in that state. */
export function stateAfter(state: LinkState, event: LinkEvent): LinkState | null {
  return MOVES[state][event] ?? null;
}

export const isBound = (state: LinkState): boolean => BOUND === MOVES[state];
