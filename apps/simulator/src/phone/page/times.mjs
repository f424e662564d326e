const DAY_MS = 86_400_000;

const midnightOf = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());

/** Days between two calendar dates, whatever their hours and daylight saving time. */
const daysBetween = (earlier, later) =>
  Math.round((midnightOf(later).getTime() - midnightOf(earlier).getTime()) / DAY_MS);

/** Hour and minute in this reader's format. */
export const clockOf = (at, locale) => new Date(at).toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });

/** The day of a message above the thread. */
export function dayOf(at, now, locale) {
  const [date, today] = [new Date(at), new Date(now)];
  const days = daysBetween(date, today);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return date.toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long' });
}

/** The time of a conversation's last message, short enough for a list. */
export function ageOf(at, now, locale) {
  const [date, today] = [new Date(at), new Date(now)];
  const days = daysBetween(date, today);
  if (today.getTime() - date.getTime() < 60_000) return 'Now';
  if (days === 0) return clockOf(at, locale);
  if (days < 7) return date.toLocaleDateString(locale, { weekday: 'short' });
  return date.toLocaleDateString(locale, { day: 'numeric', month: 'short' });
}
