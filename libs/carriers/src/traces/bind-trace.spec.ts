import { ServerKeys } from '@countersign/keys';
import { describe, expect, it } from 'vitest';
import { newTraceNonce, TraceSeal, type TraceQuestion } from './bind-trace.js';

const GATEWAY = '018f0000-0000-7000-8000-000000000001';
const OTHER_GATEWAY = '018f0000-0000-7000-8000-000000000002';
const keys = ServerKeys.fromMaster(Buffer.alloc(32, 1));
const seal = new TraceSeal(keys, GATEWAY);
const question = (): TraceQuestion => ({ bindId: GATEWAY, format: 'json', nonce: newTraceNonce() });

describe('a sealed answer', () => {
  it('opens for its question', () => {
    const asked = question();
    expect(String(seal.openAnswer(seal.answer('recorded', asked), asked))).toBe('recorded');
  });

  it('does not open for another question, gateway or direction', () => {
    const asked = question();
    const answer = seal.answer('recorded', asked);
    expect(seal.openAnswer(answer, question())).toBeNull();
    expect(seal.openAnswer(answer, { nonce: null })).toBeNull();
    expect(new TraceSeal(keys, OTHER_GATEWAY).openAnswer(answer, asked)).toBeNull();
    expect(seal.openAnswer(seal.question(asked), asked)).toBeNull();
    expect(seal.openQuestion(answer)).toBeNull();
  });

  it('of a gateway of an earlier release opens', () => {
    const former = keys.seal('trace', 'recorded', `answer:${GATEWAY}`);
    expect(String(seal.openAnswer(former, question()))).toBe('recorded');
  });

  it('is readable for a control plane of an earlier release that asked without a nonce', () => {
    const answer = seal.answer('recorded', { nonce: null });
    expect(String(keys.open('trace', answer, `answer:${GATEWAY}`))).toBe('recorded');
  });
});
