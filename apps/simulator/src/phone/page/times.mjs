const DAY_MS = 86_400_000;

const midnightOf = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());

/** Days between two dates of the calendar, whatever their hours and the clock's changes. */
const daysBetween = (earlier, later) =>
  Math.round((midnightOf(later).getTime() - midnightOf(earlier).getTime()) / DAY_MS);

/** The hour and minute, as this reader writes them. */
export const clockOf = (at, locale) => new Date(at).toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });

/** The day of a message above the thread. */
export function dayOf(at, now, locale) {
  const [date, today] = [new Date(at), new Date(now)];
  const days = daysBetween(date, today);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return date.toLocaleDateString(locale, { weekday: 'long', day: 'numeric', month: 'long' });
}

/** When a conversation last moved, short enough for a list. */
export function ageOf(at, now, locale) {
  const [date, today] = [new Date(at), new Date(now)];
  const days = daysBetween(date, today);
  if (today.getTime() - date.getTime() < 60_000) return 'Now';
  if (days === 0) return clockOf(at, locale);
  if (days < 7) return date.toLocaleDateString(locale, { weekday: 'short' });
  return date.toLocaleDateString(locale, { day: 'numeric', month: 'short' });
}
