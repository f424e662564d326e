import type { Uuid } from '@countersign/ids';
import { BatcherFull, DatabaseUnavailable, DataError } from '@countersign/postgres';
import type { NewCardEvent } from '@countersign/rcs/rules';
import type { PlatformEvent } from './platform-event.js';
import { readPlatformEvent } from './platform-event.js';
import { isClientToken, isSigned, readWebhookBody, type WebhookBody } from './webhook-body.js';
import { judgeWebhookHead, type HeadVerdict, type WebhookHead } from './webhook-head.js';
import type { RefusalCode } from './webhook-refusal.js';

/** The answer to a POST. */
export type WebhookAnswer =
  | { readonly kind: 'taken' }
  /** The handshake: this text is the whole body. */
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message?: string };

/** The outcome of a POST, as it is counted. */
export type WebhookFate =
  | 'stored'
  | 'unreadable'
  | 'handshake'
  | 'malformed'
  | 'unsigned'
  | 'wrong_token'
  | 'sent_back'
  | 'not_set_up'
  /** Refused by its headers, or by the length of its body. */
  | 'too_large'
  | 'wrong_type'
  /** Its body had not arrived when a newer request exceeded the limit of bodies being read. */
  | 'evicted';

const FATE_OF = {
  PAYLOAD_TOO_LARGE: 'too_large',
  UNSUPPORTED_MEDIA_TYPE: 'wrong_type',
  UNAUTHORIZED: 'unsigned',
} as const satisfies Partial<Record<RefusalCode, WebhookFate>>;

export interface RbmWebhookHandlerOptions {
  /** Null: signatures cannot be checked, so that every POST is refused. */
  readonly clientToken: string | null;
  readonly recordOf: (event: PlatformEvent) => NewCardEvent;
  /** Stores an event. Returns whether it remains to be processed: not a repeat, and not one processed while it was stored. */
  readonly store: (event: NewCardEvent) => Promise<boolean>;
  /** Called after the commit with the ids of events to be processed. Must neither throw nor wait. */
  readonly onStored: (ids: readonly Uuid[]) => void;
  readonly onFate: (fate: WebhookFate, kind: NewCardEvent['kind'] | null) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Handles posts of the RCS platform, from the headers to the answer. An event is answered 200 once it is stored, and
 * processed after that: any other status makes the platform repeat it for days and delays the events after it. Therefore
 * a signed event that cannot be read is answered 200 too, and only a failure to store one asks for a repeat.
 */
export class RbmWebhookHandler {
  constructor(private readonly o: RbmWebhookHandlerOptions) {}

  /** Decides by the headers whether the body is read. A refusal is counted. */
  judgeHead(head: WebhookHead): HeadVerdict | { readonly kind: 'refuse'; readonly code: 'SERVICE_UNAVAILABLE' } {
    if (this.o.clientToken === null) {
      this.o.onFate('not_set_up', null);
      return { kind: 'refuse', code: 'SERVICE_UNAVAILABLE' };
    }
    const verdict = judgeWebhookHead(head);
    if (verdict.kind === 'refuse') this.o.onFate(FATE_OF[verdict.code], null);
    return verdict;
  }

  /** Counts a body that was not read to its end. */
  countUnread(fate: 'too_large' | 'evicted'): void {
    this.o.onFate(fate, null);
  }

  /** Never rejects. */
  async take(octets: Buffer, signature: string | undefined): Promise<WebhookAnswer> {
    const { clientToken } = this.o;
    if (clientToken === null) return this.refuse('not_set_up', 'SERVICE_UNAVAILABLE');
    const body = readWebhookBody(octets);
    switch (body.kind) {
      case 'unreadable':
        return this.refuse('malformed', 'MALFORMED_REQUEST', body.because);
      case 'handshake':
        return this.shakeHands(clientToken, body);
      case 'push':
        if (!isSigned(clientToken, body.data, signature)) return this.refuse('unsigned', 'UNAUTHORIZED');
        return this.store(body.data);
    }
  }

  private shakeHands(clientToken: string, body: Extract<WebhookBody, { kind: 'handshake' }>): WebhookAnswer {
    if (!isClientToken(clientToken, body.clientToken)) return this.refuse('wrong_token', 'FORBIDDEN');
    this.o.onFate('handshake', null);
    return { kind: 'secret', text: body.secret };
  }

  private async store(data: Buffer): Promise<WebhookAnswer> {
    const event = readPlatformEvent(data);
    if (event === null) return this.passOver();
    try {
      const record = this.o.recordOf(event);
      const waits = await this.o.store(record);
      this.o.onFate('stored', event.kind);
      if (waits) this.o.onStored([record.id]);
      return { kind: 'taken' };
    } catch (error) {
      this.o.onError(error);
      // PostgreSQL would refuse every repeat too.
      if (error instanceof DataError) return this.passOver();
      const away = error instanceof DatabaseUnavailable || error instanceof BatcherFull;
      return this.refuse('sent_back', away ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR');
    }
  }

  private passOver(): WebhookAnswer {
    this.o.onFate('unreadable', null);
    return { kind: 'taken' };
  }

  private refuse(fate: WebhookFate, code: RefusalCode, message?: string): WebhookAnswer {
    this.o.onFate(fate, null);
    return message === undefined ? { kind: 'refused', code } : { kind: 'refused', code, message };
  }
}
