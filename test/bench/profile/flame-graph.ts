import { type CallFrame, type CallNode, totalMicros } from './cpu-profile.js';
import { moduleOf } from './phases.js';

const WIDTH = 1_600;
const ROW = 17;
const TITLE = 24;
/** Narrower functions are left out, with what they call. */
const LEAST_WIDTH = 0.6;
const LETTER_WIDTH = 6.4;

interface Box {
  readonly frame: CallFrame;
  readonly module: string;
  readonly depth: number;
  readonly x: number;
  readonly width: number;
  readonly micros: number;
}

/** A box for each call that is wide enough; the callers above what they call, the widest first. */
function boxesOf(root: CallNode): Box[] {
  const scale = WIDTH / totalMicros(root);
  const boxes: Box[] = [];
  const place = ({ frame, children }: CallNode, micros: number, at: Pick<Box, 'depth' | 'x' | 'module'>): void => {
    const width = micros * scale;
    if (!(width >= LEAST_WIDTH)) return;
    const module = moduleOf(frame) ?? at.module;
    boxes.push({ ...at, frame, module, width, micros });
    let { x } = at;
    const inOrder = [...children.values()].map((child) => ({ child, total: totalMicros(child) }));
    for (const { child, total } of inOrder.toSorted((one, other) => other.total - one.total)) {
      place(child, total, { depth: at.depth + 1, x, module });
      x += total * scale;
    }
  };
  place(root, totalMicros(root), { depth: 0, x: 0, module: 'outside JavaScript' });
  return boxes;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The same colour for the same module, in every graph. */
function colourOf(module: string): string {
  let hash = 0;
  for (const letter of module) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  return `hsl(${hash} 65% 72%)`;
}

function elementOf(box: Box, all: number, operations: number): string {
  const { frame, module, depth, x, width, micros } = box;
  const name = frame.functionName === '' ? '(anonymous)' : frame.functionName;
  const place = frame.url === '' ? '' : `\n${frame.url}:${frame.lineNumber + 1}`;
  const share = `${((micros / all) * 100).toFixed(2)} %, ${(micros / operations).toFixed(2)} µs per operation`;
  const letters = Math.floor((width - 4) / LETTER_WIDTH);
  const text = letters < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" y="${TITLE + depth * ROW + 12}">`;
  const label = text === '' ? '' : `${text}${escaped(name.slice(0, letters))}</text>`;
  const position = `x="${x.toFixed(1)}" y="${TITLE + depth * ROW}" width="${width.toFixed(1)}" height="${ROW - 1}"`;
  const title = `<title>${escaped(`${name} (${module})\n${share}${place}`)}</title>`;
  return `<g>${title}<rect ${position} fill="${colourOf(module)}"/>${label}</g>`;
}

/**
 * An SVG in which the width of a function is its share of the CPU time, with everything that it called; below it are the
 * functions that it called. Pointing at one shows its module, its time and its source. Each module has a colour.
 */
export function renderFlameGraph(title: string, calls: CallNode, operations: number): string {
  const boxes = boxesOf(calls);
  const all = totalMicros(calls);
  const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  const height = TITLE + (depth + 1) * ROW;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="4" y="16" font-size="13">${escaped(title)}</text>`,
    ...boxes.map((box) => elementOf(box, all, operations)),
    '</svg>\n',
  ].join('\n');
}
