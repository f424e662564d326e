/**
 * The link closed before the response: the outcome is unknown, the peer may or may not have processed the request.
 */
export class LinkClosedError extends Error {
  readonly outcome = 'unknown';
  constructor(reason: string) {
    super(`the link closed before the answer: ${reason}`);
    this.name = 'LinkClosedError';
  }
}

/** No response within the response timer: the outcome is unknown. A later response is ignored. */
export class ResponseTimeoutError extends Error {
  readonly outcome = 'unknown';
  constructor(command: string, waitedMs: number) {
    super(`no answer to ${command} within ${waitedMs} ms`);
    this.name = 'ResponseTimeoutError';
  }
}

/** The response had the right sequence number but could not be decoded: the outcome is unknown. */
export class UnreadableResponseError extends Error {
  readonly outcome = 'unknown';
  constructor(command: string, fault: string) {
    super(`the answer to ${command} cannot be decoded: ${fault}`);
    this.name = 'UnreadableResponseError';
  }
}

/** The request was not sent (not bound, wrong direction, window queue full, draining, field out of limits). */
export class NotSentError extends Error {
  readonly outcome = 'not_sent';
  constructor(reason: string) {
    super(`not sent: ${reason}`);
    this.name = 'NotSentError';
  }
}
