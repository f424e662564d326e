import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorOf, inline, renderMarkdown } from './markdown.js';

const html = (text: string): string => renderMarkdown(`# Title\n\n${text}`).html;

describe('a page in Markdown', () => {
  it('has its first line as its title', () => {
    expect(renderMarkdown('# A page\n\nText.')).toEqual({ title: 'A page', html: '<p>Text.</p>' });
  });

  it('has headings with anchors', () => {
    expect(html('## 4.1 POST /v1/verify - it')).toBe('<h2 id="4-1-post-v1-verify-it">4.1 POST /v1/verify - it</h2>');
    expect(html('### Two\nand text')).toBe('<h3 id="two">Two</h3>\n<p>and text</p>');
    expect(anchorOf('What is “it”?')).toBe('what-is-it');
  });

  it('has lists, whose items may continue on the next line', () => {
    expect(html('- one\n  and more\n- two')).toBe('<ul><li>one\nand more</li>\n<li>two</li></ul>');
    expect(html('1. one\n2. two')).toBe('<ol><li>one</li>\n<li>two</li></ol>');
  });

  it('has tables, whose cells may contain escaped bars', () => {
    const table = html('| A | B |\n|---|---|\n| `x\\|y` | 2 |');
    expect(table).toContain('<th scope="col">A</th><th scope="col">B</th>');
    expect(table).toContain('<tr><td><code>x|y</code></td><td>2</td></tr>');
  });

  it('contains a picture that lies beside the pages, with its caption, and no other', () => {
    const picture = html('![Load & limit](cells.svg)');
    expect(picture).toMatch(/^<figure><svg [^]*<\/svg>\n<figcaption>Load &amp; limit<\/figcaption><\/figure>$/);
    for (const other of ['https://example.com/a.svg', '../a.svg', '/a.svg', 'a.png']) {
      expect(html(`![Text](${other})`)).toBe(`<p>![Text](${other})</p>`);
    }
  });

  it('has pictures without styles, which the policy of the pages would refuse', () => {
    const folder = new URL('../pages/', import.meta.url);
    const pictures = readdirSync(folder).filter((name) => name.endsWith('.svg'));
    expect(pictures.length).toBeGreaterThan(0);
    for (const name of pictures) {
      expect(readFileSync(new URL(name, folder), 'utf8')).not.toMatch(/style|<script|href|<image/i);
    }
  });

  it('has code blocks, with their empty lines and without further formatting', () => {
    expect(html('```js\na\n\n**b** <c>\n```')).toBe('<pre tabindex="0"><code>a\n\n**b** &lt;c&gt;</code></pre>');
  });

  it('has code, bold, italics and links in a line', () => {
    expect(inline('`**a**` **b** *c* [d](/docs) [e](https://e.example/)')).toBe(
      '<code>**a**</code> <strong>b</strong> <em>c</em> <a href="/docs">d</a> <a href="https://e.example/">e</a>',
    );
  });

  it('links to addresses, and never to scripts', () => {
    expect(inline('[x](javascript:alert(1))')).not.toContain('<a');
  });

  it('shows HTML and images as they are written', () => {
    expect(html('<script>x()</script>')).toBe('&lt;script&gt;x()&lt;/script&gt;');
    expect(html('a <b>c</b> ![d](https://e.example/f.png)')).toBe(
      '<p>a &lt;b&gt;c&lt;/b&gt; ![d](https://e.example/f.png)</p>',
    );
    expect(html('- [x] done')).not.toContain('<input');
  });

  it('contains no markup except its own, whatever the text', () => {
    const OWN =
      /<\/?(p|ul|ol|li|h[1-6]|pre|code|strong|em|a|div|table|thead|tbody|tr|th|td|blockquote|hr|br)( [a-z]+="[^"<>]*")*>/g;
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('<>"&`*|[](/)-#1. \na=')) }), (text) => {
        expect(html(text).replaceAll(OWN, '')).not.toMatch(/[<>]/);
      }),
    );
  });
});
