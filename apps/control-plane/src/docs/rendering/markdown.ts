import { readFileSync } from 'node:fs';
import { Marked, type Tokens } from 'marked';
import { block, code, escape, table } from './page.js';

/** A rendered text and its title, which is removed: HTML without a first-level heading. */
export interface RenderedText {
  readonly title: string;
  readonly html: string;
}

/** A picture beside the pages. */
const PICTURE = /^[a-z-]+\.svg$/;

/** The picture is part of the page, so that it has the colour of the text. */
function figure(file: string, caption: string): string {
  const svg = readFileSync(new URL(`../pages/${file}`, import.meta.url), 'utf8');
  return `<figure>${svg}<figcaption>${escape(caption)}</figcaption></figure>`;
}

/** GitHub-flavoured Markdown with our code blocks and tables. HTML in the text is shown, not passed on. */
const marked = new Marked({
  gfm: true,
  renderer: {
    code: ({ text }) => `${block(text)}\n`,
    checkbox: ({ raw }) => escape(raw),
    codespan: ({ text }) => code(text),
    heading({ depth, text, tokens }) {
      return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    html: ({ text }) => escape(text),
    image: ({ href, text, raw }) => (PICTURE.test(href) ? figure(href, text) : escape(raw)),
    link({ href, raw, tokens }) {
      if (!/^(https:|\/)/.test(href)) return escape(raw);
      return `<a href="${escape(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
    list(list) {
      const tag = list.ordered ? 'ol' : 'ul';
      return `<${tag}>${list.items.map((item) => this.listitem(item).trim()).join('\n')}</${tag}>\n`;
    },
    // A picture is a block of its own.
    paragraph({ tokens }) {
      const html = this.parser.parseInline(tokens);
      return html.startsWith('<figure>') ? `${html}\n` : `<p>${html}</p>\n`;
    },
    table({ header, rows }) {
      const cells = (row: readonly Tokens.TableCell[]): string[] =>
        row.map(({ tokens }) => this.parser.parseInline(tokens));
      return `${table(cells(header), rows.map(cells))}\n`;
    },
  },
});

/** Renders Markdown whose first line is the title. All text is escaped: a page can show markup but contains only ours. */
export function renderMarkdown(markdown: string): RenderedText {
  const [first = '', ...rest] = markdown.replaceAll('\r\n', '\n').split('\n');
  return { title: first.replace(/^#\s+/, ''), html: marked.parse(rest.join('\n'), { async: false }).trim() };
}

/** The anchor of a heading. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** Renders a line of Markdown. */
export const inline = (text: string): string => marked.parseInline(text, { async: false });
