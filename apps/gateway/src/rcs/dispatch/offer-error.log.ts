import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { throttled } from '@countersign/resilience';
import { LOGGER } from '../../injection/logger.token.js';

/** Logs failed claims of offers and failed records of sends together, at most one a second. */
@Injectable()
export class OfferErrorLog {
  readonly report = throttled((err) =>
    this.logger.warn({ err }, 'RCS offer dispatcher: offers could not be claimed or outcomes not recorded'),
  );

  constructor(@Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>) {}
}
