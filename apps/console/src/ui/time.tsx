import { type JSX, useEffect, useState } from 'react';
import { localTime, relativeTime, utcTime } from './times.js';

/** The interval at which relative times are written again. */
const TICK_MS = 5_000;

/** The time of the browser's clock, every five seconds. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

interface Shown {
  /** ISO 8601; null shows a dash. */
  readonly at: string | null;
}

/** In the reader's time zone; in UTC on hover. */
export const Time = ({ at }: Shown): JSX.Element =>
  at === null ? (
    <span className="soft">–</span>
  ) : (
    <time dateTime={at} title={utcTime(at)}>
      {localTime(at)}
    </time>
  );

/** Such as "5 min. ago"; in the reader's time zone and in UTC on hover. */
export function Ago({ at }: Shown): JSX.Element {
  const now = useNow();
  if (at === null) return <span className="soft">–</span>;
  return (
    <time dateTime={at} title={`${localTime(at)} · ${utcTime(at)}`}>
      {relativeTime(at, now)}
    </time>
  );
}
