import { block, code, escape, table } from './page.js';

/** A rendered text and its title, which is removed: HTML without a first-level heading. */
export interface RenderedText {
  readonly title: string;
  readonly html: string;
}

/**
 * Renders the part of Markdown that our pages use: headings, paragraphs, lists of one level, tables, fenced code
 * blocks, and inline `code`, **bold** and [links](/docs). Other syntax is unchanged. All text is escaped, so a page can
 * show markup but never contains any.
 */
export function renderMarkdown(markdown: string): RenderedText {
  const [first = '', ...rest] = markdown.replaceAll('\r\n', '\n').split('\n');
  return { title: first.replace(/^#\s+/, ''), html: blocksOf(rest).map(renderBlock).join('\n') };
}

type Block =
  | { readonly kind: 'listing'; readonly lines: readonly string[] }
  | { readonly kind: 'text'; readonly lines: readonly string[] };

/** Splits at empty lines, except inside a fence. */
function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let open: string[] = [];
  let fenced = false;
  const close = (kind: Block['kind']): void => {
    if (open.length > 0) blocks.push({ kind, lines: open });
    open = [];
  };
  for (const line of lines) {
    if (line.startsWith('```')) {
      close(fenced ? 'listing' : 'text');
      fenced = !fenced;
    } else if (!fenced && line.trim() === '') close('text');
    else open.push(line);
  }
  close(fenced ? 'listing' : 'text');
  return blocks;
}

const HEADING = /^(#{2,4})\s+(.*)$/;
const BULLET = /^[-*]\s+/;
const NUMBER = /^\d+\.\s+/;

function renderBlock({ kind, lines }: Block): string {
  if (kind === 'listing') return block(lines.join('\n'));
  const [first = ''] = lines;
  const [, marks, title] = HEADING.exec(first) ?? [];
  if (marks !== undefined && title !== undefined) return heading(marks.length, title) + restOf(lines);
  if (first.startsWith('|')) return renderTable(lines);
  if (BULLET.test(first)) return `<ul>${items(lines, BULLET)}</ul>`;
  if (NUMBER.test(first)) return `<ol>${items(lines, NUMBER)}</ol>`;
  return `<p>${inline(lines.join('\n'))}</p>`;
}

const restOf = (lines: readonly string[]): string =>
  lines.length > 1 ? `\n${renderBlock({ kind: 'text', lines: lines.slice(1) })}` : '';

function heading(rank: number, title: string): string {
  return `<h${rank} id="${anchorOf(title)}">${inline(title)}</h${rank}>`;
}

/** The anchor of a heading. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** A line without a list mark continues the previous item. */
function items(lines: readonly string[], mark: RegExp): string {
  const texts: string[] = [];
  for (const line of lines) {
    if (mark.test(line)) texts.push(line.replace(mark, ''));
    else texts.push(`${texts.pop() ?? ''}\n${line.trim()}`);
  }
  return texts.map((text) => `<li>${inline(text)}</li>`).join('\n');
}

function renderTable([head = '', _rule, ...rows]: readonly string[]): string {
  return table(
    cellsOf(head),
    rows.map((row) => cellsOf(row)),
  );
}

/** A `|` inside a cell is written `\|`. */
function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll('\\|', '|')));
}

/** Renders a line of Markdown. Code is split off first, because its text is not formatted. */
export function inline(text: string): string {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (/^`[^`]+`$/.test(part) ? code(part.slice(1, -1)) : words(part)))
    .join('');
}

const words = (text: string): string =>
  escape(text)
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/(?<!\*)\*([^*\s][^*]*)\*(?!\*)/g, '<em>$1</em>')
    .replaceAll(/\[([^\]]+)\]\(((?:https:|\/)[^)\s]*)\)/g, '<a href="$2">$1</a>');
