const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * HOUR_SECONDS;
/** Older times are shown as a date. */
const RELATIVE_SECONDS = 7 * DAY_SECONDS;

const UNITS = [
  ['day', DAY_SECONDS],
  ['hour', HOUR_SECONDS],
  ['minute', MINUTE_SECONDS],
  ['second', 1],
] as const;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' });
const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** In the reader's time zone, such as `Nov 23, 2026, 16:02:11`. */
export const localTime = (iso: string): string => absolute.format(new Date(iso));

/** In UTC with milliseconds, such as `2026-11-23 15:02:11.048 UTC`. */
export const utcTime = (iso: string): string => new Date(iso).toISOString().replace('T', ' ').replace('Z', ' UTC');

/** Such as `5 min. ago`; a date when it is more than a week away. */
export function relativeTime(iso: string, nowMs: number): string {
  const seconds = Math.round((new Date(iso).getTime() - nowMs) / 1_000);
  if (Math.abs(seconds) < 2) return 'now';
  if (Math.abs(seconds) >= RELATIVE_SECONDS) return localTime(iso);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A difference of two times, such as `840 ms`, `4.3 s` or `2 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${String(Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < MINUTE_SECONDS) return `${String(Math.round(seconds))} s`;
  const whole = Math.round(seconds);
  if (whole < HOUR_SECONDS) return `${String(Math.floor(whole / 60))} min ${String(whole % 60)} s`;
  return `${String(Math.floor(whole / HOUR_SECONDS))} h ${String(Math.floor((whole % HOUR_SECONDS) / 60))} min`;
}
