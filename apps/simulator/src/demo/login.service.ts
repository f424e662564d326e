import { randomBytes } from 'node:crypto';
import {
  ApiError,
  type CountersignClient,
  CountersignError,
  type CreateSession,
  InvalidCodeError,
  verifySecret,
} from '@countersign/sdk';
import type { Fault } from './advice.js';
import {
  codeAccepted,
  codeSent,
  codeWaits,
  codeWrong,
  decide,
  isOverdue,
  judge,
  type Login,
  openLogin,
  type SessionFacts,
  applySession,
} from './login.js';
import type { LoginStore } from './login.store.js';

/** The operations of the service that the shop uses. */
export type Verifier = Pick<CountersignClient, 'create' | 'find' | 'cancel' | 'sendSms' | 'check'>;

/** The fields that all sessions of the shop have. */
export interface ShopIdentity {
  readonly accountId: string;
  readonly brandId: string;
  readonly webhookUrl: string;
}

export interface LoginServiceOptions {
  readonly verifier: Verifier;
  readonly shop: ShopIdentity;
  readonly store: LoginStore;
  readonly now: () => number;
}

export interface LoginRequest {
  readonly phone: string;
  readonly challenge: string;
  /** `sms_fallback` sends no card. */
  readonly channel?: 'sms_fallback' | undefined;
}

export type Answer<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly fault: Fault };

const answer = <Value>(value: Value): Answer<Value> => ({ ok: true, value });
const refusal = (fault: Fault): Answer<never> => ({ ok: false, fault });
const GONE: Fault = { code: 'LOGIN_NOT_FOUND' };
const FULL: Fault = { code: 'TOO_MANY_LOGINS', retryAfterSeconds: 60 };
const LOGIN_ID_OCTETS = 18;

/** The shop's backend: opens sessions, receives their results and signs browsers in (specification 4.7). */
export class LoginService {
  readonly #asking = new Map<string, Promise<void>>();

  constructor(private readonly options: LoginServiceOptions) {}

  get store(): LoginStore {
    return this.options.store;
  }

