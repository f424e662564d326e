import { qrData } from './qr-codewords.js';

/** Row by row; true is dark. */
export type QrModules = readonly (readonly boolean[])[];

/** A QR code of the smallest size that holds the text, at error correction level M. @throws RangeError as `qrData` */
export function qrCode(text: string): QrModules {
  const { version, octets } = qrData(text);
  const bare = new Grid(version * 4 + 17);
  drawPatterns(bare, version);
  drawData(bare, octets);
  const candidates = MASKS.map((mask, number) => masked(bare, mask, number));
  const [best] = candidates
    .map((grid) => ({ grid, penalty: penaltyOf(grid.rows) }))
    .sort((left, right) => left.penalty - right.penalty);
  return best?.grid.rows ?? [];
}

/** Where a module is dark, and which modules no mask may touch. */
class Grid {
  readonly #fixed: boolean[][];

  constructor(
    readonly size: number,
    readonly rows = square(size),
    fixed = square(size),
  ) {
    this.#fixed = fixed;
  }

  /** A module of a pattern. */
  fix(x: number, y: number, dark: boolean): void {
    this.set(x, y, dark);
    mark(this.#fixed, x, y, true);
  }

  set(x: number, y: number, dark: boolean): void {
    mark(this.rows, x, y, dark);
  }

  isFree(x: number, y: number): boolean {
    return this.#fixed[y]?.[x] === false;
  }

  /** With other modules, and the same ones fixed. */
  with(rows: boolean[][]): Grid {
    return new Grid(this.size, rows, this.#fixed);
  }
}

const square = (size: number): boolean[][] =>
  Array.from({ length: size }, () => Array.from({ length: size }, () => false));

/** Outside the square nothing happens. */
function mark(rows: boolean[][], x: number, y: number, value: boolean): void {
  const row = rows[y];
  if (row !== undefined && x >= 0 && x < row.length) row[x] = value;
}

/** Everything that is not data (6.3); format information is reserved here and drawn with the mask. */
function drawPatterns(grid: Grid, version: number): void {
  for (let at = 0; at < grid.size; at += 1) {
    grid.fix(6, at, at % 2 === 0);
    grid.fix(at, 6, at % 2 === 0);
  }
  const far = grid.size - 4;
  for (const [x, y] of [
    [3, 3],
    [far, 3],
    [3, far],
  ] as const)
    drawRings(grid, x, y, 4, [3, 1, 0]);
  const lines = alignmentLines(version, grid.size);
  const last = lines.length - 1;
  for (const [column, x] of lines.entries()) {
    for (const [row, y] of lines.entries()) {
      const atFinder = (column === 0 && row === 0) || (column === 0 && row === last) || (column === last && row === 0);
      if (!atFinder) drawRings(grid, x, y, 2, [2, 0]);
    }
  }
  drawFormat(grid, 0);
  if (version >= 7) drawVersion(grid, version);
}

/** Squares around a point, dark where the ring is one of these or lies between the two innermost of a finder. */
function drawRings(grid: Grid, centreX: number, centreY: number, radius: number, dark: readonly number[]): void {
  for (let y = -radius; y <= radius; y += 1) {
    for (let x = -radius; x <= radius; x += 1) {
      grid.fix(centreX + x, centreY + y, dark.includes(Math.max(Math.abs(x), Math.abs(y))));
    }
  }
}

/** Coordinates of the centres of alignment patterns, for rows and columns alike (annex E). */
function alignmentLines(version: number, size: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - (count - 2 - at) * step)];
}

const FORMAT_MASK = 0x5412;

/** Level M, whose bits are 00, and the mask, twice (7.9). */
function drawFormat(grid: Grid, mask: number): void {
  const bits = ((mask << 10) | remainderOf(mask, 10, 0x537)) ^ FORMAT_MASK;
  const { size } = grid;
  for (let at = 0; at < 15; at += 1) {
    const dark = ((bits >>> at) & 1) === 1;
    // Around the first finder; the timing patterns are stepped over.
    if (at < 8) grid.fix(8, at < 6 ? at : at + 1, dark);
    else grid.fix(at === 8 ? 7 : 14 - at, 8, dark);
    if (at < 8) grid.fix(size - 1 - at, 8, dark);
    else grid.fix(8, size - 15 + at, dark);
  }
  grid.fix(8, size - 8, true);
}

/** The version, twice (7.10). */
function drawVersion(grid: Grid, version: number): void {
  const bits = (version << 12) | remainderOf(version, 12, 0x1f25);
  for (let at = 0; at < 18; at += 1) {
    const dark = ((bits >>> at) & 1) === 1;
    const far = grid.size - 11 + (at % 3);
    const near = Math.floor(at / 3);
    grid.fix(far, near, dark);
    grid.fix(near, far, dark);
  }
}

/** The check bits of format and version: the remainder of a division modulo 2. */
function remainderOf(value: number, length: number, divisor: number): number {
  let remainder = value;
  for (let at = 0; at < length; at += 1) remainder = (remainder << 1) ^ ((remainder >>> (length - 1)) * divisor);
  return remainder;
}

/** From the lower right corner in columns of two, upwards and downwards by turns (7.7.3). */
function drawData(grid: Grid, octets: readonly number[]): void {
  let at = 0;
  for (const { x, y } of path(grid)) {
    grid.set(x, y, (((octets[at >>> 3] ?? 0) >>> (7 - (at & 7))) & 1) === 1);
    at += 1;
  }
}

function* path(grid: Grid): Generator<{ x: number; y: number }> {
  let upwards = true;
  for (let right = grid.size - 1; right >= 1; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < grid.size; step += 1) {
      const y = upwards ? grid.size - 1 - step : step;
      for (const x of [right, right - 1]) if (grid.isFree(x, y)) yield { x, y };
    }
    upwards = !upwards;
  }
}

/** Which free modules each mask turns over (table 10). */
const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function masked(bare: Grid, mask: (x: number, y: number) => boolean, number: number): Grid {
  const rows = bare.rows.map((row, y) => row.map((dark, x) => (bare.isFree(x, y) && mask(x, y) ? !dark : dark)));
  const grid = bare.with(rows);
  drawFormat(grid, number);
  return grid;
}

/** How hard a code would be to read (7.8.3): long runs, blocks, what looks like a finder, too dark or too light. */
function penaltyOf(rows: QrModules): number {
  const texts = rows.map((row) => row.map((dark) => (dark ? '1' : '0')).join(''));
  const columns = texts.map((_, x) => texts.map((text) => text[x]).join(''));
  const lines = [...texts, ...columns].map(linePenalty);
  const modules = texts.join('');
  const darkPercent = (modules.replaceAll('0', '').length * 100) / modules.length;
  return (
    lines.reduce((sum, penalty) => sum + penalty, blockPenalty(rows)) + 10 * Math.floor(Math.abs(darkPercent - 50) / 5)
  );
}

function linePenalty(line: string): number {
  const runs = line.match(/0{5,}|1{5,}/g) ?? [];
  const finders = line.match(/(?=10111010000|00001011101)/g) ?? [];
  return runs.reduce((sum, { length }) => sum + length - 2, finders.length * 40);
}

function blockPenalty(rows: QrModules): number {
  let penalty = 0;
  for (const [y, row] of rows.entries()) {
    const below = rows[y + 1];
    if (below === undefined) break;
    for (let x = 1; x < row.length; x += 1) {
      if (row[x - 1] === row[x] && below[x - 1] === row[x] && below[x] === row[x]) penalty += 3;
    }
  }
  return penalty;
}
