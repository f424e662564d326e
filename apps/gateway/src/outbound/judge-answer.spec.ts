import { LinkClosedError, NotSentError, ResponseTimeoutError } from '@countersign/smpp/link';
import { STATUS, type ResponsePdu } from '@countersign/smpp/pdu';
import { describe, expect, it } from 'vitest';
import { isThrottle } from '../metrics/throttle.js';
import { judgeAnswer, judgeFailure, type AnswerConventions } from './judge-answer.js';

const manners: AnswerConventions = { temporaryStatuses: [0x08, 0x14, 0x58], messageIdBase: 'as-is' };

const answered = (status: number, messageId = ''): ResponsePdu => ({
  command: 'submit_sm_resp',
  status,
  sequence: 1,
  fields: { messageId },
  tlvs: [],
});
const nack = (status: number): ResponsePdu => ({ command: 'generic_nack', status, sequence: 1, fields: {}, tlvs: [] });

describe('the answer to a submit', () => {
  it('of OK has the id of the carrier, or none', () => {
    expect(judgeAnswer(answered(0, '7f'), manners)).toEqual({
      kind: 'submitted',
      smscMessageId: '7f',
      receiptId: '7f',
    });
    expect(judgeAnswer(answered(0), manners)).toEqual({ kind: 'submitted', smscMessageId: null, receiptId: null });
  });

  it('of OK says how the receipt will spell the id, by the manners of its carrier', () => {
    const swapped = judgeAnswer(answered(0, '7F'), { ...manners, messageIdBase: 'hex-to-dec' });
    expect(swapped).toEqual({ kind: 'submitted', smscMessageId: '7F', receiptId: '127' });
  });

  it('asks for time where its carrier is known to mean that, and is final elsewhere', () => {
    const patient = { ...manners, temporaryStatuses: [0x45] };
    expect(judgeAnswer(answered(0x45), patient).kind).toBe('busy');
    expect(judgeAnswer(answered(0x45), manners).kind).toBe('refused');
    expect(judgeAnswer(answered(0x58), patient).kind).toBe('refused');
  });

  it.each([
    [0x58, true],
    [0x14, true],
    [0x08, false],
    [0, false],
  ])('of %i asks to be sent to more slowly: %s', (status, slower) => {
    expect(isThrottle(answered(status))).toBe(slower);
    expect(isThrottle(nack(status))).toBe(slower);
  });

  it.each(['ESME_RSYSERR', 'ESME_RMSGQFUL', 'ESME_RTHROTTLED'] as const)('of %s asks for time', (name) => {
    expect(judgeAnswer(answered(STATUS[name]), manners)).toEqual({ kind: 'busy', error: name });
    expect(judgeAnswer(nack(STATUS[name]), manners)).toEqual({ kind: 'busy', error: name });
  });

  it.each(['ESME_RINVDSTADR', 'ESME_RINVSRCADR', 'ESME_RSUBMITFAIL', 'ESME_RINVCMDID'] as const)(
    'of %s is final',
    (name) => {
      expect(judgeAnswer(answered(STATUS[name]), manners)).toEqual({ kind: 'refused', error: name });
    },
  );

  it('of a status that nobody knows is final, and named by its number', () => {
    expect(judgeAnswer(answered(0x4ff), manners)).toEqual({ kind: 'refused', error: '0x000004ff' });
  });

  it('that says OK to something else leaves the fate unknown', () => {
    expect(judgeAnswer(nack(0), manners).kind).toBe('unknown');
  });
});

describe('a submit without an answer', () => {
  it('that was not sent may go another way', () => {
    expect(judgeFailure(new NotSentError('the link is unbinding'))).toEqual({ kind: 'busy', error: 'NOT_SENT' });
  });

  it.each([new LinkClosedError('reset'), new ResponseTimeoutError('submit_sm', 1), new Error('anything else')])(
    'is of unknown fate: %s',
    (error) => {
      expect(judgeFailure(error)).toEqual({ kind: 'unknown', error: 'NO_ANSWER' });
    },
  );
});
