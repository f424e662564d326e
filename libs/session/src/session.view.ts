import type { ServerKeys } from '@countersign/keys';
import { renderId } from '@countersign/postgres';
import { authEntropy, type EntropyKeys } from './rules/auth-entropy.js';
import { fallbackText, fallbackUri } from './rules/fallback-uri.js';
import { encodeMetadata } from './rules/metadata.js';
import { deriveToken } from './rules/token.js';
import type { Session } from './session.js';

/**
 * The Session object (specification 2.1) as JSON text, fields in the specification's order. Text and not an object,
 * because metadata goes out verbatim and an object would sort its keys.
 */
export class SessionRenderer {
  constructor(
    private readonly keys: ServerKeys,
    private readonly entropyKeys: EntropyKeys,
  ) {}

  /** As create, GET and webhooks give it; `authEntropy` only when approved. */
  full(session: Session): string {
    const uri = JSON.stringify(this.fallbackUri(session));
    return `{${headOf(session)},"fallbackUri":${uri},${bodyOf(session)}${this.entropyOf(session)}}`;
  }

  /** As event rows hold it: without `authEntropy` and `fallbackUri`, which are not stored in clear. */
  bare(session: Session): string {
    return `{${headOf(session)},${bodyOf(session)}}`;
  }

  /** The `sms:` deep link; null when the card was delivered instead. */
  fallbackUri(session: Session): string | null {
    if (session.channel === 'rcs') return null;
    const token = deriveToken(this.keys, session.id);
    return fallbackUri(session.inboundNumber, fallbackText(session.brandSlug, token, session.instruction));
  }

  /** The session's `authEntropy`, whatever its status: whether it may be shown is the caller's question. */
  authEntropy(session: Session): string {
    const { entropyKeyVersion, phone, accountId, brandId } = session;
    const account = renderId('acct', accountId);
    return authEntropy(this.entropyKeys, entropyKeyVersion, phone, account, renderId('brd', brandId));
  }

  private entropyOf(session: Session): string {
    return session.status === 'approved' ? `,"authEntropy":"${this.authEntropy(session)}"` : '';
  }
}

function headOf(session: Session): string {
  return `"id":"${renderId('sess', session.id)}","status":"${session.status}","channel":"${session.channel}"`;
}

/** Values without JSON.stringify are of a closed alphabet by the time a session exists. */
function bodyOf(session: Session): string {
  const approvedAt = session.status === 'approved' ? session.endedAt : null;
  const latencyMs = approvedAt === null ? null : approvedAt.getTime() - session.createdAt.getTime();
  return [
    `"phone":${JSON.stringify(session.phone)}`,
    `"accountId":"${renderId('acct', session.accountId)}"`,
    `"brandId":"${renderId('brd', session.brandId)}"`,
    `"brandSlug":"${session.brandSlug}"`,
    `"clientChallenge":${JSON.stringify(session.clientChallenge)}`,
    `"latencyMs":${latencyMs ?? 'null'}`,
    `"approvedAt":${approvedAt === null ? 'null' : `"${approvedAt.toISOString()}"`}`,
    `"expiresAt":"${session.expiresAt.toISOString()}"`,
    `"createdAt":"${session.createdAt.toISOString()}"`,
    `"metadata":${encodeMetadata(session.metadata)}`,
  ].join(',');
}
