import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Tenant } from '@countersign/keys';
import { isListPosition, SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { RcsOfferService } from '../cards/rcs-offer.service.js';
import { AccountSlots } from '../http/account-slots.js';
import { refuse, refuseExpired, succeed, type Outcome } from '../http/errors.js';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import type { CreateVerification } from './create-verification.dto.js';
import type { ListVerifications } from './list-verifications.dto.js';
import { SessionOpener } from './session.opener.js';

/**
 * Creates, reads, lists and cancels verification sessions (specification 4.1, 4.2, 4.5). Refusals are returned as values.
 */
@Injectable()
export class VerifyService {
  private readonly listSlots = new AccountSlots('lists');

  constructor(
    private readonly opener: SessionOpener,
    private readonly cards: RcsOfferService,
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
  ) {}

  /**
   * Creates a pending session and returns it as JSON text once it is known whether its card arrived. Sessions of test keys
   * send no card. With the id of an earlier attempt the session and the card are the same.
   */
  async create(
    caller: ApiKeyPrincipal,
    body: CreateVerification,
    pausedWait: PausedWait,
    id?: Uuid,
  ): Promise<Outcome<string>> {
    const opened = await this.opener.createSession(caller, body, id);
    if (!opened.ok) return opened;
    const { session, brand } = opened.value;
    if (session.test || body.channel === 'sms_fallback') return succeed(this.renderer.full(session));
    const { channel, matchCode } = await this.cards.sendCard(session, brand, pausedWait);
    return succeed(withMatchCode(this.renderer.full({ ...session, channel }), matchCode));
  }

  /** A session as JSON text. An expired session is `SESSION_NOT_FOUND`, with the time of its expiry in the message. */
  async find(caller: ApiKeyPrincipal, sessionId: string): Promise<Outcome<string>> {
    const id = parseId('sess', sessionId);
    const session = id === null ? null : await this.sessions.find(caller.tenant, id);
    if (session === null) return refuse('SESSION_NOT_FOUND');
    return session.status === 'expired' ? refuseExpired(session) : succeed(this.renderer.full(session));
  }

  /** One page of the sessions of the account and mode as JSON text. `startingAfter` may name a session in any status. */
  list({ tenant }: ApiKeyPrincipal, query: ListVerifications): Promise<Outcome<string>> {
    return this.listSlots.run(tenant, () => this.listPage(tenant, query, (session) => this.renderer.listed(session)));
  }

  /** As `list`, for readers who may not see people's data, and so may not search for a phone. */
  async listMasked({ tenant }: ApiKeyPrincipal, query: ListVerifications): Promise<Outcome<string>> {
    if (query.phone !== undefined) return NO_SEARCH_BY_PHONE;
    return this.listSlots.run(tenant, () => this.listPage(tenant, query, (session) => this.renderer.masked(session)));
  }

  private async listPage(
    tenant: Tenant,
    query: ListVerifications,
    render: (session: Session) => string,
  ): Promise<Outcome<string>> {
    const { status, phone, limit, startingAfter } = query;
    const after = startingAfter === undefined ? undefined : parseId('sess', startingAfter);
    if (after === null || (after !== undefined && !(await this.mayStartAfter(tenant, after)))) {
      const message = 'startingAfter is not the id of a session that this key may see.';
      return refuse('VALIDATION_ERROR', { message, field: 'startingAfter' });
    }
    const {
      sessions,
      hasMore,
      nextStartingAfter: next,
    } = await this.sessions.list(tenant, {
      limit: Number(limit),
      ...(status === undefined ? {} : { status }),
      ...(phone === undefined ? {} : { phone: phone.replace(/^ /, '+') }),
      ...(after === undefined ? {} : { startingAfter: after }),
    });
    const data = sessions.map(render).join(',');
    const position = next === undefined ? '' : `,"nextStartingAfter":"${renderId('sess', next)}"`;
    return succeed(`{"data":[${data}],"hasMore":${hasMore}${position}}`);
  }

  /** A page begins after a session that the key may see, or at a position that an earlier page named. */
  private async mayStartAfter(tenant: Tenant, id: Uuid): Promise<boolean> {
    return isListPosition(id) || (await this.sessions.find(tenant, id)) !== null;
  }

  /** Cancels a pending session. A session that has ended or expired stays as it is. */
  async cancel(caller: ApiKeyPrincipal, sessionId: string): Promise<Outcome<null>> {
    const id = parseId('sess', sessionId);
    if (id === null || (await this.sessions.cancel(caller.tenant, id)) === 'unknown') {
      return refuse('SESSION_NOT_FOUND');
    }
    return succeed(null);
  }

  /** Marks an approved session as used and returns it as JSON text. A second call is refused. */
  async consume(caller: ApiKeyPrincipal, sessionId: string): Promise<Outcome<string>> {
    const id = parseId('sess', sessionId);
    const result = id === null ? null : await this.sessions.consume(caller.tenant, id);
    if (result === null || result.kind === 'not_found') return refuse('SESSION_NOT_FOUND');
    if (result.kind === 'consumed_before') return refuse('SESSION_CONSUMED');
    const { session } = result;
    if (result.kind === 'consumed') return succeed(this.renderer.full(session));
    if (session.status === 'expired') return refuseExpired(session);
    return refuse('SESSION_NOT_APPROVED', { message: `This session is ${session.status}, not approved.` });
  }
}

const NO_SEARCH_BY_PHONE = refuse('FORBIDDEN', { message: 'The role viewer may not use the parameter phone.' });

/** Adds the number that the browser shows; only the answer of create may have it (contract, RCS in short). */
const withMatchCode = (session: string, matchCode: string | null): string =>
  matchCode === null ? session : `${session.slice(0, -1)},"matchCode":"${matchCode}"}`;
