import { encode } from 'uqr';

/** Appearance of the image. */
export interface QrOptions {
  /** Text for screen readers; without it the image is decorative. */
  readonly title?: string;
}

/** White margin in modules, required by readers (ISO/IEC 18004, 5.3.8). */
const QUIET_ZONE = 4;

/**
 * A QR code as an SVG element: black on white in any colour scheme, as readers require, and scaled by the page. It
 * has no script, style or identifier, so it is allowed under the strictest content security policy.
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
