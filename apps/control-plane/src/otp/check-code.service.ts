import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../http/errors.js';
import { codeRefusal, NOT_FOUND } from './code-refusals.js';

/** Checks the codes that users type (specification 4.4). */
@Injectable()
export class CheckCodeService {
  constructor(
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
  ) {}

  /** Approves the session if the code is right; returns JSON text. A wrong code counts as an attempt. */
  async checkCode(caller: ApiKeyPrincipal, sessionId: string, code: string): Promise<Outcome<string>> {
    const id = parseId('sess', sessionId);
    if (id === null) return NOT_FOUND;
    const result = await this.sessions.checkCode(caller.tenant, id, code);
    if (result.kind === 'approved') return succeed(this.renderer.checked(result.session));
    return { ok: false, refusal: codeRefusal(result) };
  }
}
