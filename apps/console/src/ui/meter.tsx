import type { JSX, ReactNode } from 'react';

/** From this share on the limit is near … */
const NEAR = 0.8;

interface MeterProps {
  readonly label: string;
  readonly used: number;
  /** Null for no limit. */
  readonly limit: number | null;
  readonly children: ReactNode;
}

/** How much of a limit is used: in words, and as a bar where there is a limit. */
export function Meter({ label, used, limit, children }: MeterProps): JSX.Element {
  const share = limit === null ? 0 : limit === 0 ? 1 : Math.min(1, used / limit);
  const tone = share >= 1 ? 'bad' : share >= NEAR ? 'warn' : 'good';
  return (
    <div className="meter">
      <span>{children}</span>
      {limit !== null && (
        <div
          className="meter-bar"
          data-tone={tone}
          role="meter"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(used, limit)}
        >
          <span style={{ inlineSize: `${String(share * 100)}%` }} />
        </div>
      )}
    </div>
  );
}
