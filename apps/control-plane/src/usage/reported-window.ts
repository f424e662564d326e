import { ValidateBy } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import { parseInstant } from '../http/instant.js';
import { DAY_MS, MAX_SPAN_DAYS, type Span } from './usage-window.js';

/** A query parameter that is a date and time with an offset. */
export const IsInstant = (field: string): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isInstant',
      validator: { validate: (value) => typeof value === 'string' && parseInstant(value) !== null },
    },
    failsWith(`${field} must be a date and time with an offset, such as 2026-11-01T00:00:00Z.`),
  );

export interface WindowQuery {
  readonly from?: string;
  readonly to?: string;
}

/** The window of a query, until now by default, 366 days at most. With both defaults it may be empty. */
export function windowOf({ from, to }: WindowQuery, nowMs: number, startMs: (toMs: number) => number): Outcome<Span> {
  const toMs = parseInstant(to ?? '')?.getTime() ?? nowMs;
  const fromMs = parseInstant(from ?? '')?.getTime() ?? startMs(toMs);
  const field = from === undefined ? 'to' : 'from';
  if (fromMs >= toMs && (from !== undefined || to !== undefined)) {
    return refuse('VALIDATION_ERROR', { message: 'from must be before to.', field });
  }
  if (toMs - fromMs > MAX_SPAN_DAYS * DAY_MS) {
    return refuse('VALIDATION_ERROR', { message: `from and to may be ${MAX_SPAN_DAYS} days apart at most.`, field });
  }
  return succeed({ fromMs, toMs });
}
