import {
  type ApiError,
  ConnectionError,
  createChallenge,
  type CreatedSession,
  type CreateSession,
  InvalidCodeError,
  InvalidRequestError,
  LimitError,
  type Session,
} from '@countersign/sdk';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Login } from './login.js';
import { LoginStore } from './login.store.js';
import { type Answer, LoginService, type Verifier } from './login.service.js';

const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const PHONE = '+14155552671';

/** A service with one session, whose answers the test sets. */
class ServiceOfOne implements Verifier {
  session: Session | null = null;
  readonly asked: CreateSession[] = [];
  finds = 0;
  refuseCreate: ApiError | ConnectionError | null = null;
  refuseSend: ApiError | null = null;
  refuseCheck: ApiError | null = null;
  away = false;

  create(request: CreateSession): Promise<CreatedSession> {
    this.asked.push(request);
    const refusal = this.refuseCreate;
    if (refusal !== null && (!isWebhookFault(refusal) || request.webhookUrl !== undefined))
      return Promise.reject(refusal);
    const created: CreatedSession = {
      id: 'sess_0',
      status: 'pending',
      channel: 'sms_fallback',
      fallbackUri: 'sms:+14155550199?body=AUTH',
      phone: request.phone,
      accountId: request.accountId,
      brandId: request.brandId,
      brandSlug: 'ACME',
      clientChallenge: request.clientChallenge,
      createdAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-01-01T00:01:30.000Z',
      metadata: {},
      latencyMs: null,
      approvedAt: null,
    };
    this.session = created;
    return Promise.resolve(created);
  }

  find(): Promise<Session | null> {
    this.finds += 1;
    return this.away ? Promise.reject(new ConnectionError('no answer')) : Promise.resolve(this.session);
  }

  cancel(): Promise<void> {
    return Promise.resolve();
  }

  sendSms(): Promise<{ success: true; message: string; phone: string }> {
    if (this.refuseSend !== null) return Promise.reject(this.refuseSend);
    return Promise.resolve({ success: true, message: '', phone: PHONE });
  }

  check(): ReturnType<Verifier['check']> {
    if (this.refuseCheck !== null) return Promise.reject(this.refuseCheck);
    const entropy = 'e'.repeat(64);
    return Promise.resolve({
      id: 'sess_0',
      status: 'approved',
      phone: PHONE,
      authEntropy: entropy,
      e2eeKeyShare: entropy,
    });
  }

  end(status: 'approved' | 'denied' | 'cancelled'): void {
    if (this.session === null) throw new Error('no session');
    const session = this.session;
    this.session =
      status === 'approved'
        ? { ...session, status, latencyMs: 1_500, approvedAt: session.createdAt, authEntropy: 'e'.repeat(64) }
        : { ...session, status, latencyMs: null, approvedAt: null };
  }
}

const isWebhookFault = (error: Error): boolean => 'code' in error && error.code === 'INVALID_WEBHOOK_URL';

let now: number;
let service: ServiceOfOne;
let logins: LoginService;

const valueOf = (answer: Answer<Login>): Login => {
  if (!answer.ok) throw new Error(answer.fault.code);
  return answer.value;
};
const codeOf = (answer: Answer<Login>): string => (answer.ok ? answer.value.phase : answer.fault.code);
const open = async (challenge = 'c'.repeat(64)): Promise<Login> =>
  valueOf(await logins.start({ phone: PHONE, challenge }));

beforeEach(() => {
  now = NOW;
  service = new ServiceOfOne();
  logins = new LoginService({
    verifier: service,
    shop: { accountId: 'acct_0', brandId: 'brd_0', webhookUrl: 'http://127.0.0.1:8090/demo/webhook' },
    store: new LoginStore(2),
    now: () => now,
  });
});

describe('a start', () => {
  it('opens a session with the hash from the browser and the webhook URL of the shop', async () => {
    const login = await open();
    expect(login).toMatchObject({ phase: 'waiting', phone: PHONE });
    expect(service.asked).toEqual([
      {
        phone: PHONE,
        accountId: 'acct_0',
        brandId: 'brd_0',
        clientChallenge: 'c'.repeat(64),
        webhookUrl: 'http://127.0.0.1:8090/demo/webhook',
      },
    ]);
  });

  it('opens a session without a webhook where webhooks to this machine are not allowed', async () => {
    service.refuseCreate = new InvalidRequestError('INVALID_WEBHOOK_URL', { status: 422, message: '' });
    expect(await open()).toMatchObject({ phase: 'waiting' });
    expect(service.asked.map(({ webhookUrl }) => webhookUrl !== undefined)).toEqual([true, false]);
  });

  it('is refused with the error of the service, or with the lack of an answer', async () => {
    service.refuseCreate = new InvalidRequestError('INVALID_PHONE', { status: 422, message: '' });
    expect(codeOf(await logins.start({ phone: PHONE, challenge: '' }))).toBe('INVALID_PHONE');
    service.refuseCreate = new ConnectionError('no answer');
    expect(codeOf(await logins.start({ phone: PHONE, challenge: '' }))).toBe('UNREACHABLE');
  });

  it('asks the service for nothing while the book is full', async () => {
    await open();
    await open();
    expect(codeOf(await logins.start({ phone: PHONE, challenge: '' }))).toBe('TOO_MANY_LOGINS');
    expect(service.asked).toHaveLength(2);
  });
});

