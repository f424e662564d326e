import { randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger, NestPinoLogger, type Logger } from './index.js';

function recorder(level = 'trace'): { logger: Logger; lines: () => string[] } {
  const lines: string[] = [];
  const logger = createLogger({ app: 'test', level, destination: { write: (line) => void lines.push(line) } });
  return { logger, lines: () => lines };
}

/** One example of each value that must never be logged. */
const SECRETS = {
  token: '7ZK3QX9P0ABCDEFG',
  fullToken: 'AUTH-ACME-7ZK3QX9P0ABCDEFG',
  apiKey: `csk_live_${'aB3'.repeat(12)}xy`,
  webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
  authEntropy: randomBytes(32).toString('hex'),
  masterKey: randomBytes(32).toString('base64'),
  fallbackUri: 'sms:+14155552671?body=AUTH-ACME-7ZK3QX9P0ABCDEFG%0AHello',
  password: 'hunter2!',
  code: '042424',
  text: '042424 is your Acme code. Do not share it.',
  databaseUrl: 'postgres://app:hunter2!@127.0.0.1/x',
  phone: '+14155552671',
};
/** Substrings that would reveal them anywhere in a line. */
const LEAKS = [
  SECRETS.token,
  SECRETS.apiKey,
  SECRETS.webhookSecret.slice('whsec_'.length),
  SECRETS.authEntropy,
  SECRETS.masterKey,
  'Hello',
  SECRETS.password,
  SECRETS.code,
  '4155552671',
];

function expectNoLeak(lines: readonly string[]): void {
  for (const line of lines) {
    for (const leak of LEAKS) expect(line).not.toContain(leak);
    expect(() => void JSON.parse(line)).not.toThrow();
  }
}

/** The secrets that are recognisable by their form. A plain password or code has no form. */
const BY_FORM = [
  SECRETS.token,
  SECRETS.fullToken,
  SECRETS.apiKey,
  SECRETS.webhookSecret,
  SECRETS.authEntropy,
  SECRETS.masterKey,
  SECRETS.fallbackUri,
  SECRETS.text,
  SECRETS.databaseUrl,
  SECRETS.phone,
];

describe('no line contains a secret', () => {
  it('logged as an object, nested, in a list, in a map, as a binding of a child', () => {
    const { logger, lines } = recorder();
    logger.info(SECRETS, 'plain');
    logger.info({ session: { ...SECRETS, deeper: [SECRETS] }, map: new Map(Object.entries(SECRETS)) }, 'nested');
    logger.child(SECRETS).info('bound');
    logger.child({}).child({ deeper: SECRETS }, { level: 'info' }).info('bound');
    logger.setBindings(SECRETS);
    logger.child({ session: SECRETS }).error({ err: new Error('x') }, 'bound');
    expect(lines()).toHaveLength(5);
    expectNoLeak(lines());
  });

  it.each(BY_FORM)('as a message, an interpolation, an error, its cause or under an innocent name: %s', (secret) => {
    const { logger, lines } = recorder();
    logger.info(`about ${secret}`);
    logger.info('about %s and %o', secret, { innocent: secret });
    logger.info({ innocent: secret, [secret]: 1 }, secret);
    logger.error(new Error(`about ${secret}`));
    logger.error({ err: new Error('outer', { cause: new Error(secret) }) }, 'failed');
    logger.error(new AggregateError([new Error(secret)], secret), 'several');
    new NestPinoLogger(logger).error(`about ${secret}`, `stack ${secret}`, 'Context');
    expect(lines()).toHaveLength(7);
    expectNoLeak(lines());
  });

  it('anywhere in a text', () => {
    fc.assert(
      fc.property(fc.constantFrom(...BY_FORM), fc.string({ unit: 'grapheme' }), (secret, around) => {
        const { logger, lines } = recorder();
        logger.info({ note: `${around} ${secret} ${around}` }, `${around} ${secret}\n${around}`);
        expectNoLeak(lines());
      }),
    );
  });

  it('in fastify log lines of requests and failures', async () => {
    const { logger, lines } = recorder();
    const server = fastify({ loggerInstance: logger });
    server.get('/fail', () => {
      throw new Error(`cannot read ${SECRETS.fullToken} of ${SECRETS.phone}`);
    });
    await server.inject({
      url: `/fail?phone=${encodeURIComponent(SECRETS.phone)}&key=${SECRETS.apiKey}`,
      headers: { authorization: `Bearer ${SECRETS.apiKey}` },
    });
    await server.close();
    expect(lines().some((line) => line.includes('cannot read'))).toBe(true);
    expectNoLeak(lines());
  });
});

describe('a line', () => {
  it('is JSON with time, level, app and process, and keeps harmless values', () => {
    const { logger, lines } = recorder();
    logger.warn({ sessionId: 'sess_01KAJ0A1B2C3D4E5F6G7H8J9K0', latencyMs: 1763701234567 }, 'slow');
    const [line = ''] = lines();
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      app: 'test',
      pid: process.pid,
      sessionId: 'sess_01KAJ0A1B2C3D4E5F6G7H8J9K0',
      latencyMs: 1763701234567,
      msg: 'slow',
    });
    expect(line).toMatch(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/);
  });

  it('below the level is not written', () => {
    const { logger, lines } = recorder('warn');
    logger.info('quiet');
    expect(lines()).toEqual([]);
  });

  it("of Nest's has its context; start-up lines are debug", () => {
    const { logger, lines } = recorder();
    const nest = new NestPinoLogger(logger);
    nest.log('Mapped {/v1/verify, POST} route', 'RouterExplorer');
    nest.error(new Error('broken'), 'Context');
    nest.warn({ odd: true });
    expect(lines().map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'debug', context: 'RouterExplorer', msg: 'Mapped {/v1/verify, POST} route' },
      { level: 'error', context: 'Context', msg: 'broken', err: { type: 'Error' } },
      { level: 'warn', err: { odd: true } },
    ]);
  });
});
