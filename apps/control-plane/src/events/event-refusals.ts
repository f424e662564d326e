import { Injectable } from '@nestjs/common';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import type { EventRefused } from './event-fault.js';

/** Logs and counts events that are not sent. */
@Injectable()
export class EventRefusals {
  private readonly log: (error: unknown) => void;

  constructor(
    private readonly metrics: ControlPlaneMetrics,
    failures: FailureLog,
  ) {
    this.log = failures.about('events: dispatching an event or a delivery');
  }

  onRefused(refused: EventRefused): void {
    this.metrics.countRefusedEvent(refused.fault);
    this.log(refused);
  }
}
