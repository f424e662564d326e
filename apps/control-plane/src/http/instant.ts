/** RFC 3339, 5.6: date, time and offset, all required; up to 9 fraction digits. */
const RFC_3339 =
  /^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$/i;

/** 9999-12-31T23:59:59.999Z: a later year does not fit four digits. */
const LATEST_MS = 253_402_300_799_999;

/**
 * Parses an instant to the millisecond (finer digits are cut off). Null for anything else: a local time, a day that its
 * month does not have, a time before 1970 or after the year 9999.
 */
export function parseInstant(text: string): Date | null {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  if (year === undefined || Number(day) > daysOf(Number(year), Number(month))) return null;
  const ms = Date.parse(text.toUpperCase());
  return ms >= 0 && ms <= LATEST_MS ? new Date(ms) : null;
}

/** Day 0 of the next month is the last day of this one. */
const daysOf = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
