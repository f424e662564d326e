import { DestinationStore } from '@countersign/carriers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneRoom, PHONE } from '../support/control-plane-room.js';
import { OtpRoom, told } from '../support/otp-room.js';

const BRITISH = '+447911123456';
const BLOCKED = [403, 'DESTINATION_BLOCKED', 'phone'];

let home: OtpRoom;
let room: ControlPlaneRoom;

beforeAll(async () => {
  home = await OtpRoom.open();
  room = home.room;
});
afterAll(() => home.close());
beforeEach(() => home.forget());

describe('DESTINATION_BLOCKED', () => {
  const rules = (): DestinationStore => new DestinationStore(() => room.clock.newId());

  it.each([
    ['+449098790879', 'premium rate'],
    ['+491805123456', 'shared cost'],
  ])('%s: the number is %s, whatever an admin allows', async (phone) => {
    await rules().create(room.database, { prefix: phone.slice(0, 4), action: 'allow', reason: 'test' });
    const id = await home.created({ phone });
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toEqual([{ rule: 'number_type', prefix: phone.slice(0, -4), refused: 1 }]);
  });

  it('a country that the account does not send to, unless an admin allows the prefix', async () => {
    await room.database.query(`UPDATE accounts SET otp_countries = '{US}'`);
    const id = await home.created({ phone: BRITISH });
    const answer = await home.expectRefused(() => home.send(id), BLOCKED);
    expect(answer.text).not.toContain('country');
    expect(await home.refusals()).toMatchObject([{ rule: 'country' }]);
    expect((await home.send(await home.created())).status).toBe(200);
    await rules().create(room.database, { prefix: '+447911', action: 'allow', reason: 'known' });
    expect((await home.send(id)).status).toBe(200);
  });

  it('an account without countries sends nowhere', async () => {
    await room.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
  });

  it('a prefix that an admin blocks, for its account or for all, until its time is over', async () => {
    const made = await rules().create(room.database, {
      accountId: home.accountId,
      prefix: '+1415',
      action: 'block',
      reason: 'abuse',
    });
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'destination_rule' }]);
    await rules().update(room.database, { ...made, until: new Date(room.clock.nowMs() - 1) });
    expect((await home.send(id)).status).toBe(200);
  });

  it('a daily spend cap that the next code would break; a price is the one of the country, else of all', async () => {
    const price = (country: string, usd: string): Promise<object[]> =>
      room.database.query(
        `INSERT INTO prices (id, channel, country, usd, from_at) VALUES ($1, 'sms_otp', $2, $3, '2020-01-01')`,
        [room.clock.newId(), country, usd],
      );
    await price('*', '0.10');
    await price('US', '0.0079');
    await room.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = 0.2079`);
    await room.database.query('DELETE FROM otp_spend');
    for (const phone of [PHONE, BRITISH, BRITISH])
      expect((await home.send(await home.created({ phone }))).status).toBe(200);
    const id = await home.created();
    await home.expectRefused(() => home.send(id), BLOCKED);
    expect(await home.refusals()).toMatchObject([{ rule: 'daily_spend' }]);
    const [spent] = await room.database.query<{ usd: string }>(
      'SELECT usd::text FROM otp_spend WHERE account_id = $1',
      [home.accountId],
    );
    expect(spent?.usd).toBe('0.207900');
    await room.database.query('DELETE FROM prices');
    await room.database.query('DELETE FROM otp_spend');
    await room.database.query(`UPDATE accounts SET otp_daily_spend_cap_usd = 0`);
    await home.expectRefused(() => home.send(id), BLOCKED);
  });

  it('comes after the session’s own errors and before its limits and the route', async () => {
    const { id } = await home.withCode();
    await room.database.query(`UPDATE accounts SET otp_countries = '{}'`);
    await room.database.query('UPDATE routes SET enabled = false');
    await home.expectRefused(() => home.send(id), BLOCKED);
    await room.call(`/v1/verify/${id}`, { method: 'DELETE' });
    expect(told(await home.send(id))).toEqual([409, 'SESSION_NOT_PENDING', undefined]);
  });
});
