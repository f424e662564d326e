import { readFileSync } from 'node:fs';
import { renderMarkdown } from './rendering/markdown.js';
import { page } from './rendering/page.js';

/** The handwritten pages, by their path below `/docs`; their files are in `pages/`. */
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
  'account',
  'versions',
  'specification',
  'what-is-proven',
  'glossary',
  'admin-keys',
  'members',
  'operations',
  'sizing',
  'cells',
  'a-carrier-calls',
  'carrier-requirements',
  'carrier-requirements/india-dlt',
  'carrier-requirements/relative-validity',
  'carrier-requirements/short-code',
  'carrier-requirements/long-texts',
  'carrier-requirements/national-numbers',
  'carrier-requirements/no-receipts',
  'carrier-requirements/codes-over-aggregators',
  'carrier-requirements/outbind-of-carriers',
  'carrier-requirements/outbind-to-aggregators',
  'carrier-requirements/client-certificate',
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
