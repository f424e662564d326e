import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import type { GuardRule } from './guard-rules.js';

/** Reports the refusals of the guard to the metrics, and failures to record them to the log. */
@Injectable()
export class GuardObserver {
  /** Called with the error when refusals could not be recorded. */
  readonly onError: (error: unknown) => void;

  constructor(
    private readonly metrics: ControlPlaneMetrics,
    failures: FailureLog,
  ) {
    this.onError = failures.about('recording refusals of the toll-fraud guard');
  }

  /** Called for every refusal. */
  onRefused(rule: GuardRule): void {
    this.metrics.countRefusedCode(rule);
  }
}
