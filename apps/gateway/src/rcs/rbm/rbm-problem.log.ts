import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../../injection/logger.token.js';
import type { RbmProblem } from './rbm-client.js';

/** Logs why cards are not sent. */
@Injectable()
export class RbmProblemLog {
  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  reportProblem(problem: RbmProblem): void {
    this.logger.error(problem, 'RCS platform refuses cards; check the agent and the service account');
  }

  reportUnconfigured(): void {
    this.logger.info('no RCS platform is configured: sessions fall back to SMS');
  }
}
