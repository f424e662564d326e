import { Inject, Injectable } from '@nestjs/common';
import { Metrics, type Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';

/** Logs errors of the connections to PostgreSQL and Redis. */
@Injectable()
export class ConnectionErrors {
  private readonly lostWakeups;

  constructor(
    metrics: Metrics,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.lostWakeups = metrics.counter({
      name: 'wakeups_lost_total',
      help: 'Reports of lost job notifications, at most one a second; the poll finds the due rows.',
    });
  }

  readonly onIdleConnectionLost = (err: unknown): void => this.logger.warn({ err }, 'database: idle connection lost');

  readonly onClockError = (err: unknown): void => this.logger.warn({ err }, 'database clock could not be read');

  readonly onBusError = (err: unknown): void => this.logger.warn({ err }, 'bus unreachable, or a message was lost');

  readonly onLostNotification = (err: unknown): void => {
    this.lostWakeups.inc();
    this.logger.warn({ err }, 'job notifier: notification lost; the poll will find the due rows');
  };

  /** While Redis is unreachable a queue emits many errors a second; the job notifier reports lost notifications. */
  readonly onQueueError = (err: unknown): void => this.logger.debug({ err }, 'queue connection error');
}
