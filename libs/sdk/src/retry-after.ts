const MAX_RETRY_AFTER_SECONDS = 86_400;

/** Parses `Retry-After` (RFC 9110, 10.2.3) to whole seconds: a number, or a date. Undefined for any other text. */
export function parseRetryAfter(text: string | null, nowMs: number): number | undefined {
  if (text === null) return undefined;
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return Math.min(Number(trimmed), MAX_RETRY_AFTER_SECONDS);
  if (!HTTP_DATE.test(trimmed)) return undefined;
  const atMs = Date.parse(trimmed);
  if (Number.isNaN(atMs)) return undefined;
  return Math.min(Math.max(Math.ceil((atMs - nowMs) / 1_000), 0), MAX_RETRY_AFTER_SECONDS);
}

/** IMF-fixdate, the only form still in use. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
