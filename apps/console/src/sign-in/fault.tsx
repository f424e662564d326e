import type { JSX } from 'react';

interface FaultProps {
  readonly id: string;
  /** Null for none. */
  readonly text: string | null;
}

/** The place of an error, which screen readers read when it comes. */
export const Fault = ({ id, text }: FaultProps): JSX.Element => (
  <div id={id} role="alert">
    {text !== null && (
      <p className="notice" data-tone="bad">
        {text}
      </p>
    )}
  </div>
);
