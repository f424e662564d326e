/** An expected refusal, as the caller gets it: `{"error":{"code","message","field"?}}`. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}
