import type { JSX } from 'react';
import { CopyText } from './texts.js';

interface ShownOnceProps {
  readonly secret: string;
  /** Such as `key`. */
  readonly name: string;
}

/** A secret that the server will not show again. It is in the memory of this page alone. */
export const ShownOnce = ({ secret, name }: ShownOnceProps): JSX.Element => (
  <div className="secret">
    <p>Copy the {name} now: it is shown once, and kept nowhere in this browser.</p>
    <CopyText text={secret} name={`the ${name}`} />
  </div>
);
