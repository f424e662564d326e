import { setTimeout as sleep } from 'node:timers/promises';
import { AccountStore } from '@countersign/accounts/accounts';
import { CarrierStore } from '@countersign/carriers/config';
import { parseId, type Uuid } from '@countersign/ids';
import { expect } from 'vitest';
import { ControlPlaneHarness, type Answer, type Call } from './control-plane-harness.js';

/** A queued message with its opened text. */
export interface QueuedMessage {
  readonly id: Uuid;
  readonly sender: string;
  readonly state: string;
  readonly test: boolean;
  readonly text: string;
}

export interface SessionWithCode {
  readonly id: string;
  readonly code: string;
  /** Six digits that are not the code. */
  readonly wrong: string;
}

type Changes = Readonly<Record<string, unknown>>;

/** A control plane with a route for codes. No gateway runs, so queued messages stay in the table for the test. */
export class OtpHarness {
  private constructor(
    readonly harness: ControlPlaneHarness,
    readonly accountId: Uuid,
    /** Calls with a key of another account. */
    readonly foreign: Call,
    readonly withTestKey: Call,
  ) {}

  static async open(environment: Readonly<Record<string, string>> = {}): Promise<OtpHarness> {
    const harness = await ControlPlaneHarness.open(environment);
    const newId = (): Uuid => harness.clock.newId();
    const accountId = parseId('acct', harness.demo.accountId) ?? '';
    const accounts = new AccountStore({ keys: harness.keys, newId });
    const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
    const keyOf = async (owner: Uuid, kind: 'live' | 'test'): Promise<Call> => ({
      key: (await accounts.createApiKey(harness.database, { accountId: owner, kind, name: kind })).key,
    });
    const carriers = new CarrierStore({ keys: harness.keys, newId });
    const bind = await carriers.createBind(harness.database, {
      name: 'out',
      carrier: 'out',
      hosts: [{ host: '127.0.0.1', port: 1 }],
      systemId: 'out',
      password: 'secret',
      enabled: true,
    });
    await carriers.createRoute(harness.database, { prefix: '+', bindId: bind.id });
    return new OtpHarness(harness, accountId, await keyOf(account.id, 'live'), await keyOf(accountId, 'test'));
  }

  close(): Promise<void> {
    return this.harness.close();
  }

  /** Deletes messages, counters, rules and prices; afterwards the account may send to every country. */
  async forget(): Promise<void> {
    const { database } = this.harness;
    const tables = ['outbound_messages', 'otp_counters', 'otp_sends', 'otp_approvals', 'otp_phones', 'otp_checks'];
    tables.push('otp_refusals', 'otp_spend', 'destination_rules', 'prices');
    for (const table of tables) await database.query(`DELETE FROM ${table}`);
    await database.query(
      `UPDATE accounts SET otp_countries = '{*}', otp_daily_spend_cap_usd = NULL, otp_daily_message_cap = 1000000,
         otp_unconverted_floor = 100000`,
    );
    await database.query(`UPDATE routes SET enabled = true, prefix = '+'`);
  }

  async created(changes: Changes = {}, call: Call = {}): Promise<string> {
    const answer = await this.harness.create(changes, call);
    expect(answer.status).toBe(200);
    return String(answer.json['id']);
  }

  send(id: string, call: Call = {}): Promise<Answer> {
    return this.harness.call(`/v1/verify/${id}/send-sms`, { method: 'POST', ...call });
  }

  /**
   * As `send`, and repeats a 503 after its Retry-After as a client does, 5 times at most: while the limiter's store is
   * away, or does not answer within 300 ms on a busy machine, no code is sent.
   */
  async sendWithRetry(id: string, call: Call = {}): Promise<Answer> {
    let answer = await this.send(id, call);
    for (let retries = 0; retries < 5 && answer.status === 503; retries += 1) {
      await sleep(retryAfter(answer) * 1_000);
      answer = await this.send(id, call);
    }
    return answer;
  }

  check(id: string, code: unknown, call: Call = {}): Promise<Answer> {
    return this.harness.call(`/v1/verify/${id}/check`, { method: 'POST', body: { code }, ...call });
  }

  get(id: string): Promise<Answer> {
    return this.harness.call(`/v1/verify/${id}`);
  }

  async withCode(changes: Changes = {}): Promise<SessionWithCode> {
    const id = await this.created(changes);
    expect((await this.send(id)).status).toBe(200);
    const [code = ''] = await this.codesOf(id);
    return { id, code, wrong: code === '000000' ? '000001' : '000000' };
  }

  /** The messages of a session, oldest first. */
  async messagesOf(id: string): Promise<QueuedMessage[]> {
    const rows = await this.harness.database.query<Omit<QueuedMessage, 'text'> & { sealed: Buffer }>(
      `SELECT id, sender, state, test, text_sealed AS sealed FROM outbound_messages WHERE session_id = $1
       ORDER BY created_at`,
      [parseId('sess', id)],
    );
    const { keys } = this.harness;
    return rows.map((row) => ({ ...row, text: keys.open('message-text', row.sealed, row.id).toString('utf8') }));
  }

  async codesOf(id: string): Promise<string[]> {
    return (await this.messagesOf(id)).map(({ text }) => text.slice(0, 6));
  }

  /** Moves the times of a session one hour into the past. */
  async age(id: string): Promise<void> {
    await this.harness.database.query(
      `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
       WHERE id = $1`,
      [parseId('sess', id)],
    );
  }

  /** Moves the last send 31 s into the past, so that the cooldown is over. */
  async letResend(id: string): Promise<void> {
    const shift = `UPDATE sessions SET otp_sent_at = otp_sent_at - interval '31 seconds' WHERE id = $1`;
    await this.harness.database.query(shift, [parseId('sess', id)]);
  }

  /** Approvals that were counted for the conversion budget. */
  credits(): Promise<{ scope: string; approvals: number }[]> {
    return this.harness.database.query('SELECT scope, approvals FROM otp_approvals WHERE approvals > 0');
  }

  /** The refusals that the guard has recorded. */
  refusals(): Promise<{ rule: string; prefix: string; refused: number }[]> {
    return this.harness.database.query('SELECT rule, prefix, refused FROM otp_refusals ORDER BY rule');
  }

  /** Expects that the call is refused with this error and writes no message, code, count or cost. */
  async expectRefused(call: () => Promise<Answer>, expected: readonly unknown[]): Promise<Answer> {
    const before = await this.counts();
    const answer = await call();
    expect(errorOf(answer)).toEqual(expected);
    expect(await this.counts()).toEqual(before);
    return answer;
  }

  private async counts(): Promise<object | undefined> {
    const [row] = await this.harness.database.query(
      `SELECT (SELECT count(*) FROM outbound_messages) AS messages,
         (SELECT sum(sends) FROM otp_counters WHERE ends_at > clock_timestamp()) AS counted,
         (SELECT sum(otp_sends) FROM sessions) AS codes, (SELECT sum(usd) FROM otp_spend) AS spent`,
    );
    return row;
  }
}

/** Status, error code and field of an answer. */
export const errorOf = ({ status, code, field }: Answer): unknown[] => [status, code, field];

export const messageOf = ({ json }: Answer): unknown => (json['error'] as { message?: string } | undefined)?.message;

export const retryAfter = ({ headers }: Answer): number => Number(headers['retry-after']);
