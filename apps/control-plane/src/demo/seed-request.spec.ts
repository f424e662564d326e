import { describe, expect, it } from 'vitest';
import { parseSeedRequest } from './seed-request.js';

const parse = (value: unknown) =>
  parseSeedRequest(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const simulator = { host: '127.0.0.1', port: 2776, systemId: 'countersign', password: 'secret' };

describe('the request of the demo seed', () => {
  it('may be empty', () => {
    for (const empty of ['', ' \n', '{}', { apiKey: null, simulator: null }]) {
      expect(parse(empty)).toEqual({ apiKey: null, testApiKey: null, smppPassword: null, simulator: null });
    }
  });

  it('has the secrets of the launcher and the simulator', () => {
    expect(parse({ apiKey: 'csk_live_x', testApiKey: 'csk_test_x', smppPassword: 'abc12345', simulator })).toEqual({
      apiKey: 'csk_live_x',
      testApiKey: 'csk_test_x',
      smppPassword: 'abc12345',
      simulator,
    });
  });

  it.each([
    [[], 'object'],
    ['{', 'JSON'],
    [{ apiKey: 'csk_admin_x' }, 'apiKey'],
    [{ apiKey: 5 }, 'apiKey'],
    [{ testApiKey: 'csk_live_x' }, 'testApiKey'],
    [{ smppPassword: 'longer than 8' }, 'smppPassword'],
    [{ smppPassword: '' }, 'smppPassword'],
    [{ simulator: 'x' }, 'simulator'],
    [{ simulator: { ...simulator, port: 0 } }, 'simulator.port'],
    [{ simulator: { ...simulator, port: '2776' } }, 'simulator.port'],
    [{ simulator: { ...simulator, systemId: 'a name with spaces' } }, 'systemId'],
    [{ simulator: { ...simulator, host: '' } }, 'host'],
  ])('refuses %j with an error that names %s', (request, field) => {
    expect(() => parse(request)).toThrow(field);
  });
});
