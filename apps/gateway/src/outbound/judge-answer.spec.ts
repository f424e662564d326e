import { LinkClosedError, NotSentError, ResponseTimeoutError, STATUS, type ResponsePdu } from '@countersign/smpp';
import { describe, expect, it } from 'vitest';
import { judgeAnswer, judgeFailure } from './judge-answer.js';

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
    expect(judgeAnswer(answered(0, '7f'))).toEqual({ kind: 'submitted', smscMessageId: '7f' });
    expect(judgeAnswer(answered(0))).toEqual({ kind: 'submitted', smscMessageId: null });
  });

  it.each(['ESME_RSYSERR', 'ESME_RMSGQFUL', 'ESME_RTHROTTLED'] as const)('of %s asks for time', (name) => {
    expect(judgeAnswer(answered(STATUS[name]))).toEqual({ kind: 'busy', error: name });
    expect(judgeAnswer(nack(STATUS[name]))).toEqual({ kind: 'busy', error: name });
  });

  it.each(['ESME_RINVDSTADR', 'ESME_RINVSRCADR', 'ESME_RSUBMITFAIL', 'ESME_RINVCMDID'] as const)(
    'of %s is final',
    (name) => {
      expect(judgeAnswer(answered(STATUS[name]))).toEqual({ kind: 'refused', error: name });
    },
  );

  it('of a status that nobody knows is final, and named by its number', () => {
    expect(judgeAnswer(answered(0x4ff))).toEqual({ kind: 'refused', error: '0x000004ff' });
  });

  it('that says OK to something else leaves the fate unknown', () => {
    expect(judgeAnswer(nack(0)).kind).toBe('unknown');
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
