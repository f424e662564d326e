import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { parseId } from '@countersign/ids';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../http/errors.js';
import { codeRefusal, NOT_FOUND } from './code-refusals.js';

/** Tries the codes that users type (specification 4.4). */
@Injectable()
export class CheckCodeService {
  constructor(
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
  ) {}

  /** Approves the session of a right code; the answer is JSON text. A wrong one has cost an attempt. */
  async check(caller: ApiKeyPrincipal, sessionId: string, code: string): Promise<Outcome<string>> {
    const id = parseId('sess', sessionId);
    if (id === null) return NOT_FOUND;
    const result = await this.sessions.checkCode(caller.tenant, id, code);
    if (result.kind === 'approved') return succeed(this.renderer.checked(result.session));
    return { ok: false, refusal: codeRefusal(result) };
  }
}
