import { createHash } from 'node:crypto';
import { CarrierDirectory } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import { digestsEqual, SIGN_IN_ACCOUNT_ID, SIGN_IN_TENANT } from '@countersign/keys';
import { checkPhone } from '@countersign/phone';
import { type CheckResult, SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { planSession, type SessionPlan } from '../test-numbers/session-plan.js';
import { SignInBrand } from './sign-in-brand.js';

/** How long a person may take to send the SMS, or to type the code. */
export const SIGN_IN_SECONDS = 300;

/** A verification that a browser has begun. */
export interface BegunVerification {
  readonly sessionId: Uuid;
  /** E.164. */
  readonly phone: string;
  /** The `sms:` link. */
  readonly fallbackUri: string;
  readonly inboundNumber: string;
  readonly expiresAt: Date;
}

/**
 * Verifications of phones that sign in to the console: sessions of the reserved account, bound to the browser's token as a
 * caller of the API binds them (specification 4.7).
 */
@Injectable()
export class SignInVerifications {
  constructor(
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
    private readonly carriers: CarrierDirectory,
    private readonly brand: SignInBrand,
  ) {}

  /** Sends nothing. Null when no number plan contains the phone, or when no inbound number serves its country. */
  async begin(phone: string, token: string): Promise<BegunVerification | null> {
    const plan = planOf(phone);
    if (plan === null) return null;
    const brand = await this.brand.get();
    const inboundNumber = await this.carriers.inboundNumberFor(plan.country, brand.id);
    if (inboundNumber === null) return null;
    const session = await this.sessions.create({
      ...{ accountId: SIGN_IN_ACCOUNT_ID, brandId: brand.id, test: false, channel: 'sms_fallback' },
      ...{ phone, country: plan.country, inboundNumber, clientChallenge: challengeOf(token).toString('hex') },
      ...{ brandSlug: brand.slug, brandName: brand.name, instruction: brand.instruction },
      ...{ otpSender: brand.senderId, otpDomain: brand.domain, entropyKeyVersion: brand.entropyKeyVersion },
      ...{ webhookUrl: null, ttlSeconds: SIGN_IN_SECONDS, allowSmsOtp: true, metadata: [] },
    });
    return this.shown(session);
  }

  /** The verification as its browser sees it. */
  shown(session: Session): BegunVerification {
    const fallbackUri = this.renderer.fallbackUri(session);
    if (fallbackUri === null) throw new Error('a verification of a sign-in has no link');
    const { id: sessionId, phone, inboundNumber, expiresAt } = session;
    return { sessionId, phone, fallbackUri, inboundNumber, expiresAt };
  }

  /** The verification of a browser; null for that of another. */
  async find(id: Uuid, token: string): Promise<Session | null> {
    const session = await this.sessions.find(SIGN_IN_TENANT, id);
    if (session === null) return null;
    return digestsEqual(challengeOf(token), Buffer.from(session.clientChallenge, 'hex')) ? session : null;
  }

  check(id: Uuid, code: string): Promise<CheckResult> {
    return this.sessions.checkCode(SIGN_IN_TENANT, id, code);
  }

  /** Uses an approved verification, once; null for every other. */
  async consume(id: Uuid): Promise<Session | null> {
    const result = await this.sessions.consume(SIGN_IN_TENANT, id);
    return result.kind === 'consumed' ? result.session : null;
  }
}

const challengeOf = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();

function planOf(phone: string): SessionPlan | null {
  const check = checkPhone(phone);
  return planSession({ mode: 'live', phone, channel: 'sms_fallback', country: check.ok ? check.country : null });
}
