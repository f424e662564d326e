import { Injectable } from '@nestjs/common';
import type { AnsweredRequest } from './answered-request.js';
import { ControlPlaneMetrics } from './control-plane.metrics.js';
import { FailureLog } from './failure-log.js';

/** Reports answered requests to the metrics and to the log. */
@Injectable()
export class AnswerObserver {
  constructor(
    private readonly metrics: ControlPlaneMetrics,
    private readonly failures: FailureLog,
  ) {}

  onAnswer(answer: AnsweredRequest): void {
    this.metrics.countAnswer(answer);
    this.failures.logSlowRequest(answer);
  }
}
