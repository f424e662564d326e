import { Inject, Injectable } from '@nestjs/common';
import { BatcherFull, DatabaseUnavailable, DataError } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { throttled } from '@countersign/resilience';
import { LOGGER } from '../../injection/logger.token.js';
import { RcsMetrics } from '../rcs.metrics.js';
import { PlatformEventReceiver } from './platform-event.receiver.js';
import { parsePlatformEvent } from './platform-event.js';
import { isClientToken, isSigned, parseWebhookBody, type WebhookBody } from './webhook-body.js';
import { judgeWebhookHead, type HeadVerdict, type WebhookHead } from './webhook-head.js';
import type { RefusalCode } from './webhook-refusal.js';
import type { WebhookResult } from './webhook-result.js';

/** The answer to a POST. */
export type WebhookAnswer =
  | { readonly kind: 'accepted' }
  /** The handshake: this text is the whole body. */
  | { readonly kind: 'secret'; readonly text: string }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message?: string };

const RESULT_OF = {
  PAYLOAD_TOO_LARGE: 'too_large',
  UNSUPPORTED_MEDIA_TYPE: 'wrong_type',
  UNAUTHORIZED: 'unsigned',
} as const satisfies Partial<Record<RefusalCode, WebhookResult>>;

/**
 * Handles posts of the RCS platform, from the headers to the answer. An event is answered 200 once it is stored, and
 * processed after that: any other status makes the platform repeat it for days and delays the events after it. Therefore
 * a signed event that cannot be read is answered 200 too, and only a failure to store one asks for a repeat.
 */
@Injectable()
export class RbmWebhookHandler {
  /** Null: signatures cannot be checked, so that every POST is refused. */
  private readonly clientToken: string | null;
  private readonly report = throttled((err) => this.logger.error({ err }, 'RCS webhook: event could not be stored'));

  constructor(
    @Inject(GatewaySettings) settings: Pick<GatewaySettings, 'rbmClientToken'>,
    @Inject(PlatformEventReceiver) private readonly events: Pick<PlatformEventReceiver, 'storeEvent'>,
    @Inject(RcsMetrics) private readonly metrics: Pick<RcsMetrics, 'countWebhook'>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
  ) {
    this.clientToken = settings.rbmClientToken;
  }

  /** Decides by the headers whether the body is read. A refusal is counted. */
  checkHead(head: WebhookHead): HeadVerdict | { readonly kind: 'refuse'; readonly code: 'SERVICE_UNAVAILABLE' } {
    if (this.clientToken === null) {
      this.metrics.countWebhook('not_set_up', null);
      return { kind: 'refuse', code: 'SERVICE_UNAVAILABLE' };
    }
    const verdict = judgeWebhookHead(head);
    if (verdict.kind === 'refuse') this.metrics.countWebhook(RESULT_OF[verdict.code], null);
    return verdict;
  }

  /** Counts a body that was not read to its end. */
  countUnreadBody(result: 'too_large' | 'evicted'): void {
    this.metrics.countWebhook(result, null);
  }

  /** Never rejects. */
  async handlePost(octets: Buffer, signature: string | undefined): Promise<WebhookAnswer> {
    const { clientToken } = this;
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
    this.metrics.countWebhook('handshake', null);
    return { kind: 'secret', text: body.secret };
  }

  private async storeEvent(data: Buffer): Promise<WebhookAnswer> {
    const event = parsePlatformEvent(data);
    if (event === null) return this.acceptUnreadable();
    try {
      await this.events.storeEvent(event);
      this.metrics.countWebhook('stored', event.kind);
      return { kind: 'accepted' };
    } catch (error) {
      this.report(error);
      // PostgreSQL would refuse every repeat too.
      if (error instanceof DataError) return this.acceptUnreadable();
      const isUnavailable = error instanceof DatabaseUnavailable || error instanceof BatcherFull;
      return this.refuse('sent_back', isUnavailable ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR');
    }
  }

  private acceptUnreadable(): WebhookAnswer {
    this.metrics.countWebhook('unreadable', null);
    return { kind: 'accepted' };
  }

  private refuse(result: WebhookResult, code: RefusalCode, message?: string): WebhookAnswer {
    this.metrics.countWebhook(result, null);
    return message === undefined ? { kind: 'refused', code } : { kind: 'refused', code, message };
  }
}
