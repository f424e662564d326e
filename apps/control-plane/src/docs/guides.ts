import { readFileSync } from 'node:fs';
import { renderMarkdown } from './rendering/markdown.js';
import { page } from './rendering/page.js';

/** The pages that are written by hand, by the last part of their address; the files lie beside this one. */
const GUIDES = [
  'browser-binding',
  'test-keys',
  'cards',
  'sdk',
  'webhooks',
  'webhook-receivers',
  'realtime',
  'codes',
  'guard',
  'idempotency',
  'limits',
  'versions',
  'specification',
  'what-is-proven',
  'glossary',
  'admin-keys',
  'a-carrier-calls',
  'keys',
] as const;

/** Every written page as HTML, read once. The first page is `''`. */
export function readGuides(publicBaseUrl: string): ReadonlyMap<string, string> {
  const read = (file: string, path: string): string => {
    const text = readFileSync(new URL(`./pages/${file}.md`, import.meta.url), 'utf8');
    const { title, html } = renderMarkdown(
      text
        .replaceAll('{{baseUrl}}', publicBaseUrl)
        .replaceAll('{{realtimeUrl}}', `${publicBaseUrl.replace(/^http/, 'ws')}/v1/realtime`),
    );
    return page({ title, path, main: html });
  };
  return new Map([
    ['', read('start', '/docs')],
    ...GUIDES.map((name): [string, string] => [name, read(name, `/docs/${name}`)]),
  ]);
}
