import type { OpenAPIObject } from '@nestjs/swagger';
import { anchorOf, inline } from '../rendering/markdown.js';
import { operationsOf, type Operation } from '../openapi/operations.js';
import { Schemas } from '../openapi/schema.js';
import { escape, page, table } from '../rendering/page.js';
import { callSection } from './call-section.js';

interface Chapter {
  /** The last part of its path. */
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly calls: readonly Operation[];
}

/** The API reference as pages: an overview under `''`, and a page for every tag of the document by its slug. */
export function referencePages(document: OpenAPIObject): ReadonlyMap<string, string> {
  const chapters = chaptersOf(document);
  const schemas = new Schemas(document);
  const baseUrl = document.servers?.[0]?.url ?? '';
  const pages = chapters.map((chapter): [string, string] => [chapter.slug, chapterPage(chapter, schemas, baseUrl)]);
  return new Map([['', overview(document, chapters)], ...pages]);
}

function chaptersOf(document: OpenAPIObject): Chapter[] {
  const operations = operationsOf(document);
  return (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const calls = operations.filter(({ operation }) => operation.tags?.includes(name) === true);
    return calls.length === 0 ? [] : [{ slug: anchorOf(name), name, description, calls }];
  });
}

function overview(document: OpenAPIObject, chapters: readonly Chapter[]): string {
  const paragraphs = (document.info.description ?? '').split('\n\n').map((text) => `<p>${inline(text)}</p>`);
  const lists = chapters.map(
    (chapter) => `<h2><a href="/docs/api/${chapter.slug}">${escape(chapter.name)}</a></h2>
<p>${inline(chapter.description)}</p>
${callTable(chapter)}`,
  );
  const main = [...paragraphs, '<p>For machines: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>', ...lists].join('\n');
  return page({ title: 'API reference', path: '/docs/api', main });
}

function chapterPage(chapter: Chapter, schemas: Schemas, baseUrl: string): string {
  const sections = chapter.calls.map((call) => callSection(call, schemas, baseUrl));
  return page({
    title: chapter.name,
    path: `/docs/api/${chapter.slug}`,
    main: [`<p>${inline(chapter.description)}</p>`, callTable(chapter), ...sections].join('\n'),
  });
}

function callTable({ slug, calls }: Chapter): string {
  const rows = calls.map(({ method, path, operation }) => {
    const link = `/docs/api/${slug}#${operation.operationId ?? ''}`;
    return [
      `<a class="path" href="${escape(link)}"><span class="verb ${method}">${method}</span> ${escape(path)}</a>`,
      escape(operation.summary ?? ''),
    ];
  });
  return table(['Call', 'Does'], rows);
}
