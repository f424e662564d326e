import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { SessionStore } from '@countersign/session';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { refuse, refuseExpired, succeed, type Outcome } from '../http/errors.js';
import { TicketStore } from './ticket.store.js';
import type { TicketAnswer } from './ticket.view.js';

/** Issues tickets for sessions that GET would return. */
@Injectable()
export class TicketService {
  constructor(
    private readonly sessions: SessionStore,
    private readonly tickets: TicketStore,
    private readonly settings: ControlPlaneSettings,
  ) {}

  async issue({ tenant, keyId }: ApiKeyPrincipal, sessionId: string): Promise<Outcome<TicketAnswer>> {
    const id = parseId('sess', sessionId);
    const session = id === null ? null : await this.sessions.find(tenant, id);
    if (session === null) return refuse('SESSION_NOT_FOUND');
    if (session.status === 'expired') return refuseExpired(session);
    const { ticket, expiresAt } = await this.tickets.issue({ sessionId: session.id, tenant, keyId });
    return succeed({ ticket, expiresAt: expiresAt.toISOString(), url: realtimeUrl(this.settings.publicBaseUrl) });
  }
}

/** `wss://…/v1/realtime` at the service's base URL. */
export const realtimeUrl = (publicBaseUrl: string): string => `${publicBaseUrl.replace(/^http/, 'ws')}/v1/realtime`;
