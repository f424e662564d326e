import { encode } from 'uqr';

/** How the picture is to look. */
export interface QrOptions {
  /** What a screen reader says instead of the picture; without it the picture is decoration. */
  readonly title?: string;
}

/** White around the code, in modules: readers want it (ISO/IEC 18004, 5.3.8). */
const QUIET_ZONE = 4;

/**
 * A QR code as an SVG element: black on white whatever the page's colours are, as readers want it, and as large as the
 * page makes it. It has no script, no style and no identifier, so it can stand in a page of the strictest policy.
 *
 * @throws RangeError when the text is longer than a QR code can hold
 */
export function qrSvg(text: string, { title }: QrOptions = {}): string {
  const rows = encode(text, { ecc: 'M', border: 0 }).data;
  const side = rows.length + 2 * QUIET_ZONE;
  const modules = rows.flatMap((row, y) =>
    row.flatMap((dark, x) => (dark ? [`M${x + QUIET_ZONE},${y + QUIET_ZONE}h1v1h-1z`] : [])),
  );
  const label = title === undefined ? 'aria-hidden="true"' : `role="img" aria-label="${escapeAttribute(title)}"`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges" ${label}>` +
    `<path fill="#fff" d="M0,0h${side}v${side}h-${side}z"/><path d="${modules.join('')}"/></svg>`
  );
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