describe('the sign-in', () => {
  it('succeeds for the browser with the secret, once the session is approved, and one time', async () => {
    const { secret, challenge } = await createChallenge();
    const { id } = await open(challenge);
    expect(codeOf(await logins.enter(id, secret))).toBe('NOT_APPROVED');
    service.end('approved');
    expect(codeOf(await logins.enter(id, secret))).toBe('signed_in');
    expect(codeOf(await logins.enter(id, secret))).toBe('LOGIN_NOT_FOUND');
  });

  it('succeeds for one of two concurrent attempts', async () => {
    const { secret, challenge } = await createChallenge();
    const { id } = await open(challenge);
    service.end('approved');
    const both = await Promise.all([logins.enter(id, secret), logins.enter(id, secret)]);
    expect(both.map(codeOf).sort()).toEqual(['LOGIN_NOT_FOUND', 'signed_in']);
  });

  it('is refused to another browser, and succeeds for the right one after that', async () => {
    const [mine, other] = [await createChallenge(), await createChallenge()];
    const { id } = await open(mine.challenge);
    service.end('approved');
    expect(codeOf(await logins.enter(id, other.secret))).toBe('OTHER_BROWSER');
    expect(codeOf(await logins.enter(id, mine.secret))).toBe('signed_in');
  });

  it('stays shut when a webhook said approved and the service, asked now, does not', async () => {
    const { secret, challenge } = await createChallenge();
    const { id } = await open(challenge);
    logins.applyWebhook({ id: 'sess_0', status: 'approved', latencyMs: 10 });
    expect(logins.store.find(id)?.phase).toBe('approved');
    expect(codeOf(await logins.enter(id, secret))).toBe('NOT_APPROVED');
  });

  it.each(['denied', 'cancelled'] as const)('stays shut when the session is %s', async (status) => {
    const { secret, challenge } = await createChallenge();
    const { id } = await open(challenge);
    service.end(status);
    expect(codeOf(await logins.enter(id, secret))).toBe(status);
  });
});

describe('the verdict', () => {
  it('comes by webhook, also of sessions that are not the shop’s', async () => {
    const { id } = await open();
    logins.applyWebhook({ id: 'sess_1', status: 'approved' });
    expect(logins.store.find(id)?.phase).toBe('waiting');
    logins.applyWebhook({ id: 'sess_0', status: 'denied' });
    expect(logins.store.find(id)?.phase).toBe('denied');
  });

  it('comes by asking, once at a time, while the login waits', async () => {
    const { id } = await open();
    service.end('approved');
    await Promise.all([logins.refresh(id), logins.refresh(id)]);
    expect(logins.store.find(id)).toMatchObject({ phase: 'approved', latencyMs: 1_500 });
    expect(service.finds).toBe(1);
    await logins.refresh(id);
    expect(service.finds).toBe(1);
  });

  it('is expired when there is no session any more', async () => {
    const { id } = await open();
    service.session = null;
    await logins.refresh(id);
    expect(logins.store.find(id)?.phase).toBe('expired');
  });

  it('expires some time after its end when the service cannot be reached', async () => {
    const { id } = await open();
    service.away = true;
    now = NOW + 91_000;
    await logins.refresh(id);
    expect(logins.store.find(id)?.phase).toBe('waiting');
    now = NOW + 120_000;
    await logins.refresh(id);
    expect(logins.store.find(id)?.phase).toBe('expired');
  });
});

describe('a code', () => {
  it('is sent, and approves when it is right', async () => {
    const { id } = await open();
    expect(valueOf(await logins.sendCode(id)).code).toMatchObject({ sends: 1, resendAt: NOW + 30_000 });
    expect(valueOf(await logins.checkCode(id, '123456'))).toMatchObject({
      phase: 'approved',
      code: { accepted: true },
    });
  });

  it('that is wrong costs an attempt', async () => {
    const { id } = await open();
    service.refuseCheck = new InvalidCodeError('INVALID_CODE', { status: 422, message: '', attemptsRemaining: 3 });
    expect(await logins.checkCode(id, '123456')).toMatchObject({
      fault: { code: 'INVALID_CODE', attemptsRemaining: 3 },
    });
    expect(logins.store.find(id)?.code.attemptsLeft).toBe(3);
  });

  it('that may not be sent yet is offered again when it may', async () => {
    const { id } = await open();
    service.refuseSend = new LimitError('RATE_LIMITED', { status: 429, message: '', retryAfterSeconds: 12 });
    expect(await logins.sendCode(id)).toMatchObject({ fault: { code: 'RATE_LIMITED', retryAfterSeconds: 12 } });
    expect(logins.store.find(id)?.code).toMatchObject({ sends: 0, resendAt: NOW + 12_000 });
  });
});

it('a login that was cancelled is over', async () => {
  const { id } = await open();
  expect(codeOf(await logins.cancel(id))).toBe('cancelled');
});

it('nothing is done for a login that the shop does not know', async () => {
  const answers = [logins.sendCode('x'), logins.checkCode('x', '123456'), logins.cancel('x'), logins.enter('x', 's')];
  expect((await Promise.all(answers)).map(codeOf)).toEqual(answers.map(() => 'LOGIN_NOT_FOUND'));
});
