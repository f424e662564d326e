import { createLogger } from '@countersign/telemetry';
import { describe, expect, it } from 'vitest';
import { FailureLog } from './failure-log.js';

function logOf() {
  let nowMs = 5_000;
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  const logger = createLogger({ app: 'control-plane', level: 'info', destination });
  return { log: new FailureLog(logger, () => nowMs), lines, wait: (ms: number) => (nowMs += ms) };
}

const answer = (elapsedMs: number) => ({
  id: 'req_1',
  method: 'GET',
  route: '/v1/verify/:sessionId',
  status: 200,
  mode: 'live' as const,
  elapsedMs,
});

describe('the log of failures', () => {
  it('logs a failed request with its id and route', () => {
    const { log, lines } = logOf();
    log.failed(new Error('boom'), { id: 'req_1', method: 'POST', route: '/v1/verify' });
    expect(lines).toMatchObject([{ requestId: 'req_1', route: '/v1/verify', msg: 'request failed', level: 'error' }]);
  });

  it('logs slow requests only', () => {
    const { log, lines } = logOf();
    log.logSlowRequest(answer(999));
    log.logSlowRequest(answer(1_000.4));
    expect(lines).toMatchObject([{ msg: 'request was slow', elapsedMs: 1_000 }]);
  });

  it('writes at most 10 lines per second and reports the number of suppressed lines', () => {
    const { log, lines, wait } = logOf();
    for (let count = 0; count < 50; count++) log.about('a sweep')(new Error('away'));
    expect(lines).toHaveLength(10);
    wait(1_000);
    log.about('a sweep')(new Error('away'));
    expect(lines.slice(10)).toMatchObject([{ suppressed: 40 }, { msg: 'a sweep failed' }]);
  });
});
