import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { healthOf, judgeSend, judgeCommandAnswer, wordsOf } from './rbm-answer.js';
import type { Answer } from './rbm-call.js';

const answered = (status: number, body = ''): Answer => ({
  kind: 'answered',
  status,
  body: Buffer.from(body),
});

describe('what an answer means', () => {
  const refused = (because: string) => ({ kind: 'refused', because });
  const unknown = (because: string) => ({ kind: 'unknown', because });
  it.each([
    [answered(200), { kind: 'sent' }, 'works', 'done'],
    [answered(409), { kind: 'sent' }, 'works', 'done'],
    [answered(404), { kind: 'unreachable' }, 'works', 'done'],
    [answered(400), refused('invalid_argument'), 'unsaid', 'done'],
    [answered(401), refused('unauthenticated'), 'forbidden', 'again'],
    [answered(403), refused('permission_denied'), 'forbidden', 'done'],
    [answered(429), refused('throttled'), 'down', 'again'],
    [answered(302), refused('rejected'), 'unsaid', 'done'],
    [answered(418), refused('rejected'), 'unsaid', 'done'],
    [answered(500), unknown('server_error'), 'down', 'again'],
    [answered(503), unknown('server_error'), 'down', 'again'],
    [{ kind: 'unsent', because: 'ECONNREFUSED' }, refused('not_connected'), 'down', 'again'],
    [{ kind: 'lost', because: 'timeout' }, unknown('timeout'), 'down', 'again'],
    [{ kind: 'lost', because: 'connection_lost' }, unknown('connection_lost'), 'down', 'again'],
    [{ kind: 'lost', because: 'stopped' }, unknown('stopped'), 'unsaid', 'again'],
  ] as const)('%j', (answer, outcome, health, told) => {
    expect(judgeSend(answer)).toEqual(outcome);
    expect(healthOf(answer)).toBe(health);
    expect(judgeCommandAnswer(answer)).toBe(told);
  });
});

describe('what the platform says of an error', () => {
  it('is kept as one short line', () => {
    const message = `No agent\r\n\t\u0007${'x'.repeat(400)}`;
    const said = wordsOf(answered(403, JSON.stringify({ error: { code: 403, message, status: 'PERMISSION_DENIED' } })));
    expect(said).toBe(`No agent ${'x'.repeat(291)}`);
  });

  it('is nothing where it is not what is expected', () => {
    for (const body of ['', 'oops', '[]', '{}', '{"error":"x"}', '{"error":{"message":7}}']) {
      expect(wordsOf(answered(500, body))).toBe('');
    }
    expect(wordsOf({ kind: 'lost', because: 'timeout' })).toBe('');
  });

  it('is one short line whatever it is', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string().map((message) => JSON.stringify({ error: { message } })),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        expect(wordsOf(answered(400, body))).toMatch(/^\P{Cc}{0,300}$/u);
      }),
    );
  });
});
