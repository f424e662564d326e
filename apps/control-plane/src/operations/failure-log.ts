import type { Logger } from '@countersign/telemetry';
import type { ErrorLog } from '../http/error-answers.js';
import type { AnsweredRequest } from '../http/server.js';

/** A request that took longer is worth a line; the others are only counted. */
const SLOW_REQUEST_MS = 1_000;
/** While something is down every request fails alike: so many lines a second say it, the rest are counted. */
const MAX_LINES_PER_SECOND = 10;

/** Log lines about single requests and runs: only for those that failed or were slow, and never a flood of them. */
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

  /** For background work: a hearer of its errors. */
  about(what: string): (error: unknown) => void {
    return (error) => this.write({ err: error }, `${what} failed`);
  }

  private write(fields: object, message: string): void {
    const nowMs = this.nowMs();
    if (nowMs - this.secondStartedMs >= 1_000) {
      if (this.suppressed > 0) this.logger.error({ suppressed: this.suppressed }, 'more of the same was not logged');
      this.secondStartedMs = nowMs;
      this.lines = 0;
      this.suppressed = 0;
    }
    this.lines += 1;
    if (this.lines <= MAX_LINES_PER_SECOND) this.logger.error(fields, message);
    else this.suppressed += 1;
  }
}
