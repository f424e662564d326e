import type { ApiKeyPrincipal, Brand } from '@countersign/accounts/accounts';
import { isTestMode } from '@countersign/keys';
import { RenderedIds, type Uuid } from '@countersign/ids';
import { checkPhone } from '@countersign/phone';
import { SessionStore } from '@countersign/session';
import { DEFAULT_ATTEMPT_LIMIT, type Session } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { planSession, type SessionPlan } from '../test-numbers/session-plan.js';
import { TestPhones } from '../test-numbers/test-phones.js';
import type { CreateVerification } from './create-verification.dto.js';
import { BrandLookup } from './brand-lookup.js';
import { metadataPairs } from './metadata.constraint.js';
import { LiveSessions } from './live-sessions.js';

/** A new session and its brand. */
export interface OpenedSession {
  readonly session: Session;
  readonly brand: Brand;
}

/** Checks the request for a session and inserts its row. */
@Injectable()
export class SessionOpener {
  private readonly ids = new RenderedIds();

  constructor(
    private readonly brands: BrandLookup,
    private readonly sessions: SessionStore,
    private readonly live: LiveSessions,
    private readonly testPhones: TestPhones,
    private readonly codeChecks: CodeChecks,
  ) {}

  /**
   * Creates a pending session, `sms_fallback` until a card has arrived. Checks in the contract's order: account, brand,
   * inbound number, live sessions of the phone. With the id of an earlier attempt it returns the same session.
   */
  async createSession(caller: ApiKeyPrincipal, body: CreateVerification, id?: Uuid): Promise<Outcome<OpenedSession>> {
    const plan = planOf(caller, body);
    if (plan === null) return refuse('INVALID_PHONE', { field: 'phone' });
    if (body.accountId !== this.ids.render('acct', caller.tenant.accountId)) {
      return refuse('FORBIDDEN', { message: 'accountId is not the account of this API key.', field: 'accountId' });
    }
    const brand = await this.brands.activeBrand(caller, body.brandId);
    if (brand === null) return refuse('INVALID_BRAND', { field: 'brandId' });
    const inboundNumber = await this.brands.inboundNumberFor(plan.country, brand);
    if (inboundNumber === null) {
      return refuse('INVALID_PHONE', {
        message: 'No inbound number serves the country of this phone.',
        field: 'phone',
      });
    }
    return this.live.open(caller.tenant, body, async () => {
      const session = await this.sessions.create(
        {
          accountId: caller.tenant.accountId,
          brandId: brand.id,
          phone: body.phone,
          country: plan.country,
          channel: plan.channel,
          test: isTestMode(caller.tenant),
          clientChallenge: body.clientChallenge,
          brandSlug: brand.slug,
          brandName: brand.name,
          otpSender: brand.senderId,
          otpDomain: brand.domain,
          instruction: brand.instruction,
          inboundNumber,
          // Normalized by the URL parser, so that the stored URL is the URL that is called.
          webhookUrl: body.webhookUrl === undefined ? null : new URL(body.webhookUrl).href,
          ttlSeconds: body.ttl,
          allowSmsOtp: body.allowSmsOtp,
          metadata: metadataPairs(body.metadata),
          entropyKeyVersion: brand.entropyKeyVersion,
          attemptLimit: await this.attemptLimit(caller, body),
        },
        id,
      );
      if (session.test) this.testPhones.scheduleAnswers();
      return succeed({ session, brand });
    });
  }

  /** Fewer wrong codes while guessing is suspected at the account. A session without codes needs no lookup. */
  private attemptLimit({ tenant }: ApiKeyPrincipal, body: CreateVerification): Promise<number> | number {
    return isTestMode(tenant) || !body.allowSmsOtp
      ? DEFAULT_ATTEMPT_LIMIT
      : this.codeChecks.attemptLimit(tenant.accountId);
  }
}

function planOf({ tenant }: ApiKeyPrincipal, { phone, channel }: CreateVerification): SessionPlan | null {
  const check = checkPhone(phone);
  return planSession({ mode: tenant.mode, phone, channel, country: check.ok ? check.country : null });
}
