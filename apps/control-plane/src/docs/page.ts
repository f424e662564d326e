const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--soft:#5a6675;--line:#dfe4ea;--paper:#fff;--tint:#f4f6f9;--mark:#0b6e4f}
@media(prefers-color-scheme:dark){:root{--ink:#e7ecf2;--soft:#9aa7b6;--line:#2c3642;--paper:#12181f;--tint:#1a222b;--mark:#4fc79d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",sans-serif}
header{border-bottom:1px solid var(--line)}
header a,main,footer{display:block;max-width:46rem;margin:0 auto;padding:0 1.25rem}
header a{padding-top:1rem;padding-bottom:1rem;font-weight:650;color:var(--ink);text-decoration:none}
header a::before{content:"✓";color:var(--mark);margin-right:.5rem}
main{padding-top:2rem;padding-bottom:3rem}
h1{font-size:1.75rem;line-height:1.25;margin:0 0 .75rem}
h2{font-size:1.15rem;margin:2.25rem 0 .5rem}
p{margin:.5rem 0}
a{color:var(--mark)}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--tint);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--line);border-radius:8px;padding:.9rem 1rem;overflow-x:auto}
pre code{background:none;padding:0;overflow-wrap:normal}
table{border-collapse:collapse;width:100%;font-size:.94rem}
th,td{text-align:left;vertical-align:top;padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
.wide{overflow-x:auto}
.status{display:inline-block;border:1px solid var(--line);border-radius:999px;padding:.05rem .6rem;font-size:.85rem;color:var(--soft)}
footer{border-top:1px solid var(--line);padding-top:1rem;padding-bottom:2rem;color:var(--soft);font-size:.9rem}
`;

/** Text as HTML text. */
export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const code = (text: string): string => `<code>${escape(text)}</code>`;

export const block = (text: string): string => `<pre><code>${escape(text)}</code></pre>`;

/** A table of HTML cells. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[], tag: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const body = rows.map((row) => line(row, 'td')).join('');
  return `<div class="wide"><table><thead>${line(head, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

/** A whole page. No scripts, nothing from elsewhere: what the page's policy allows is what it needs. */
export function page(title: string, main: string): string {
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
<header><a href="/docs">Countersign</a></header>
<main>
<h1>${escape(title)}</h1>
${main}
</main>
<footer>Countersign, self-hosted phone verification. Apache-2.0.</footer>
</body>
</html>
`;
}
