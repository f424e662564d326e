import type { Mode } from '@countersign/keys';

export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** Mode of the caller's API key; `none` without a valid API key. */
  readonly mode: Mode | 'none';
  /** Excludes the waits in `RequestDeadline.pauseWhile`. */
  readonly elapsedMs: number;
}

export interface ErrorLog {
  /** Logs a failure while this request was processed. */
  failed(error: unknown, request: Pick<AnsweredRequest, 'id' | 'method' | 'route'>): void;
}
