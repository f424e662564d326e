import type { Uuid } from '@countersign/ids';
import { BatcherFull, DatabaseUnavailable, DataError } from '@countersign/postgres';
import type { NewCardEvent } from '@countersign/rcs/rules';
import type { PlatformEvent } from './platform-event.js';
import { parsePlatformEvent } from './platform-event.js';
import { isClientToken, isSigned, parseWebhookBody, type WebhookBody } from './webhook-body.js';
import { judgeWebhookHead, type HeadVerdict, type WebhookHead } from './webhook-head.js';
import type { RefusalCode } from './webhook-refusal.js';

/** The answer to a POST. */
export type WebhookAnswer =
  | { readonly kind: 'accepted' }
  /** The handshake: this text is the whole body. */
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message?: string };

/** The result of a POST: the values of the metric's label `fate`. */
export type WebhookResult =
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

const RESULT_OF = {
  PAYLOAD_TOO_LARGE: 'too_large',
  UNSUPPORTED_MEDIA_TYPE: 'wrong_type',
  UNAUTHORIZED: 'unsigned',
} as const satisfies Partial<Record<RefusalCode, WebhookResult>>;

export interface RbmWebhookHandlerOptions {
  /** Null: signatures cannot be checked, so that every POST is refused. */
  readonly clientToken: string | null;
  readonly eventRecordOf: (event: PlatformEvent) => NewCardEvent;
  /** Stores an event. Returns whether it remains to be processed: not a repeat, and not one processed while it was stored. */
  readonly store: (event: NewCardEvent) => Promise<boolean>;
  /** Called after the commit with the ids of events to be processed. Must neither throw nor wait. */
  readonly onStored: (ids: readonly Uuid[]) => void;
  readonly onResult: (result: WebhookResult, kind: NewCardEvent['kind'] | null) => void;
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
  checkHead(head: WebhookHead): HeadVerdict | { readonly kind: 'refuse'; readonly code: 'SERVICE_UNAVAILABLE' } {
    if (this.o.clientToken === null) {
      this.o.onResult('not_set_up', null);
      return { kind: 'refuse', code: 'SERVICE_UNAVAILABLE' };
    }
    const verdict = judgeWebhookHead(head);
    if (verdict.kind === 'refuse') this.o.onResult(RESULT_OF[verdict.code], null);
    return verdict;
  }

  /** Counts a body that was not read to its end. */
  countUnreadBody(result: 'too_large' | 'evicted'): void {
    this.o.onResult(result, null);
  }

  /** Never rejects. */
  async handlePost(octets: Buffer, signature: string | undefined): Promise<WebhookAnswer> {
    const { clientToken } = this.o;
    if (clientToken === null) return this.refuse('not_set_up', 'SERVICE_UNAVAILABLE');
    const body = parseWebhookBody(octets);
    switch (body.kind) {
      case 'unreadable':
        return this.refuse('malformed', 'MALFORMED_REQUEST', body.because);
      case 'handshake':
        return this.answerHandshake(clientToken, body);
      case 'push':
        if (!isSigned(clientToken, body.data, signature)) return this.refuse('unsigned', 'UNAUTHORIZED');
        return this.storeEvent(body.data);
    }
  }

  private answerHandshake(clientToken: string, body: Extract<WebhookBody, { kind: 'handshake' }>): WebhookAnswer {
    if (!isClientToken(clientToken, body.clientToken)) return this.refuse('wrong_token', 'FORBIDDEN');
    this.o.onResult('handshake', null);
    return { kind: 'secret', text: body.secret };
  }

  private async storeEvent(data: Buffer): Promise<WebhookAnswer> {
    const event = parsePlatformEvent(data);
    if (event === null) return this.acceptUnreadable();
    try {
      const record = this.o.eventRecordOf(event);
      const isUnprocessed = await this.o.store(record);
      this.o.onResult('stored', event.kind);
      if (isUnprocessed) this.o.onStored([record.id]);
      return { kind: 'accepted' };
    } catch (error) {
      this.o.onError(error);
      // PostgreSQL would refuse every repeat too.
      if (error instanceof DataError) return this.acceptUnreadable();
      const isUnavailable = error instanceof DatabaseUnavailable || error instanceof BatcherFull;
      return this.refuse('sent_back', isUnavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR');
    }
  }

  private acceptUnreadable(): WebhookAnswer {
    this.o.onResult('unreadable', null);
    return { kind: 'accepted' };
  }

  private refuse(result: WebhookResult, code: RefusalCode, message?: string): WebhookAnswer {
    this.o.onResult(result, null);
    return message === undefined ? { kind: 'refused', code } : { kind: 'refused', code, message };
  }
}
