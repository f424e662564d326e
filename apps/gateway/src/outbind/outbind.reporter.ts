import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { LinkMetrics } from '../links/link.metrics.js';
import type { ReceivedOutbind } from '../listener/received-outbind.js';
import type { OutbindRefusal } from './judge-outbind.js';

type Outbind = Pick<ReceivedOutbind, 'systemId' | 'peer'>;

/** Logs and counts the outbinds of carriers. */
@Injectable()
export class OutbindReporter {
  constructor(
    private readonly metrics: LinkMetrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  reportAccepted({ systemId, peer }: Outbind, bind: string): void {
    this.logger.info({ systemId, bind, ...peer }, 'listener: outbind accepted');
  }

  /** `err`: why it could not be decided. */
  reportRefused({ systemId, peer }: Outbind, refusal: OutbindRefusal, err?: unknown): void {
    this.metrics.refusedBinds.inc({ refusal: `outbind_${refusal}` });
    // Only the system_id of a bind can have a wrong password, so peers cannot create label values.
    if (refusal === 'wrong_password') this.metrics.countWrongPassword(systemId);
    this.logger.warn(
      { systemId, ...peer, refusal, ...(err === undefined ? {} : { err }) },
      'listener: outbind refused',
    );
  }
}
