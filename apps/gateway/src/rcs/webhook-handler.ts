import { BatcherFull, DatabaseUnavailable, DataError, type Uuid } from '@countersign/postgres';
import type { NewCardEvent } from '@countersign/cards';
import type { PlatformEvent } from './platform-event.js';
import { readPlatformEvent } from './platform-event.js';
import { isClientToken, isSigned, readWebhookBody, type WebhookBody } from './webhook-body.js';
import { judgeWebhookHead, type HeadVerdict, type WebhookHead } from './webhook-head.js';
import type { RefusalCode } from './webhook-refusal.js';

/** What a POST is answered. */
export type WebhookAnswer =
  | { readonly kind: 'taken' }
  /** The handshake: this text is the whole body. */
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message?: string };

/** What became of a POST, as it is counted. */
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
  /** Its body had not arrived when too many others waited for theirs. */
  | 'evicted';

const FATE_OF = {
  PAYLOAD_TOO_LARGE: 'too_large',
  UNSUPPORTED_MEDIA_TYPE: 'wrong_type',
  UNAUTHORIZED: 'unsigned',
} as const satisfies Partial<Record<RefusalCode, WebhookFate>>;

export interface WebhookHandlerOptions {
  /** Null: nothing can be believed, so nothing is taken. */
  readonly clientToken: string | null;
  readonly recordOf: (event: PlatformEvent) => NewCardEvent;
  /** Stores an event and says whether it is still to be acted on: it may have been there before, or be done with. */
  readonly store: (event: NewCardEvent) => Promise<boolean>;
  /** Told after the commit which events wait to be acted on. Must neither throw nor wait. */
  readonly onStored: (ids: readonly Uuid[]) => void;
  readonly onFate: (fate: WebhookFate, kind: NewCardEvent['kind'] | null) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * What the platform tells, from octets to the answer. An event is answered 200 once it is stored, and acted on after
 * that: anything but 200 makes the platform send it again for days, and holds back the events behind it. So what is
 * signed and cannot be understood is answered 200, too; while nothing can be stored, what comes is asked for again.
 */
export class WebhookHandler {
  constructor(private readonly o: WebhookHandlerOptions) {}

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

  /** Counts a body that could not be read to its end. */
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
      // It would be refused as often as it came.
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
