import { Injectable } from '@nestjs/common';
import type { AnsweredRequest } from './answered-request.js';
import { ControlPlaneMetrics } from './control-plane.metrics.js';
import { FailureLog } from './failure-log.js';
import { RequestRecorder, type AnsweredCall } from './request.recorder.js';

/** Reports answered requests to the metrics, to the log and to the logs of accounts. */
@Injectable()
export class AnswerObserver {
  constructor(
    private readonly metrics: ControlPlaneMetrics,
    private readonly failures: FailureLog,
    private readonly recorder: RequestRecorder,
  ) {}

  /** `call` is null without the key of an account. */
  onAnswer(answer: AnsweredRequest, call: AnsweredCall | null): void {
    this.metrics.countAnswer(answer);
    this.failures.logSlowRequest(answer);
    if (call !== null) this.recorder.record(answer, call);
  }
}
