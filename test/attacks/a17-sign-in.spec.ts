import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { type Call, ControlPlaneHarness, ownAddress } from '../support/control-plane-harness.js';
import { type RawAnswer, rawAnswer } from '../support/raw-answer.js';

const KEY = '/console/api/sign-in/key';
const WITH_BODIES = [
  KEY,
  '/console/api/sign-in/phone',
  '/console/api/sign-in/phone/send-code',
  '/console/api/sign-in/phone/check',
  '/console/api/sign-in/second-step/send-code',
  '/console/api/sign-in/second-step/check',
];
/** Calls of sign-ins that one address makes in a minute. */
const QUOTA = 120;

let harness: ControlPlaneHarness;
beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

/** Sends the head of a sign-in, and nothing of its body. */
function headAlone(path: string, length: string, localAddress = ownAddress()): Promise<RawAnswer> {
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Content-Type: application/json', length];
  return rawAnswer(Number(harness.environment['CONTROL_PLANE_PORT']), `${head.join('\r\n')}\r\n\r\n`, localAddress);
}

const lineOf = (localAddress: string): Agent =>
  new Agent({ connect: { rejectUnauthorized: false }, localAddress, pipelining: 1 });
const bodyOf = (octets: number): string => `{"key":"${'x'.repeat(octets - 10)}"}`;

describe('A17 bodies of sign-ins, which anybody may send', () => {
  it.each(WITH_BODIES)('A17 a large one, or one of unknown length, is refused by its headers: %s', async (path) => {
    for (const length of ['Content-Length: 131072', 'Content-Length: 1025', 'Transfer-Encoding: chunked']) {
      const { status, code, text } = await headAlone(path, length);
      expect([length, status, code]).toEqual([length, 413, 'PAYLOAD_TOO_LARGE']);
      expect(text.toLowerCase()).toContain('\r\nconnection: close\r\n');
    }
  });

  it('A17 one of 1 KiB is read', async () => {
    const ask = (octets: number): Call => ({ method: 'POST', key: null, body: bodyOf(octets) });
    const fits = await harness.call(KEY, ask(1024));
    expect([fits.status, fits.field]).toEqual([422, 'key']);
    expect((await harness.call(KEY, ask(1025))).status).toBe(413);
  });

  it('A17 small ones that are not valid use up the quota of their address, before they are read', async () => {
    const localAddress = ownAddress();
    const dispatcher = lineOf(localAddress);
    const invalid: Call = { method: 'POST', key: null, body: { unknown: 1 }, dispatcher };
    const statuses: number[] = [];
    for (let call = 0; call <= QUOTA; call += 1) statuses.push((await harness.call(KEY, invalid)).status);
    // The window may end on the way.
    while (statuses.at(-1) !== 429) statuses.push((await harness.call(KEY, invalid)).status);
    expect(statuses.indexOf(429)).toBeGreaterThanOrEqual(QUOTA);
    expect(statuses.slice(0, QUOTA)).toEqual(Array.from({ length: QUOTA }, () => 422));
    const { code, text } = await headAlone(KEY, 'Content-Length: 1024\r\nConnection: close', localAddress);
    expect([code, text]).toEqual(['RATE_LIMITED', expect.stringMatching(/retry-after: \d+/i)]);

    expect((await harness.call('/v1/verify', { dispatcher })).status).toBe(200);
    expect((await harness.call('/console/api/sign-in/ways', { key: null, dispatcher })).status).toBe(200);
    const elsewhere = new ConsoleBrowser(harness);
    expect((await elsewhere.signIn(new AdminCalls(harness).key)).status).toBe(200);
    await dispatcher.close();
  });

  it('A17 forms of foreign pages use up no quota of the reader', async () => {
    const dispatcher = lineOf(ownAddress());
    const browser = new ConsoleBrowser(harness);
    const headers = { origin: 'https://evil.example' };
    for (let call = 0; call <= QUOTA; call += 1) {
      expect((await browser.signIn('csk_admin_guess', { headers, dispatcher })).status).toBe(403);
    }
    expect((await browser.signIn(new AdminCalls(harness).key, { dispatcher })).status).toBe(200);
    await dispatcher.close();
  });
});
