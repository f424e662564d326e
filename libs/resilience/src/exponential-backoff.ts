/** Relative jitter of waits, in both directions, so that simultaneous failures do not retry simultaneously. */
export const JITTER_SHARE = 0.2;

/** After this many doublings every cap has been reached. */
const MAX_DOUBLINGS = 16;

/** The first wait, doubled each time up to the cap. `times`: number of the wait, from 1. */
export const doubledMs = (firstMs: number, capMs: number, times: number): number =>
  Math.min(capMs, firstMs * 2 ** Math.min(Math.max(0, times - 1), MAX_DOUBLINGS));

/** `random` is in [0, 1). */
export const withJitterMs = (ms: number, random: number): number =>
  Math.round(ms * (1 - JITTER_SHARE + 2 * JITTER_SHARE * random));
