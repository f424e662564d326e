/** The link closed while a request was unanswered: its fate is unknown, the peer may or may not have acted on it. */
export class LinkClosedError extends Error {
  readonly fate = 'unknown';
  constructor(reason: string) {
    super(`the link closed before the answer: ${reason}`);
    this.name = 'LinkClosedError';
  }
}

/** No answer within the response timer: the fate is unknown. A later answer is ignored. */
export class ResponseTimeoutError extends Error {
  readonly fate = 'unknown';
  constructor(command: string, waitedMs: number) {
    super(`no answer to ${command} within ${waitedMs} ms`);
    this.name = 'ResponseTimeoutError';
  }
}

/** The response came with the right sequence number and cannot be read: the fate is unknown. */
export class UnreadableResponseError extends Error {
  readonly fate = 'unknown';
  constructor(command: string, fault: string) {
    super(`the answer to ${command} cannot be read: ${fault}`);
    this.name = 'UnreadableResponseError';
  }
}

/** The request never left this process (not bound, wrong direction, window queue full, draining, field out of limits). */
export class NotSentError extends Error {
  readonly fate = 'not_sent';
  constructor(reason: string) {
    super(`not sent: ${reason}`);
    this.name = 'NotSentError';
  }
}
