import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_SYSTEM_FAILURES } from '../../apps/gateway/src/listener/system-guesses.js';
import { GatewayHarness, LOOPBACK, PASSWORD } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const BIND_FAILED = 0x0d;
const WRONG_PASSWORD = 0x0e;
const GUESSES = 60;

let gateway: GatewayHarness;

beforeAll(async () => {
  gateway = await GatewayHarness.open();
});
afterAll(() => gateway.close());

/** Concurrent binds from `GUESSES` addresses of the network, each with the password returned by `guess`. */
const attack = (network: string, systemId: string, guess: (nth: number) => string): Promise<(number | null)[]> =>
  Promise.all(
    Array.from({ length: GUESSES }, (_, nth) => gateway.bindFrom(`${network}.${nth + 1}`, systemId, guess(nth))),
  );
const count = (answers: readonly unknown[], status: number | null): number =>
  answers.filter((answer) => answer === status).length;
const wrongPasswords = (systemId: string): Promise<number> =>
  gateway.metric(`countersign_smpp_wrong_passwords_total{peer="${systemId}"`);

describe('a system without allowedCidrs whose password is guessed from many addresses', () => {
  it('has twenty passwords compared, then one per ten seconds; it binds from known addresses, and from all after a password change', async () => {
    const { id } = await gateway.system({ systemId: 'open', allowedCidrs: [], maxConnections: 20 });
    expect(await gateway.bindFrom('127.0.9.1', 'open')).toBe(OK);
    const underAttack = attack('127.0.10', 'open', (nth) => `guess${nth}`);
    await until('the system is guarded', 5_000, async () => (await wrongPasswords('open')) >= MAX_SYSTEM_FAILURES - 1);
    // From a known address the right password is always accepted.
    expect(await gateway.bindFrom('127.0.9.1', 'open')).toBe(OK);
    const answers = await underAttack;
    const compared = count(answers, WRONG_PASSWORD);
    expect(compared).toBeGreaterThanOrEqual(MAX_SYSTEM_FAILURES);
    expect(compared).toBeLessThanOrEqual(MAX_SYSTEM_FAILURES + 2);
    expect(count(answers, BIND_FAILED)).toBe(GUESSES - compared);
    expect(await wrongPasswords('open')).toBe(compared);
    expect(await gateway.metric('countersign_smpp_refused_binds_total{refusal="guarded"')).toBe(GUESSES - compared);
    // A right guess is refused too once the comparison of the interval is consumed.
    const right = await attack('127.0.11', 'open', () => PASSWORD);
    expect(count(right, OK)).toBeLessThanOrEqual(2);
    expect(count(right, BIND_FAILED)).toBeGreaterThanOrEqual(GUESSES - 2);
    await gateway.harness.database.query(
      `UPDATE smpp_systems SET password_digest = sha256(password_digest) WHERE id = $1`,
      [id],
    );
    await until('passwords are compared again', 5_000, async () => {
      return (await gateway.bindFrom('127.0.12.1', 'open')) === WRONG_PASSWORD;
    });
  }, 60_000);
});

describe('a system with allowedCidrs', () => {
  it('has no password compared from other addresses: right and wrong ones get the same response and are no failures', async () => {
    // A system without allowedCidrs, so that connections are not rejected before the bind.
    await gateway.system({ systemId: 'anywhere', allowedCidrs: [] });
    await gateway.system({ systemId: 'home', allowedCidrs: ['127.0.20.0/24'] });
    const answers = await attack('127.0.21', 'home', (nth) => (nth % 2 === 0 ? PASSWORD : `guess${nth}`));
    expect(count(answers, BIND_FAILED)).toBe(GUESSES);
    expect(await wrongPasswords('home')).toBe(0);
    expect(await gateway.bindFrom('127.0.20.1', 'home')).toBe(OK);
  });

  it('is never refused because of wrong guesses, even from inside its networks', async () => {
    await gateway.system({ systemId: 'within', allowedCidrs: LOOPBACK });
    const answers = await attack('127.0.30', 'within', (nth) => `guess${nth}`);
    expect(count(answers, WRONG_PASSWORD)).toBe(GUESSES);
    expect(await wrongPasswords('within')).toBe(GUESSES);
    // From unknown addresses, more binds than the comparisons allowed per ten seconds outside its networks.
    for (const address of ['127.0.31.1', '127.0.31.2', '127.0.31.3'])
      expect(await gateway.bindFrom(address, 'within')).toBe(OK);
  }, 60_000);
});
