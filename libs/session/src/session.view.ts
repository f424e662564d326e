import { modeOf, type ServerKeys } from '@countersign/keys';
import { RenderedIds, renderId } from '@countersign/ids';
import { maskPhone } from '@countersign/phone';
import { authEntropy, type EntropyKeys } from './tokens/auth-entropy.js';
import { fallbackText, fallbackUri } from './tokens/fallback-uri.js';
import { encodeMetadata } from './rules/metadata.js';
import { deriveToken } from './tokens/token.js';
import type { PlainSession, Session } from './rules/session.js';

/**
 * The Session object (specification 2.1) as returned to callers. JSON text with fields in the specification's order instead of
 * an object, because metadata is sent verbatim and an object would reorder its keys.
 */
export class SessionRenderer {
  private readonly ids = new RenderedIds();
  private readonly entropyKeys: EntropyKeys;

  constructor(
    private readonly keys: ServerKeys,
    { entropyKeys }: { readonly entropyKeys: EntropyKeys },
  ) {
    this.entropyKeys = entropyKeys;
  }

  /** For create, GET and webhooks; `authEntropy` only when approved. */
  full(session: Session): string {
    const uri = JSON.stringify(this.fallbackUri(session));
    const body = this.bodyOf(session, encodeMetadata(session.metadata));
    return `{${headOf(session)},"fallbackUri":${uri},${body}${this.entropyOf(session)}}`;
  }

  /** For listings: without `authEntropy`. */
  listed(session: Session): string {
    const uri = JSON.stringify(this.fallbackUri(session));
    return `{${headOf(session)},"fallbackUri":${uri},${this.bodyOf(session, encodeMetadata(session.metadata))}}`;
  }

  /** As `listed`, for readers who may not see people's data: the phone masked, no metadata, no link. */
  masked(session: Session): string {
    const body = this.bodyOf({ ...session, phone: maskPhone(session.phone) }, '{}');
    return `{${headOf(session)},"fallbackUri":null,${body}}`;
  }

  /** For a browser with a ticket (contract, Realtime): no phone, no metadata, never `authEntropy`. */
  reduced(session: Session): string {
    const approvedAt = session.status === 'approved' ? session.endedAt : null;
    const latencyMs = approvedAt === null ? null : approvedAt.getTime() - session.createdAt.getTime();
    const times = { expiresAt: session.expiresAt, createdAt: session.createdAt, approvedAt, latencyMs };
    const uri = JSON.stringify(this.fallbackUri(session));
    const body = JSON.stringify(times).slice(1, -1);
    return `{${headOf(session)},"fallbackUri":${uri},${body}${testMark(session)}}`;
  }

  /** The response to an accepted code (specification 4.4). */
  checked(session: Session): string {
    const entropy = this.authEntropy(session);
    return (
      `{"id":"${renderId('sess', session.id)}","status":"${session.status}",` +
      `"phone":${JSON.stringify(session.phone)},"authEntropy":"${entropy}","e2eeKeyShare":"${entropy}"` +
      `${testMark(session)}}`
    );
  }

  /**
   * The `sms:` deep link; null when the card was delivered instead, and when the session's version of the master key
   * is no longer configured: such a session ended long ago, and its token is invalid.
   */
  fallbackUri(session: PlainSession): string | null {
    if (session.channel === 'rcs' || !this.keys.has(session.keyVersion)) return null;
    const token = deriveToken(this.keys, session.id, session.keyVersion);
    return fallbackUri(session.inboundNumber, fallbackText(session.brandSlug, token, session.instruction));
  }

  /** The session's `authEntropy`, whatever its status: the caller decides whether it may be shown. */
  authEntropy(session: PlainSession): string {
    return authEntropy(this.entropyKeys, session.entropyKeyVersion, {
      mode: modeOf(session.test),
      phone: session.phone,
      accountId: this.ids.render('acct', session.accountId),
      brandId: this.ids.render('brd', session.brandId),
    });
  }

  /** Values written without JSON.stringify were validated against a restricted alphabet. */
  private bodyOf(session: PlainSession, metadata: string): string {
    const approvedAt = session.status === 'approved' ? session.endedAt : null;
    const latencyMs = approvedAt === null ? 'null' : String(approvedAt.getTime() - session.createdAt.getTime());
    return (
      `"phone":${JSON.stringify(session.phone)},"accountId":"${this.ids.render('acct', session.accountId)}",` +
      `"brandId":"${this.ids.render('brd', session.brandId)}","brandSlug":"${session.brandSlug}",` +
      `"clientChallenge":${JSON.stringify(session.clientChallenge)},"latencyMs":${latencyMs},` +
      `"approvedAt":${approvedAt === null ? 'null' : `"${approvedAt.toISOString()}"`},` +
      `"expiresAt":"${session.expiresAt.toISOString()}","createdAt":"${session.createdAt.toISOString()}",` +
      `"metadata":${metadata}${testMark(session)}`
    );
  }

  private entropyOf(session: PlainSession): string {
    return session.status === 'approved' ? `,"authEntropy":"${this.authEntropy(session)}"` : '';
  }
}

function headOf(session: PlainSession): string {
  return `"id":"${renderId('sess', session.id)}","status":"${session.status}","channel":"${session.channel}"`;
}

/** `test: true` in every view of a test session; live sessions have no such field (contract, Test keys). */
const testMark = ({ test }: Pick<PlainSession, 'test'>): string => (test ? ',"test":true' : '');
