import type { JSX } from 'react';
import { encode } from 'uqr';

/** Squares of light around it, so that cameras find it in the dark theme too. */
const BORDER = 3;

interface QrCodeProps {
  readonly text: string;
  readonly label: string;
}

/** One path of squares: the policy of the page refuses styles in markup. */
export function QrCode({ text, label }: QrCodeProps): JSX.Element {
  const { data, size } = encode(text, { ecc: 'L', border: BORDER });
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={squares.join('')} />
    </svg>
  );
}
