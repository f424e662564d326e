import { readFileSync } from 'node:fs';
import { renderMarkdown } from './rendering/markdown.js';
import { page } from './rendering/page.js';

/** The handwritten pages, by the last part of their path; their files are in `pages/`. */
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
  'carrier-requirements',
  'keys',
] as const;

/** Every handwritten page as HTML, read once. The first page is `''`. */
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
