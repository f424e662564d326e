import { AccountDirectory, type ApiKeyPrincipal, type Brand } from '@countersign/accounts';
import { CarrierDirectory } from '@countersign/carriers';
import { parseId, renderId, type Uuid } from '@countersign/postgres';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { TestNumbers } from '../test-numbers/test-numbers.actor.js';
import { planSession, type SessionPlan } from '../test-numbers/session-plan.js';
import type { CreateVerification } from './create-verification.dto.js';
import type { ListVerifications } from './list-verifications.dto.js';
import { metadataPairs } from './metadata.constraint.js';
import { recentPhoneCheck } from './phone.constraint.js';

/** Creates, shows, lists and cancels verification sessions (specification 4.1, 4.2, 4.5). Refusals come back as values. */
@Injectable()
export class VerifyService {
  constructor(
    private readonly accounts: AccountDirectory,
    private readonly carriers: CarrierDirectory,
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
    private readonly testNumbers: TestNumbers,
  ) {}

  /**
   * A new pending session as JSON text. Checked in the contract's order: account, brand, inbound number. Until rich cards
   * are sent every session falls back to SMS, also one that would prefer a card; only test numbers act one out. With the
   * id of an earlier attempt it is the same session.
   */
  async create(caller: ApiKeyPrincipal, body: CreateVerification, id?: Uuid): Promise<Outcome<string>> {
    const plan = planOf(caller, body);
    if (plan === null) return refuse('INVALID_PHONE', { field: 'phone' });
    if (body.accountId !== renderId('acct', caller.accountId)) {
      return refuse('FORBIDDEN', { message: 'accountId is not the account of this API key.', field: 'accountId' });
    }
    const brand = await this.activeBrand(caller, body.brandId);
    if (brand === null) return refuse('INVALID_BRAND', { field: 'brandId' });
    const inboundNumber = await this.carriers.inboundNumberFor(plan.country, brand.id);
    if (inboundNumber === null) {
      return refuse('INVALID_PHONE', {
        message: 'No inbound number serves the country of this phone.',
        field: 'phone',
      });
    }
    const session = await this.sessions.create(
      {
        accountId: caller.accountId,
        brandId: brand.id,
        phone: body.phone,
        ...plan,
        test: caller.kind === 'test',
        clientChallenge: body.clientChallenge,
        brandSlug: brand.slug,
        brandName: brand.name,
        otpSender: brand.senderId,
        otpDomain: brand.domain,
        instruction: brand.instruction,
        inboundNumber,
        // As a URL parser writes it: what is stored is what is called.
        webhookUrl: body.webhookUrl === undefined ? null : new URL(body.webhookUrl).href,
        ttlSeconds: body.ttl,
        allowSmsOtp: body.allowSmsOtp,
        metadata: metadataPairs(body.metadata),
        entropyKeyVersion: brand.entropyKeyVersion,
      },
      id,
    );
    if (session.test) this.testNumbers.expect();
    return succeed(this.renderer.full(session));
  }

  /** A session as JSON text. An expired one is not found; the message says when it expired. */
  async find(caller: ApiKeyPrincipal, sessionId: string): Promise<Outcome<string>> {
    const id = parseId('sess', sessionId);
    const session = id === null ? null : await this.sessions.find(caller.accountId, id);
    if (session === null) return refuse('SESSION_NOT_FOUND');
    if (session.status === 'expired') {
      return refuse('SESSION_NOT_FOUND', { message: `This session expired at ${session.expiresAt.toISOString()}.` });
    }
    return succeed(this.renderer.full(session));
  }

  /** One page of the account's sessions as JSON text. A page begins after a session of this account, in whatever state. */
  async list({ accountId }: ApiKeyPrincipal, query: ListVerifications): Promise<Outcome<string>> {
    const { status, phone, limit, startingAfter } = query;
    const after = startingAfter === undefined ? undefined : parseId('sess', startingAfter);
    if (after === null || (after !== undefined && (await this.sessions.find(accountId, after)) === null)) {
      const message = 'startingAfter is not the id of a session of this account.';
      return refuse('VALIDATION_ERROR', { message, field: 'startingAfter' });
    }
    const { sessions, hasMore } = await this.sessions.list(accountId, {
      limit: Number(limit),
      ...(status === undefined ? {} : { status }),
      ...(phone === undefined ? {} : { phone: phone.replace(/^ /, '+') }),
      ...(after === undefined ? {} : { startingAfter: after }),
    });
    const data = sessions.map((session) => this.renderer.listed(session)).join(',');
    return succeed(`{"data":[${data}],"hasMore":${hasMore}}`);
  }

  /** Cancels a pending session; one that has ended, by its time too, stays as it is. */
  async cancel(caller: ApiKeyPrincipal, sessionId: string): Promise<Outcome<null>> {
    const id = parseId('sess', sessionId);
    if (id === null || (await this.sessions.cancel(caller.accountId, id)) === 'unknown') {
      return refuse('SESSION_NOT_FOUND');
    }
    return succeed(null);
  }

  /** Another account's brand is not told from none. */
  private async activeBrand(caller: ApiKeyPrincipal, brandId: string): Promise<Brand | null> {
    const id = parseId('brd', brandId);
    const brand = id === null ? null : await this.accounts.brand(id);
    return brand !== null && brand.active && brand.accountId === caller.accountId ? brand : null;
  }
}

function planOf({ kind }: ApiKeyPrincipal, { phone, channel }: CreateVerification): SessionPlan | null {
  const check = recentPhoneCheck(phone);
  return planSession({ test: kind === 'test', phone, channel, country: check.ok ? check.country : null });
}
