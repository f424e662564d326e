import { BegunSignInStore } from '@countersign/accounts/console-sessions';
import { MemberStore, type VerifiedIdentity } from '@countersign/accounts/members';
import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import type { OidcChecks } from './oidc.client.js';
import type { SignIn } from './sign-in.service.js';

/** How long a person may take at the provider. */
export const OIDC_SECONDS = 600;

/** The stores of a sign-in over OpenID Connect. */
@Injectable()
export class OidcRecords {
  constructor(
    private readonly database: Database,
    private readonly begun: BegunSignInStore,
    private readonly members: MemberStore,
    private readonly audit: AuditStore,
  ) {}

  begin(checks: OidcChecks): Promise<string> {
    const state = JSON.stringify(checks);
    return this.begun.begin(this.database, { kind: 'oidc', state, seconds: OIDC_SECONDS });
  }

  async take(token: string): Promise<OidcChecks | null> {
    const state = await this.begun.take(this.database, 'oidc', token);
    return state === null ? null : (JSON.parse(state) as OidcChecks);
  }

  /** The member, who gets the identity with an entry of the audit log if the verified address is all that was known. */
  async identify(tx: Executor, identity: VerifiedIdentity, requestId: string): Promise<SignIn | null> {
    const member = await this.members.identify(tx, identity);
    if (member === null) return null;
    const id = renderId('mbr', member.id);
    const { issuer, subject } = identity;
    if (member.isNew) {
      const after = { oidc: { issuer, subject } };
      await this.audit.append(tx, {
        ...{ actor: id, action: 'link', resource: 'members', resourceId: id, before: { oidc: null }, after, requestId },
      });
    }
    return { memberId: member.id, adminKeyId: null, keyDigests: [], method: 'oidc' };
  }
}
