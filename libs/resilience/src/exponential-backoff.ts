/** Waits are spread by this share, up and down, so that what failed together does not come back together. */
export const JITTER_SHARE = 0.2;

/** Beyond this many doublings every cap has long been reached. */
const MAX_DOUBLINGS = 16;

/** The first wait, then twice as long each time, up to the cap. `times`: the wait that it is, from 1. */
export const doubledMs = (firstMs: number, capMs: number, times: number): number =>
  Math.min(capMs, firstMs * 2 ** Math.min(Math.max(0, times - 1), MAX_DOUBLINGS));

/** `random` is in [0, 1). */
export const spreadMs = (ms: number, random: number): number =>
  Math.round(ms * (1 - JITTER_SHARE + 2 * JITTER_SHARE * random));