  async start(request: LoginRequest): Promise<Answer<Login>> {
    const { store, now } = this.options;
    if (!store.hasRoom(now())) return refusal(FULL);
    return this.#asked(async () => {
      const session = await this.#create(request);
      const login = openLogin(randomBytes(LOGIN_ID_OCTETS).toString('base64url'), session, now());
      return store.add(login, now()) ? answer(login) : refusal(FULL);
    });
  }

  async sendCode(id: string): Promise<Answer<Login>> {
    return this.#onLogin(id, async ({ sessionId }) => {
      try {
        await this.options.verifier.sendSms(sessionId);
      } catch (error) {
        const { retryAfterSeconds } = faultOf(error);
        const until = this.options.now() + (retryAfterSeconds ?? 0) * 1_000;
        this.store.change(id, (login) => codeWaits(login, until));
        throw error;
      }
      return this.store.change(id, (login) => codeSent(login, this.options.now()));
    });
  }

  async checkCode(id: string, code: string): Promise<Answer<Login>> {
    return this.#onLogin(id, async ({ sessionId }) => {
      try {
        await this.options.verifier.check(sessionId, code);
      } catch (error) {
        const { attemptsRemaining } = faultOf(error);
        if (attemptsRemaining !== undefined) this.store.change(id, (login) => codeWrong(login, attemptsRemaining));
        throw error;
      }
      return this.store.change(id, codeAccepted);
    });
  }

  /**
   * The person cancels or starts again another way. The session is cancelled at the service; if that fails, it expires.
   */
  async cancel(id: string): Promise<Answer<Login>> {
    return this.#onLogin(id, async ({ sessionId }) => {
      await this.options.verifier.cancel(sessionId);
      return this.store.change(id, (login) => decide(login, 'cancelled'));
    });
  }

  /** Signs in the browser that presents the secret, if the service now reports the session as approved. */
  async enter(id: string, secret: string): Promise<Answer<Login>> {
    return this.#onLogin(id, async ({ sessionId }) => {
      // Null: an expired session is not found (specification 4.2).
      const session = await this.options.verifier.find(sessionId);
      const matches = session !== null && (await verifySecret(secret, session.clientChallenge));
      const judgement = judge(session, matches);
      if (session !== null) this.#applyToLogin(id, session);
      if (judgement === 'other_browser') throw new SignInRefused({ code: 'OTHER_BROWSER' });
      if (judgement === 'pending') throw new SignInRefused({ code: 'NOT_APPROVED' });
      // A session signs in only once.
      if (this.store.find(id)?.phase === 'signed_in') throw new SignInRefused(GONE);
      return this.store.change(id, (login) => decide(login, judgement));
    });
  }

  /** Applies a verified webhook. Sessions of other users of the account are ignored. */
  applyWebhook(session: Pick<SessionFacts, 'id' | 'status' | 'latencyMs'>): void {
    const login = this.store.findBySession(session.id);
    if (login !== null) this.#applyToLogin(login.id, session);
  }

  /** Polls the service for a waiting login, one request at a time: webhooks may be late or lost. */
  async refresh(id: string): Promise<void> {
    const asking = this.#asking.get(id) ?? this.#refresh(id).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asking);
    return asking;
  }

  async #refresh(id: string): Promise<void> {
    const login = this.store.find(id);
    if (login?.phase !== 'waiting') return;
    try {
      const session = await this.options.verifier.find(login.sessionId);
      if (session === null) this.store.change(id, (current) => decide(current, 'expired'));
      else this.#applyToLogin(id, session);
    } catch {
      // The service is unreachable: the next poll, or the deadline, decides.
      if (isOverdue(login, this.options.now())) this.store.change(id, (current) => decide(current, 'expired'));
    }
  }

  #applyToLogin(id: string, session: Pick<SessionFacts, 'status' | 'latencyMs'>): void {
    this.store.change(id, (login) => applySession(login, session));
  }

  /** Where webhooks to this machine are not allowed, the shop only polls. */
  async #create({ phone, challenge, channel }: LoginRequest): Promise<SessionFacts> {
    const { verifier, shop } = this.options;
    const { accountId, brandId, webhookUrl } = shop;
    const session: CreateSession = {
      phone,
      accountId,
      brandId,
      clientChallenge: challenge,
      ...(channel === undefined ? {} : { channel }),
    };
    try {
      return await verifier.create({ ...session, webhookUrl });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'INVALID_WEBHOOK_URL') throw error;
      return verifier.create(session);
    }
  }

  async #onLogin(id: string, act: (login: Login) => Promise<Login | null>): Promise<Answer<Login>> {
    const login = this.store.find(id);
    if (login === null) return refusal(GONE);
    return this.#asked(async () => {
      const after = await act(login);
      return after === null ? refusal(GONE) : answer(after);
    });
  }

  async #asked(ask: () => Promise<Answer<Login>>): Promise<Answer<Login>> {
    try {
      return await ask();
    } catch (error) {
      return refusal(faultOf(error));
    }
  }
}

/** The sign-in was refused, as opposed to a failure. */
class SignInRefused extends Error {
  constructor(readonly fault: Fault) {
    super(fault.code);
  }
}

/** Rethrows anything but an error of the service or of the connection to it. */
function faultOf(error: unknown): Fault {
  if (error instanceof SignInRefused) return error.fault;
  if (error instanceof ApiError) {
    const attemptsRemaining = error instanceof InvalidCodeError ? error.attemptsRemaining : undefined;
    return { code: error.code, retryAfterSeconds: error.retryAfterSeconds, attemptsRemaining };
  }
  if (error instanceof CountersignError) return { code: 'UNREACHABLE' };
  throw error;
}
