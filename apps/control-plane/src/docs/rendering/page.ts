import { createHash } from 'node:crypto';
import { STYLE } from './page.style.js';

/**
 * Content security policy of pages: their own style sheet, by its hash, and nothing else. No script, no form, no frame.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The paths of the pages, in the order of the navigation. */
const NAVIGATION: readonly {
  readonly title: string;
  readonly pages: readonly (readonly [path: string, title: string])[];
}[] = [
  {
    title: 'Begin',
    pages: [
      ['/docs', 'First call'],
      ['/docs/browser-binding', 'Browser binding'],
      ['/docs/test-keys', 'Test keys'],
    ],
  },
  {
    title: 'Build',
    pages: [
      ['/docs/cards', 'Cards over RCS'],
      ['/docs/sdk', 'SDK'],
      ['/docs/webhooks', 'Webhooks'],
      ['/docs/webhook-receivers', 'Webhook receivers'],
      ['/docs/realtime', 'Realtime'],
      ['/docs/codes', 'Codes by SMS'],
      ['/docs/idempotency', 'Idempotency'],
      ['/docs/limits', 'Rate limits'],
      ['/docs/account', 'Your account'],
    ],
  },
  {
    title: 'Look up',
    pages: [
      ['/docs/api', 'API reference'],
      ['/docs/messages', 'Messages and events'],
      ['/docs/errors', 'Errors'],
      ['/docs/versions', 'Versions'],
      ['/docs/specification', 'Specification'],
    ],
  },
  { title: 'Decide', pages: [['/docs/what-is-proven', 'What is proven']] },
  {
    title: 'Operate',
    pages: [
      ['/docs/admin-keys', 'Admin keys and roles'],
      ['/docs/members', 'Members and sign-in'],
      ['/docs/keys', 'Server keys'],
      ['/docs/operations', 'Operations'],
      ['/docs/sizing', 'Sizing'],
      ['/docs/cells', 'Cells: simulation results'],
      ['/docs/a-carrier-calls', 'A carrier calls'],
      ['/docs/carrier-requirements', 'Carrier requirements'],
      ['/docs/guard', 'Guard: simulation results'],
    ],
  },
];

/** Escapes text for HTML. */
export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const code = (text: string): string => `<code>${escape(text)}</code>`;

/** A code block. It scrolls sideways, by the keyboard too. */
export const block = (text: string): string => `<pre tabindex="0"><code>${escape(text)}</code></pre>`;

/** A table of HTML cells. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const titles = head.map((cell) => `<th scope="col">${cell}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  return `<div class="wide"><table><thead><tr>${titles}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

export interface Page {
  readonly title: string;
  /** Its path in the navigation; a page below an entry counts as that entry. */
  readonly path: string;
  /** HTML below the title. */
  readonly main: string;
}

/** A complete page: no scripts and no external resources, as `PAGE_POLICY` demands. */
export function page({ title, path, main }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Countersign</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<div class="frame">
<header class="top"><a href="/docs">Countersign</a></header>
<nav aria-label="Documentation">
${NAVIGATION.map((group) => navigationGroup(group, path)).join('\n')}
</nav>
<main id="main">
<h1>${escape(title)}</h1>
${main}
</main>
<footer class="bottom">Countersign, self-hosted phone verification. Apache-2.0. <a href="/v1/openapi.json">OpenAPI</a>, <a href="/v1/asyncapi.json">AsyncAPI</a></footer>
</div>
</body>
</html>
`;
}

function navigationGroup({ title, pages }: (typeof NAVIGATION)[number], current: string): string {
  const entries = pages.map(([path, text]) => {
    const isCurrent = path === current || (path !== '/docs' && current.startsWith(`${path}/`));
    return `<li><a href="${path}"${isCurrent ? ' aria-current="page"' : ''}>${escape(text)}</a></li>`;
  });
  return `<h2>${escape(title)}</h2><ul>${entries.join('')}</ul>`;
}
