import type { Logger } from '@countersign/telemetry';
import type { AnsweredRequest, ErrorLog } from './answered-request.js';

/** Requests that took longer are logged. */
const SLOW_REQUEST_MS = 1_000;
/** During an outage every request fails alike: further lines of the same second are counted and suppressed. */
const MAX_LINES_PER_SECOND = 10;

/** Logs failed and slow requests and failed background work, with a limited number of lines per second. */
export class FailureLog implements ErrorLog {
  private secondStartedMs = 0;
  private lines = 0;
  private suppressed = 0;

  constructor(
    private readonly logger: Logger,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  failed(error: unknown, request: { readonly id: string; readonly method: string; readonly route: string }): void {
    this.write({ err: error, requestId: request.id, method: request.method, route: request.route }, 'request failed');
  }

  logSlowRequest(answer: AnsweredRequest): void {
    if (answer.elapsedMs < SLOW_REQUEST_MS) return;
    const { id, method, route, status, elapsedMs } = answer;
    this.write({ requestId: id, method, route, status, elapsedMs: Math.round(elapsedMs) }, 'request was slow');
  }

  /** Returns an error handler for background work. `what` is the subject of the log line `<what> failed`. */
  about(what: string): (error: unknown) => void {
    return (error) => this.write({ err: error }, `${what} failed`);
  }

  private write(fields: object, message: string): void {
    const nowMs = this.nowMs();
    if (nowMs - this.secondStartedMs >= 1_000) {
      if (this.suppressed > 0) this.logger.error({ suppressed: this.suppressed }, 'further failures were not logged');
      this.secondStartedMs = nowMs;
      this.lines = 0;
      this.suppressed = 0;
    }
    this.lines += 1;
    if (this.lines <= MAX_LINES_PER_SECOND) this.logger.error(fields, message);
    else this.suppressed += 1;
  }
}
