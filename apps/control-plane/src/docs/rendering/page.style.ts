/** The only style sheet of the pages: system fonts, light or dark by the reader's setting. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--soft:#566273;--line:#dfe4ea;--paper:#fff;--tint:#f4f6f9;--mark:#0b6e4f;--warn:#a33b12}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9f0;--soft:#a3afbd;--line:#2b3540;--paper:#11161c;--tint:#19212a;--mark:#5ccda6;--warn:#f0a07c}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.65 system-ui,-apple-system,"Segoe UI",sans-serif}
a{color:var(--mark);text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--mark);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-100vw}
.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.25rem .75rem;z-index:1}
.frame{max-width:70rem;margin:0 auto;padding:0 1.25rem;display:grid;grid-template-columns:13rem minmax(0,1fr);column-gap:3rem}
.top{grid-column:1/-1;border-bottom:1px solid var(--line)}
.top a{display:inline-block;padding:1rem 0;font-weight:650;color:var(--ink);text-decoration:none}
.top a::before{content:"✓";color:var(--mark);margin-right:.5rem}
nav{padding:1.75rem 0;font-size:.94rem}
nav h2{font-size:.75rem;letter-spacing:.05em;text-transform:uppercase;color:var(--soft);margin:1.25rem 0 .25rem;font-weight:600}
nav h2:first-child{margin-top:0}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:block;padding:.2rem 0 .2rem .75rem;border-left:2px solid transparent;color:var(--ink);text-decoration:none}
nav a:hover{color:var(--mark)}
nav a[aria-current]{border-color:var(--mark);color:var(--mark);font-weight:600}
main{padding:1.75rem 0 4rem;min-width:0;max-width:48rem}
h1{font-size:1.85rem;line-height:1.2;letter-spacing:-.01em;margin:0 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .6rem}
h3{font-size:1.05rem;line-height:1.35;margin:1.75rem 0 .4rem}
h2+h3{margin-top:1rem}
h4{font-size:.94rem;margin:1.25rem 0 .3rem}
p,ul,ol{margin:.6rem 0}
ul,ol{padding-left:1.4rem}
li{margin:.3rem 0}
code,pre{font:.875em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--tint);padding:.1em .3em;border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--tint);border:1px solid var(--line);border-radius:8px;padding:.85rem 1rem;overflow-x:auto;margin:.9rem 0}
pre code{background:none;padding:0;overflow-wrap:normal}
.wide{overflow-x:auto;margin:.9rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.5}
th,td{text-align:left;vertical-align:top;padding:.5rem 1rem .5rem 0;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
th{color:var(--soft);font-weight:600}
td:first-child code{overflow-wrap:normal;white-space:nowrap}
figure{margin:1.2rem 0}
figure svg{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"Segoe UI",sans-serif}
figcaption{color:var(--soft);font-size:.88rem;margin-top:.35rem}
.pill{display:inline-block;border:1px solid var(--line);border-radius:999px;padding:.05rem .6rem;font-size:.85rem;color:var(--soft)}
.call{border-top:1px solid var(--line);margin-top:3rem;padding-top:.5rem}
.call h2{margin-top:1rem}
.path{font:600 .95rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
td .path{font-weight:400;text-decoration:none}
td .path:hover{text-decoration:underline}
.verb{font-weight:600;color:var(--mark)}
.verb.DELETE{color:var(--warn)}
.kind{color:var(--soft);font-size:.85rem}
.need{color:var(--warn);font-size:.8rem;white-space:nowrap}
.bottom{grid-column:1/-1;border-top:1px solid var(--line);padding:1rem 0 2rem;color:var(--soft);font-size:.9rem}
@media(max-width:52rem){
.frame{display:block}
nav{padding:.75rem 0;border-bottom:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;column-gap:1.1rem}
nav h2{display:none}
nav ul{display:contents}
nav a{padding:.3rem 0;border:0}
main{padding-top:1.25rem}
h1{font-size:1.55rem}
}
@media print{nav,.skip{display:none}.frame{display:block}}
`;
