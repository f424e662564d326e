import { LinkClosedError, NotSentError, ResponseTimeoutError } from '@countersign/smpp/link';
import { STATUS, type ResponsePdu } from '@countersign/smpp/pdu';
import { describe, expect, it } from 'vitest';
import { isThrottle } from '../links/throttle.js';
import { judgeAnswer, judgeFailure, judgeParts, type AnswerConventions } from './judge-answer.js';

const conventions: AnswerConventions = { temporaryStatuses: [0x08, 0x14, 0x58], messageIdBase: 'as-is' };

const answered = (status: number, messageId = ''): ResponsePdu => ({
  command: 'submit_sm_resp',
  status,
  sequence: 1,
  fields: { messageId },
  tlvs: [],
});
const nack = (status: number): ResponsePdu => ({ command: 'generic_nack', status, sequence: 1, fields: {}, tlvs: [] });

describe('the response to a submit', () => {
  it('with ESME_ROK has the message id of the carrier, or none', () => {
    expect(judgeAnswer(answered(0, '7f'), conventions)).toEqual({
      kind: 'submitted',
      smscMessageId: '7f',
      receiptId: '7f',
    });
    expect(judgeAnswer(answered(0), conventions)).toEqual({ kind: 'submitted', smscMessageId: null, receiptId: null });
  });

  it('with ESME_ROK gives the receipt id in the number base of the carrier', () => {
    const swapped = judgeAnswer(answered(0, '7F'), { ...conventions, messageIdBase: 'hex-to-dec' });
    expect(swapped).toEqual({ kind: 'submitted', smscMessageId: '7F', receiptId: '127' });
  });

  it('is busy for the temporary statuses of the carrier, and final for all others', () => {
    const changed = { ...conventions, temporaryStatuses: [0x45] };
    expect(judgeAnswer(answered(0x45), changed).kind).toBe('busy');
    expect(judgeAnswer(answered(0x45), conventions).kind).toBe('refused');
    expect(judgeAnswer(answered(0x58), changed).kind).toBe('refused');
  });

  it.each([
    [0x58, true],
    [0x14, true],
    [0x08, false],
    [0, false],
  ])('with status %i asks for a lower rate: %s', (status, slower) => {
    expect(isThrottle(answered(status))).toBe(slower);
    expect(isThrottle(nack(status))).toBe(slower);
  });

  it.each(['ESME_RSYSERR', 'ESME_RMSGQFUL', 'ESME_RTHROTTLED'] as const)('with %s is busy', (name) => {
    expect(judgeAnswer(answered(STATUS[name]), conventions)).toEqual({ kind: 'busy', error: name });
    expect(judgeAnswer(nack(STATUS[name]), conventions)).toEqual({ kind: 'busy', error: name });
  });

  it.each(['ESME_RINVDSTADR', 'ESME_RINVSRCADR', 'ESME_RSUBMITFAIL', 'ESME_RINVCMDID'] as const)(
    'with %s is final',
    (name) => {
      expect(judgeAnswer(answered(STATUS[name]), conventions)).toEqual({ kind: 'refused', error: name });
    },
  );

  it('with an unknown status is final, with the number as its name', () => {
    expect(judgeAnswer(answered(0x4ff), conventions)).toEqual({ kind: 'refused', error: '0x000004ff' });
  });

  it('with ESME_ROK in another PDU leaves the fate unknown', () => {
    expect(judgeAnswer(nack(0), conventions).kind).toBe('unknown');
  });
});

describe('a submit without a response', () => {
  it('is busy when it was not sent', () => {
    expect(judgeFailure(new NotSentError('the link is unbinding'))).toEqual({ kind: 'busy', error: 'NOT_SENT' });
  });

  it.each([new LinkClosedError('reset'), new ResponseTimeoutError('submit_sm', 1), new Error('another error')])(
    'has an unknown fate: %s',
    (error) => {
      expect(judgeFailure(error)).toEqual({ kind: 'unknown', error: 'NO_ANSWER' });
    },
  );
});

describe('the parts of a message', () => {
  const submitted = { kind: 'submitted', smscMessageId: '1', receiptId: '1' } as const;
  const last = { ...submitted, smscMessageId: '2', receiptId: '2' };
  const busy = { kind: 'busy', error: 'ESME_RMSGQFUL' } as const;
  const refused = { kind: 'refused', error: 'ESME_RINVDSTADR' } as const;
  const unknown = { kind: 'unknown', error: 'NO_ANSWER' } as const;

  it.each([
    ['all submitted: the last', [submitted, last], last],
    ['all busy: busy', [busy, busy], busy],
    ['one refused: refused', [submitted, busy, refused, unknown], refused],
    ['one without a response: unknown', [submitted, unknown], unknown],
    [
      'one busy and others accepted: unknown, so that those are not sent again and again',
      [submitted, busy],
      { ...unknown, error: busy.error },
    ],
  ])('%s', (_what, parts, outcome) => expect(judgeParts(parts)).toEqual(outcome));
});
