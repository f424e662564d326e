import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { healthOf, sendOutcomeOf, commandResultOf, errorMessageOf } from './rbm-answer.js';
import type { Answer } from './rbm-call.js';

const answered = (status: number, body = ''): Answer => ({
  kind: 'answered',
  status,
  body: Buffer.from(body),
});

describe('an answer: send outcome, agent health and command result', () => {
  const refused = (because: string) => ({ kind: 'refused', because });
  const unknown = (because: string) => ({ kind: 'unknown', because });
  it.each([
    [answered(200), { kind: 'sent' }, 'works', 'done'],
    [answered(409), { kind: 'sent' }, 'works', 'done'],
    [answered(404), { kind: 'unreachable' }, 'works', 'done'],
    [answered(400), refused('invalid_argument'), 'unknown', 'done'],
    [answered(401), refused('unauthenticated'), 'forbidden', 'again'],
    [answered(403), refused('permission_denied'), 'forbidden', 'done'],
    [answered(429), refused('throttled'), 'down', 'again'],
    [answered(302), refused('rejected'), 'unknown', 'done'],
    [answered(418), refused('rejected'), 'unknown', 'done'],
    [answered(500), unknown('server_error'), 'down', 'again'],
    [answered(503), unknown('server_error'), 'down', 'again'],
    [{ kind: 'unsent', because: 'ECONNREFUSED' }, refused('not_connected'), 'down', 'again'],
    [{ kind: 'lost', because: 'timeout' }, unknown('timeout'), 'down', 'again'],
    [{ kind: 'lost', because: 'connection_lost' }, unknown('connection_lost'), 'down', 'again'],
    [{ kind: 'lost', because: 'stopped' }, unknown('stopped'), 'unknown', 'again'],
  ] as const)('%j', (answer, outcome, health, result) => {
    expect(sendOutcomeOf(answer)).toEqual(outcome);
    expect(healthOf(answer)).toBe(health);
    expect(commandResultOf(answer)).toBe(result);
  });
});

describe('the error message of the platform', () => {
  it('is one short line', () => {
    const message = `No agent\r\n\t\u0007${'x'.repeat(400)}`;
    const shown = errorMessageOf(
      answered(403, JSON.stringify({ error: { code: 403, message, status: 'PERMISSION_DENIED' } })),
    );
    expect(shown).toBe(`No agent ${'x'.repeat(291)}`);
  });

  it('is empty for an unexpected body', () => {
    for (const body of ['', 'oops', '[]', '{}', '{"error":"x"}', '{"error":{"message":7}}']) {
      expect(errorMessageOf(answered(500, body))).toBe('');
    }
    expect(errorMessageOf({ kind: 'lost', because: 'timeout' })).toBe('');
  });

  it('is one short line for any body', () => {
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string().map((message) => JSON.stringify({ error: { message } })),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        expect(errorMessageOf(answered(400, body))).toMatch(/^\P{Cc}{0,300}$/u);
      }),
    );
  });
});
