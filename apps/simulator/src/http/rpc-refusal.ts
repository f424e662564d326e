const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ALREADY_EXISTS',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** An error of the RBM service, as its callers receive it: `{"error":{"code","message","status"}}`. */
export class RpcRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }

  get body(): { error: { code: number; message: string; status: string } } {
    return { error: { code: this.code, message: this.message, status: STATUSES[this.code] ?? 'UNKNOWN' } };
  }
}

export const invalid = (message: string): RpcRefusal => new RpcRefusal(400, message);

export const unreachable = (): RpcRefusal =>
  new RpcRefusal(404, 'The specified phone number cannot be reached by RBM at this time.');
