import { DestinationStore } from '@countersign/carriers/destinations';
import type { RestrictedKind } from '@countersign/phone';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { OtpHarness, errorOf } from '../support/otp-harness.js';

const BRITISH = '+447911123456';
const BLOCKED = [403, 'DESTINATION_BLOCKED', 'phone'];

let home: OtpHarness;
let harness: ControlPlaneHarness;

beforeAll(async () => {
  home = await OtpHarness.open();
  harness = home.harness;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('DESTINATION_BLOCKED', () => {
  const rules = (): DestinationStore => new DestinationStore(harness.clock);

  it.each<readonly [string, RestrictedKind]>([
    ['+449098790879', 'premium_rate'],
    ['+491805123456', 'shared_cost'],
    ['+447012345678', 'personal_number'],
    ['+18002345678', 'toll_free'],
    ['+448001234567', 'toll_free'],
    ['+445512345678', 'uan'],
    ['+80012345678', 'non_geographic'],
    ['+8816123456789', 'non_geographic'],
    ['+979123456789', 'non_geographic'],
  ])('%s: the number is %s, unless the allow rule of an admin lists the kind', async (phone, kind) => {
    const rule = await rules().create(harness.database, { prefix: phone.slice(0, 4), action: 'allow', reason: 'test' });
    const id = await home.created({ phone });
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toEqual([{ rule: 'number_type', prefix: phone.slice(0, -4), refused: 1 }]);
    await rules().update(harness.database, { ...rule, kinds: [kind] });
    expect((await home.send(id)).status).toBe(200);
  });

  it('a country that the account does not send to, unless an admin allows the prefix', async () => {
    await harness.database.query(`UPDATE accounts SET otp_countries = '{US}'`);
    const id = await home.created({ phone: BRITISH });
    const answer = await home.expectRefused(() => home.send(id), BLOCKED);
    expect(answer.text).not.toContain('country');
    expect(await home.refusals()).toMatchObject([{ rule: 'country' }]);
    expect((await home.send(await home.created())).status).toBe(200);
    await rules().create(harness.database, { prefix: '+447911', action: 'allow', reason: 'known' });
    expect((await home.send(id)).status).toBe(200);
  });

  it('an account without countries sends nowhere', async () => {
    await harness.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
  });

  it('a prefix that an admin blocks, for its account or for all, until its time is over', async () => {
    const made = await rules().create(harness.database, {
      accountId: home.accountId,
      prefix: '+1415',
      action: 'block',
      reason: 'abuse',
    });
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'destination_rule' }]);
    await rules().update(harness.database, { ...made, until: new Date(harness.clock.nowMs() - 1) });
    expect((await home.send(id)).status).toBe(200);
  });

  it('a daily spend cap that the next code would break; a price is the one of the country, else of all', async () => {
    const price = (country: string, usd: string): Promise<object[]> =>
      harness.database.query(
        `INSERT INTO prices (id, channel, country, usd, from_at) VALUES ($1, 'sms_otp', $2, $3, '2020-01-01')`,
        [harness.clock.newId(), country, usd],
      );
    await price('*', '0.10');
    await price('US', '0.0079');
    await harness.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = 0.2079`);
    await harness.database.query('DELETE FROM otp_spend');
    for (const phone of [PHONE, BRITISH, BRITISH])
      expect((await home.send(await home.created({ phone }))).status).toBe(200);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'daily_spend' }]);
    const [spent] = await harness.database.query<{ usd: string }>(
      'SELECT usd::text FROM otp_spend WHERE account_id = $1',
      [home.accountId],
    );
    expect(spent?.usd).toBe('0.207900');
    await harness.database.query('DELETE FROM prices');
    await harness.database.query('DELETE FROM otp_spend');
    await harness.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = 0`);
    await home.expectRefused(() => home.send(id), BLOCKED);
  });

  it('a code without a price under a daily spend cap', async () => {
    await harness.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = 0.01`);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'no_price', refused: 1 }]);
    await harness.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = NULL`);
    expect((await home.send(id)).status).toBe(200);
  });

  it('more messages on one day than the account may send', async () => {
    await harness.database.query(`UPDATE accounts SET otp_daily_message_cap = 2`);
    for (const phone of [PHONE, BRITISH]) expect((await home.send(await home.created({ phone }))).status).toBe(200);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'daily_messages' }]);
  });

  it('a used-up conversion budget; an SMS from the phone still approves, and its credits release the next codes', async () => {
    await harness.database.query(`UPDATE accounts SET otp_unconverted_floor = 2`);
    const first = await home.created({ phone: BRITISH });
    expect((await home.send(first)).status).toBe(200);
    const refused = await home.created({ phone: '+447911123457' });
    await home.expectRefused(() => home.send(refused), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'budget_country', refused: 1 }]);
    await harness.approve(await home.created());
    await expect.poll(async () => (await home.credits()).length).toBeGreaterThan(0);
    // The credits are those of the US; the account's own budget is larger by them.
    await home.expectRefused(() => home.send(refused), BLOCKED);
    for (let at = 0; at < 5; at++) {
      expect((await home.send(await home.created({ phone: `+1212555000${at}` }))).status).toBe(200);
    }
    await home.expectRefused(async () => home.send(await home.created({ phone: '+12125550009' })), BLOCKED);
  });

  it('comes after the session’s own errors and before its limits and the route', async () => {
    const { id } = await home.withCode();
    await harness.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    await harness.database.query('UPDATE routes SET enabled = false');
    await home.expectRefused(() => home.send(id), BLOCKED);
    await harness.call(`/v1/verify/${id}`, { method: 'DELETE' });
    expect(errorOf(await home.send(id))).toEqual([409, 'SESSION_NOT_PENDING', undefined]);
  });
});
